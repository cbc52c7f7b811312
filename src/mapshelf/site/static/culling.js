// Culling for large maps: draws only what is near the viewport, including parts of long curves.
//
// Browsers paint all elements, visible or not, and curves of thousands of pixels cost the most.

import { along, part } from "./arrows.js";

const AROUND = 0.5; // views on every side of the view that are drawn, too
const STEPS = 24; // in which a curve is looked at
const HALVINGS = 24;

/** The room that is drawn for a view. */
export function grown({ x, y, width, height }) {
  const [across, down] = [AROUND * width, AROUND * height];
  return { x: x - across, y: y - down, width: width + 2 * across, height: height + 2 * down };
}

export function contains(room, view) {
  return view.x >= room.x && view.y >= room.y
    && view.x + view.width <= room.x + room.width && view.y + view.height <= room.y + room.height;
}

/** Whether a box is in a room, in part at least. */
export function touches({ x, y, width, height }, [x0, y0, x1, y1]) {
  return x0 <= x + width && y0 <= y + height && x1 >= x && y1 >= y;
}

/** The box that holds these points, and with them a curve of which they are the handles. */
export function holding(points) {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of points) {
    box[0] = Math.min(box[0], x);
    box[1] = Math.min(box[1], y);
    box[2] = Math.max(box[2], x);
    box[3] = Math.max(box[3], y);
  }
  return box;
}

/**
 * The part of a curve that is in a room, as `{ curve, before }`, with the length that lies before
 * it; null if there is none.
 */
export function clipped(curve, room) {
  let [first, last, before, length] = [-1, -1, 0, 0];
  let from = curve[0];
  for (let step = 1; step <= STEPS; step++) {
    const to = along(curve, step / STEPS);
    if (touches(room, holding([from, to]))) {
      if (first < 0) [first, before] = [step - 1, length];
      last = step;
    }
    length += Math.hypot(to[0] - from[0], to[1] - from[1]);
    from = to;
  }
  return first < 0 ? null : { curve: part(curve, first / STEPS, last / STEPS), before };
}

/** The part between two heights of a curve that only goes up, or only down. */
export function between(curve, top, bottom) {
  const downwards = curve[3][1] > curve[0][1];
  const shareAt = (height) => {
    let [low, high] = [0, 1];
    for (let halving = 0; halving < HALVINGS; halving++) {
      const middle = (low + high) / 2;
      if (along(curve, middle)[1] < height === downwards) low = middle;
      else high = middle;
    }
    return low;
  };
  const shares = [shareAt(top), shareAt(bottom)];
  return part(curve, ...(downwards ? shares : shares.reverse()));
}

/** Drop those that are indistinguishable from a later one drawn over them. */
export function distinct(lines, keyOf) {
  const seen = new Set();
  const kept = [];
  for (let at = lines.length - 1; at >= 0; at--) {
    const key = keyOf(lines[at]);
    if (key && seen.has(key)) continue;
    seen.add(key);
    kept.push(lines[at]);
  }
  return kept.reverse();
}

/** Have exactly these elements in `parent`, and touch none that was there before. */
export function keep(parent, wanted) {
  const all = new Set(wanted);
  for (const child of [...parent.children]) {
    if (!all.delete(child)) child.remove();
  }
  parent.append(...all);
}
