// Chooses the branches to fold initially: those folded by the author, or as many as legibility
// needs.

import { hanging, unfolded } from "./layout.js";

const LIMITS = [260, 160, 100, 60, 36, 20, 0]; // topics unfolded at first, if they can be read
const FEWEST = 10; // topics: a map folded further than that is no map

/** Fold what the author folded; return false if there is nothing of that, or too little is left. */
export function foldAsAuthored(nodes) {
  if (!nodes.some((node) => node.more.f)) return false;
  for (const node of nodes) node.folded = node.depth > 0 && !!node.more.f;
  return unfolded(...rootsOf(nodes)).length >= FEWEST;
}

/** Fold branches until `fits` accepts the visible ones. */
export function foldToFit(nodes, fits) {
  for (const limit of LIMITS) {
    foldBeyond(nodes, limit);
    if (fits()) return;
  }
}

/** The topics that hang from no other. */
export function rootsOf(nodes) {
  return nodes.filter((node) => !node.above);
}

/** Unfold a map level by level, small families first, up to so many topics. */
function foldBeyond(nodes, limit) {
  let level = rootsOf(nodes);
  let shown = level.length;
  for (const node of nodes) node.folded = node.depth > 0 && node.children.length > 0;
  while (level.length) {
    const next = [];
    for (const node of [...level].sort((a, b) => a.children.length - b.children.length)) {
      if (node.depth > 0 && shown + node.children.length > limit) continue;
      node.folded = false;
      shown += node.children.length;
      next.push(...hanging(node).filter((child) => child.children.length));
    }
    level = next;
  }
}
