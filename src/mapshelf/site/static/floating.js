// Places floating topics and callouts, with the algorithm of render/floating.py.

const CELL = 160;
const STEP = 30;
const RINGS = 24;
const TRIALS = 6000;
const ROW_WIDTH = 900;

/** The rectangle that holds all of these. */
export function around(boxes) {
  const whole = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x0, y0, x1, y1] of boxes) {
    whole[0] = Math.min(whole[0], x0);
    whole[1] = Math.min(whole[1], y0);
    whole[2] = Math.max(whole[2], x1);
    whole[3] = Math.max(whole[3], y1);
  }
  return whole;
}

/** What is already placed on a sheet, and the trees that are placed around it. */
export class Surroundings {
  /**
   * @param taken the boxes that no tree may overlap.
   * @param areas boxes around several topics, which only callouts on these topics may overlap.
   */
  constructor(taken, areas, { gap, stray }) {
    this.whole = around(taken);
    this.obstacles = new Obstacles(gap);
    this.gap = gap;
    this.stray = stray;
    for (const box of taken) this.addTopic(box);
    this.addAreas(areas);
  }

  /** Add the box of a topic that has been placed. */
  addTopic(box) {
    this.obstacles.add(box, false);
  }

  /** Add boxes around several topics that have been placed. */
  addAreas(areas) {
    for (const box of areas) {
      this.obstacles.add(box, true);
      this.whole = around([this.whole, box]);
    }
  }

  /** Where the middle of each tree's root is to be. */
  place(trees) {
    const [shareX, shareY] = shares(trees, this.whole, this.stray);
    const found = trees.map(({ room, position, parent }) => {
      if (!position) return null;
      const [x, y] = parent ?? [0, 0];
      const wanted = [x + position[0] * shareX, y + position[1] * shareY];
      const spot = this.obstacles.nearestFree(room, ...wanted, parent);
      if (spot) this.addAreas([moved(room, ...spot)]);
      return spot;
    });
    const left = trees.filter((_, at) => !found[at]).map(({ room }) => room);
    const rows = inRows(left, this.whole, this.gap);
    this.addAreas(left.map((room, at) => moved(room, ...rows[at])));
    return found.map((spot) => spot ?? rows.shift());
  }
}

/** The room of a tree, moved to where it is. */
export function moved([x0, y0, x1, y1], x, y) {
  return [x0 + x, y0 + y, x1 + x, y1 + y];
}

function shares(trees, [x0, y0, x1, y1], [share, besides]) {
  const across = Math.max(-x0, x1) + share * (x1 - x0) + besides;
  const down = Math.max(-y0, y1) + share * (y1 - y0) + besides;
  let [farX, farY] = [0, 0];
  for (const { position } of trees) {
    if (!position) continue;
    farX = Math.max(farX, Math.abs(position[0]));
    farY = Math.max(farY, Math.abs(position[1]));
  }
  return [across / Math.max(across, farX), down / Math.max(down, farY)];
}

function inRows(rooms, [left, , right, bottom], gap) {
  const end = left + Math.max(ROW_WIDTH, right - left);
  let [x, top, height] = [left, bottom + 2 * gap, 0];
  return rooms.map((room) => {
    const width = room[2] - room[0];
    if (x > left && x + width > end) [x, top, height] = [left, top + height + gap, 0];
    const spot = [x - room[0], top - room[1]];
    x += width + 2 * gap;
    height = Math.max(height, room[3] - room[1]);
    return spot;
  });
}

class Obstacles {
  constructor(gap) {
    this.cells = new Map();
    this.gap = gap;
    this.trials = TRIALS;
  }

  add([x0, y0, x1, y1], isArea) {
    const { gap } = this;
    const grown = { box: [x0 - gap, y0 - gap, x1 + gap, y1 + gap], isArea };
    for (const cell of cells(grown.box)) {
      if (!this.cells.has(cell)) this.cells.set(cell, []);
      this.cells.get(cell).push(grown);
    }
  }

  /** Areas that hold the point `parent` are no obstacles. */
  nearestFree(room, x, y, parent) {
    for (const [right, down] of STEPS) {
      if (this.trials <= 0) return null;
      this.trials -= 1;
      const spot = [x + right * STEP, y + down * STEP];
      if (this.#isFree(moved(room, ...spot), parent)) return spot;
    }
    return null;
  }

  #isFree(box, parent) {
    for (const cell of cells(box)) {
      for (const { box: other, isArea } of this.cells.get(cell) ?? []) {
        const apart = box[0] >= other[2] || other[0] >= box[2] || box[1] >= other[3] || other[1] >= box[3];
        if (!apart && !(isArea && parent && holds(other, parent))) return false;
      }
    }
    return true;
  }
}

function holds([x0, y0, x1, y1], [x, y]) {
  return x0 < x && x < x1 && y0 < y && y < y1;
}

function* cells([x0, y0, x1, y1]) {
  for (let across = Math.floor(x0 / CELL); across <= Math.floor(x1 / CELL); across++) {
    for (let down = Math.floor(y0 / CELL); down <= Math.floor(y1 / CELL); down++) {
      yield `${across} ${down}`;
    }
  }
}

const STEPS = [];
for (let right = -RINGS; right <= RINGS; right++) {
  for (let down = -RINGS; down <= RINGS; down++) STEPS.push([right, down]);
}
STEPS.sort((a, b) => a[0] ** 2 + a[1] ** 2 - b[0] ** 2 - b[1] ** 2 || a[0] - b[0] || a[1] - b[1]);
