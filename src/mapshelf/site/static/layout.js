// Computes the layout of a sheet, without drawing, with the algorithm of render/layout.py.
//
// The browser computes it because folding a branch moves all others. The server supplies the sizes
// of topics. A test compares the results of both implementations for the same maps.

import { around, moved, Surroundings } from "./floating.js";

/** Topics of a sheet, linked: parents before their children, nothing placed yet. */
export function linked(sheet, data) {
  const { kinds, levels, label, padding, brace } = data;
  const nodes = [];
  const summaries = new Set((sheet.groups ?? []).map((group) => group[7]));
  sheet.topics.forEach(([parent, id, body, height, lines, more = {}], place) => {
    const above = parent < 0 ? null : nodes[parent];
    const depth = above ? above.depth + 1 : Math.min(1, place);
    const kind = kinds[more.k ?? Math.min(depth, levels - 1)];
    const node = {
      place, id, body, lines, above, depth, kind, more,
      plain: height, children: [], stacked: [], groups: [], free: false, folded: false, side: 0, x: 0, y: 0, below: 0,
      main: place ? 0 : -1, summary: summaries.has(place), at: 0,
    };
    if (above && !node.summary) {
      node.at = above.stacked.length;
      node.free = !!(more.n && more.at); // a callout that the author placed
      above.children.push(node);
      if (!node.free) above.stacked.push(node);
      node.main = depth === 1 ? node.at : above.main;
    }
    nodes.push(node);
  });
  nodes.filter((node) => !node.above && node.place).forEach((node, number) => {
    setMain(node, number);
  });
  for (const [parent, first, last, text, width, height, style, summary] of sheet.groups ?? []) {
    const group = {
      first, last, text, width, height, style, padding, brace, label,
      summary: nodes[summary] ?? null,
    };
    nodes[parent].groups.push(group);
    if (group.summary) setMain(group.summary, nodes[parent].stacked[first].main);
  }
  for (let at = nodes.length - 1; at > 0; at--) {
    if (nodes[at].above) nodes[at].above.below += 1 + nodes[at].below;
  }
  return nodes;
}

function setMain(root, main) {
  for (const node of [...family(root)]) node.main = main;
}

function* family(root) {
  const pending = [root];
  while (pending.length) {
    const node = pending.pop();
    yield node;
    pending.push(...node.children);
  }
}

/** What hangs from a topic, however: its children, then the topics that sum them up. */
export function hanging(node) {
  if (node.folded) return [];
  if (!node.groups.length) return node.children;
  return [...node.children, ...node.groups.map((group) => group.summary).filter(Boolean)];
}

/** The topics of these trees that are not inside a folded one, parents before their children. */
export function unfolded(...roots) {
  const shown = [];
  const pending = roots.reverse();
  while (pending.length) {
    const node = pending.pop();
    shown.push(node);
    const below = hanging(node);
    for (let at = below.length - 1; at >= 0; at--) pending.push(below[at]);
  }
  return shown;
}

/** The callouts on these topics that the author placed, in the order of the map. */
function freeOn(nodes) {
  return nodes.flatMap(visibleFree).sort((one, other) => one.place - other.place);
}

function visibleFree(node) {
  return node.folded ? [] : node.children.filter((child) => child.free);
}

/** Give every topic in `shown` its place; return the boundaries and braces around them. */
export function place(shown, sheet, data) {
  for (const node of shown) measure(node, data.count);
  for (let at = shown.length - 1; at >= 0; at--) reach(shown[at]);
  const result = { boundaries: [], braces: [] };
  placeCentre(shown, sheet, data, result);
  const floating = shown.filter((node) => node.depth && !node.above);
  if (floating.length || shown.some((node) => node.free)) {
    placeOthers(shown, floating, sheet, data, result);
  }
  return result;
}

function placeCentre(shown, sheet, data, result) {
  const centre = shown[0];
  for (const node of shown) node.side = 0;
  centre.x = -centre.width / 2;
  centre.y = -centre.height / 2;
  const [first, second] = sides(centre, sheet.leftwards);
  const side = sheet.leftwards ? -1 : 1;
  stack(centre, first, side, result);
  stack(centre, second, -side, result);
  for (const node of shown.slice(1)) {
    if (node.side) stack(node, visible(node), node.side, result);
  }
  if (ringsOf(centre, sheet, data).length) {
    ring(around(taken(shown, result)), centre, sheet, data, result);
  }
}

function placeOthers(shown, floating, sheet, data, result) {
  const placed = shown.filter((node) => node.side || !node.depth);
  const surroundings = new Surroundings(
    [...placed.map(boxOfNode), ...result.braces.map(boxOfBrace)],
    result.boundaries.map(({ box }) => box),
    data,
  );
  for (let roots of [freeOn(placed), floating]) {
    while (roots.length) roots = freeOn(placeTrees(roots, surroundings, sheet, data, result));
    holdCallouts(shown, sheet, data, result);
    surroundings.addAreas(result.boundaries.map(({ box }) => box));
  }
}

