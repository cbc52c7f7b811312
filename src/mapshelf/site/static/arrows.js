// Routes relationship arrows between visible topics, with the algorithm of render/arrows.py.

const CELL = 100;
const SAMPLES = [0.15, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85];
const CROSSING = 90;
const LEAST_BEND = 24;
const MOST_BEND = 160;
const LOOP = 34;
const LOOP_HALF = 7;
const SLACK = 7;

/** The point after so much of a curve. */
export function along(curve, share) {
  const rest = 1 - share;
  const weights = [rest ** 3, 3 * rest ** 2 * share, 3 * rest * share ** 2, share ** 3];
  return [0, 1].map((axis) => weights.reduce((all, weight, at) => all + weight * curve[at][axis], 0));
}

/** The part of a curve between two shares of it (de Casteljau). */
export function part(curve, from, to) {
  const later = split(curve, from)[1];
  return from < 1 ? split(later, (to - from) / (1 - from))[0] : later;
}

function split([a, b, c, d], share) {
  const mid = (one, other) => [0, 1].map((axis) => one[axis] + (other[axis] - one[axis]) * share);
  const [ab, bc, cd] = [mid(a, b), mid(b, c), mid(c, d)];
  const [abc, bcd] = [mid(ab, bc), mid(bc, cd)];
  const on = mid(abc, bcd);
  return [[a, ab, abc, on], [on, bcd, cd, d]];
}

export class Router {
  constructor(nodes) {
    this.cells = new Map();
    for (const node of nodes) {
      const [right, bottom] = [node.x + node.width, node.y + node.height];
      for (let across = Math.floor(node.x / CELL); across <= Math.floor(right / CELL); across++) {
        for (let down = Math.floor(node.y / CELL); down <= Math.floor(bottom / CELL); down++) {
          const cell = `${across} ${down}`;
          if (!this.cells.has(cell)) this.cells.set(cell, []);
          this.cells.get(cell).push(node);
        }
      }
    }
  }

  /** The curve from one topic to another: short, and across few others. */
  curve(start, end, width, boxOf) {
    let best = null;
    let least = Infinity;
    const curves = start === end ? loops(boxOf(start), width) : bows(boxOf(start), boxOf(end));
    for (const curve of curves) {
      const cost = this.#cost(curve, start, end, width);
      if (cost < least) [best, least] = [curve, cost];
    }
    return best;
  }

  #cost(curve, start, end, width) {
    const crossed = new Set(SAMPLES.flatMap((share) => this.#under(along(curve, share))));
    const own = crossed.has(start) + crossed.has(end);
    let length = 0;
    for (let at = 1; at < 4; at++) {
      length += Math.hypot(curve[at][0] - curve[at - 1][0], curve[at][1] - curve[at - 1][1]);
    }
    const covered = width ? this.#behindLabel(curve, width / 2) : 0;
    return length + CROSSING * (crossed.size + 3 * own + 2 * covered);
  }

  /** How many topics the words on a curve would cover. */
  #behindLabel(curve, half) {
    const [x, y] = along(curve, 0.5);
    const ends = [[x - half, y - 5], [x - half, y + 5], [x + half, y - 5], [x + half, y + 5], [x, y]];
    return new Set(ends.flatMap((end) => this.#under(end))).size;
  }

  #under([x, y]) {
    const there = this.cells.get(`${Math.floor(x / CELL)} ${Math.floor(y / CELL)}`) ?? [];
    return there.filter((node) =>
      node.x < x && x < node.x + node.width && node.y < y && y < node.y + node.height);
  }
}

function bows(from, to) {
  return ends(from).flatMap((start) => ends(to).map((end) => bent(start, end)));
}

function loops(box, width) {
  return ends(box).map(([[x, y], [right, down]]) => {
    const side = right ? box[3] - box[1] : box[2] - box[0];
    const half = Math.min(LOOP_HALF, side / 4);
    const out = right ? Math.max(LOOP, (width / 2 + SLACK) / 0.75) : LOOP;
    const [across, beside] = [Math.abs(down), Math.abs(right)];
    const at = (shift, far) => [
      x + shift * half * across + far * right, y + shift * half * beside + far * down,
    ];
    return [at(-1, 0), at(-3, out), at(3, out), at(1, 0)];
  });
}

function ends([x0, y0, x1, y1]) {
  const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
  return [
    [[x1 + 2, y], [1, 0]],
    [[x0 - 2, y], [-1, 0]],
    [[x, y0 - 2], [0, -1]],
    [[x, y1 + 2], [0, 1]],
  ];
}

function bent([[x0, y0], [right0, down0]], [[x3, y3], [right3, down3]]) {
  const bend = Math.min(MOST_BEND, Math.max(LEAST_BEND, 0.4 * Math.hypot(x3 - x0, y3 - y0)));
  return [
    [x0, y0],
    [x0 + bend * right0, y0 + bend * down0],
    [x3 + bend * right3, y3 + bend * down3],
    [x3, y3],
  ];
}

/** The line from the edge of a topic that leads so far away from it. */
export function straight([x0, y0, x1, y1], [right, down]) {
  const [halfWidth, halfHeight] = [(x1 - x0) / 2, (y1 - y0) / 2];
  // The point on the edge that is in this direction from the middle.
  const share = Math.min(
    right ? halfWidth / Math.abs(right) : Infinity, down ? halfHeight / Math.abs(down) : Infinity, 1e6,
  );
  const x = (x0 + x1) / 2 + right * share;
  const y = (y0 + y1) / 2 + down * share;
  return [0, 1 / 3, 2 / 3, 1].map((part) => [x + part * right, y + part * down]);
}