/** Place some trees; return all topics in them. */
function placeTrees(roots, surroundings, sheet, data, result) {
  const wanted = roots.map((root) => {
    const { above, more: { at: position } } = root;
    const side = (position ? position[0] < 0 : sheet.leftwards) ? -1 : 1;
    root.side = above?.side || side;
    const parent = above && [above.x + above.width / 2, middle(above)];
    return { room: roomOf(root, sheet, data), position, parent };
  });
  const places = surroundings.place(wanted);
  roots.forEach((root, number) => {
    const [x, y] = places[number];
    root.x = x - root.width / 2;
    root.y = y - root.height / 2;
    ring(boxOf(root), root, sheet, data, result);
  });
  const nodes = [...roots];
  for (const node of nodes) { // it grows
    surroundings.addTopic(boxOfNode(node));
    stack(node, visible(node), node.side, result);
    nodes.push(...hanging(node).filter((one) => !one.free));
  }
  return nodes;
}

function boxOfNode({ x, y, width, height }) {
  return [x, y, x + width, y + height];
}

function boxOfBrace({ x, top, bottom, side, brace: room }) {
  const ends = [x, x + side * room].sort((a, b) => a - b);
  return [ends[0], top, ends[1], bottom];
}

/** Enlarge boundaries so that they hold the free callouts on their topics. */
function holdCallouts(shown, sheet, data, { boundaries }) {
  const beyond = new Map();
  const hold = (found, box) => {
    const grown = [
      box[0] - data.padding, box[1] - data.padding, box[2] + data.padding, box[3] + data.padding,
    ];
    found.box = around([found.box, grown]);
    return grown;
  };
  for (const node of [...shown].sort((one, other) => other.place - one.place)) {
    if (node.depth && !node.side) continue; // not placed yet
    let box = beyond.get(node);
    if (box) {
      for (const found of boundaries) {
        const { group, parent, side, root } = found;
        const inside = parent && parent === node.above && side === node.side && !node.free
          && !node.summary && group.first <= node.at && node.at <= group.last;
        if (inside || root === node) box = hold(found, box);
      }
    }
    if (node.free) {
      const own = moved(roomOf(node, sheet, data), node.x + node.width / 2, middle(node));
      box = box ? around([own, box]) : own;
    }
    if (box && node.above) {
      const known = beyond.get(node.above);
      beyond.set(node.above, known ? around([known, box]) : box);
    }
  }
}

/** The children of a topic that are to be seen beside it, one below the other. */
export function visible(node) {
  return node.folded ? [] : node.stacked;
}

export function middle(node) {
  return node.y + node.height / 2;
}

/** Left end of the topic without its count. */
export function left(node) {
  return node.side >= 0 ? node.x : node.x + node.width - node.body;
}

/** The end that its parent is at. */
export function near(node) {
  return node.side >= 0 ? node.x : node.x + node.width;
}

/** Height at which the line from its parent arrives, and those to its children leave. */
export function joint(node) {
  return node.kind.boxed ? middle(node) : node.y + node.height;
}

/** The rectangle that holds all of these topics and boundaries. */
export function taken(nodes, { boundaries }) {
  return [
    ...nodes.map(boxOfNode),
    ...boundaries.map(({ box }) => box),
  ];
}

function measure(node, { size, padding, gap, digit, plus }) {
  const { kind } = node;
  node.width = node.body;
  node.height = node.plain;
  node.count = node.folded && node.below ? `+${node.below}` : "";
  node.countWidth = 0;
  if (node.count) {
    const letters = plus + digit * (node.count.length - 1);
    node.countWidth = letters * kind.size * size + 2 * padding;
    node.width += node.countWidth + gap;
  }
}

function reach(node) {
  const children = visible(node);
  node.reach = node.height;
  node.span = node.width;
  if (!children.length) return;
  let out;
  if (!node.groups.length) {
    node.reach = Math.max(node.height, stackHeight(children));
    out = children.reduce((most, child) => Math.max(most, child.span), 0);
  } else if (node.depth) {
    const made = rows(children, node.groups);
    node.reach = Math.max(node.height, made.height);
    out = Math.max(...made.out);
  } else return;
  node.span += children[0].kind.gap + out;
}

function rows(children, groups) {
  const before = children.map(() => 0);
  const after = children.map(() => 0);
  const towards = children.map(() => 0);
  const out = children.map((child) => child.span);
  const runs = [];
  for (const group of groups) {
    const first = children.findIndex(({ at }) => group.first <= at && at <= group.last);
    if (first < 0) continue;
    let last = first;
    while (last + 1 < children.length && children[last + 1].at <= group.last) last++;
    const most = (values) => Math.max(...values.slice(first, last + 1));
    let edge = most(out);
    let up = before[first];
    let down = after[last];
    const to = most(towards) + group.padding;
    if (!group.summary) {
      up += group.padding + group.height;
      down += group.padding;
      edge = Math.max(edge, group.width) + group.padding;
      [before[first], after[last]] = [up, down];
      towards.fill(to, first, last + 1);
      out.fill(edge, first, last + 1);
    } else {
      if (children[first].at !== group.first) continue;
      const inner = stackHeight(children.slice(first, last + 1))
        + sum(before.slice(first, last + 1)) + sum(after.slice(first, last + 1));
      const lacking = Math.max(0, group.summary.reach - (inner - up - down)) / 2;
      before[first] = Math.max(up, lacking);
      after[last] = Math.max(down, lacking);
      out.fill(edge + group.brace + group.summary.span, first, last + 1);
    }
    runs.push({ group, first, last, up, down, to, edge });
  }
  return { height: stackHeight(children) + sum(before) + sum(after), before, after, out, runs };
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

function stackHeight(siblings) {
  let height = 0;
  siblings.forEach((node, at) => {
    height += node.reach;
    if (at) height += apart(siblings[at - 1], node);
  });
  return height;
}

function apart(node, following) {
  const families = (visible(node).length ? 1 : 0) + (visible(following).length ? 1 : 0);
  return node.kind.apart * (1 + 0.5 * families);
}

function sides(centre, leftwards) {
  const mains = visible(centre);
  const chosen = mains.filter(({ more }) => more.s).length;
  if (!chosen || chosen < 0.5 * mains.length) return halves(centre);
  const groups = { "-1": [], 1: [] };
  const heights = { "-1": 0, 1: 0 };
  for (const node of mains) if (node.more.s) heights[node.more.s] += node.reach;
  for (const node of mains) {
    const side = node.more.s ?? (heights[-1] < heights[1] ? -1 : 1);
    groups[side].push(node);
    if (!node.more.s) heights[side] += node.reach;
  }
  return leftwards ? [groups[-1], groups[1]] : [groups[1], groups[-1]];
}

function halves(centre) {
  const mains = visible(centre);
  if (mains.length < 2) return [mains, []];
  const { height: total, before, after } = rows(mains, centre.groups);
  const room = (at) => mains[at].reach + before[at] + after[at];
  let above = room(0);
  let best = total;
  let cut = 1;
  for (let at = 1; at < mains.length; at++) {
    const between = apart(mains[at - 1], mains[at]);
    const higher = Math.max(above, total - above - between);
    if (higher <= best) [best, cut] = [higher, at];
    above += between + room(at);
  }
  return [mains.slice(0, cut), mains.slice(cut)];
}

function stack(parent, children, side, result) {
  if (!children.length) return;
  const { height, before, after, runs } = rows(children, parent.groups);
  let y = middle(parent) - height / 2;
  const tops = [];
  children.forEach((child, at) => {
    child.side = side;
    child.x = side > 0
      ? parent.x + parent.width + child.kind.gap
      : parent.x - child.kind.gap - child.width;
    if (at) y += apart(children[at - 1], child);
    y += before[at];
    child.y = y + (child.reach - child.height) / 2;
    tops.push(y);
    y += child.reach + after[at];
  });
  for (const run of runs) {
    enclose(run, children[run.first], tops[run.first], tops[run.last] + children[run.last].reach, result);
  }
}

function enclose({ group, up, down, to, edge }, first, top, bottom, result) {
  const { side, main } = first;
  const start = near(first);
  const { summary } = group;
  if (!summary) {
    const ends = [start - side * to, start + side * edge].sort((a, b) => a - b);
    const box = [ends[0], top - up, ends[1], bottom + down];
    result.boundaries.push({ box, group, main, side, parent: first.above });
    return;
  }
  const x = start + side * edge;
  result.braces.push({ x, top, bottom, side, summary, brace: group.brace });
  summary.side = side;
  summary.x = side > 0 ? x + group.brace : x - group.brace - summary.width;
  summary.y = (top + bottom - summary.height) / 2;
}

function ringsOf(root, sheet) {
  return (sheet.around ?? []).filter(([number]) => number === root.place);
}

function ring(box, root, sheet, data, result) {
  for (const [, text, width, height, style] of ringsOf(root, sheet)) {
    box = withBoundary(box, width, height, data.padding);
    result.boundaries.push({ box, group: { text, width, height, style }, main: root.main, root });
  }
}

function withBoundary([x0, y0, x1, y1], width, height, padding) {
  const start = x0 - padding;
  return [start, y0 - padding - height, Math.max(x1 + padding, start + width + 2 * padding), y1 + padding];
}

function boxOf(root) {
  const start = root.side > 0 ? root.x : root.x + root.width - root.span;
  const top = middle(root) - root.reach / 2;
  return [start, top, start + root.span, top + root.reach];
}

function roomOf(root, sheet, data) {
  let box = boxOf(root);
  for (const [, , width, height] of ringsOf(root, sheet)) {
    box = withBoundary(box, width, height, data.padding);
  }
  const [x, y] = [root.x + root.width / 2, middle(root)];
  return [box[0] - x, box[1] - y, box[2] - x, box[3] - y];
}
