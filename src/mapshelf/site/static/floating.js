// Places floating topics, with the algorithm of render/floating.py.

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

/** Where the middle of each tree's root is to be; `taken` are the boxes that have their place. */
export function putFloating(trees, taken, { gap, stray }) {
  let whole = around(taken);
  const [shareX, shareY] = shares(trees, whole, stray);
  const obstacles = new Obstacles(taken, gap);
  const found = trees.map(({ room, position }) => {
    if (!position) return null;
    const spot = obstacles.nearestFree(room, position[0] * shareX, position[1] * shareY);
    if (spot) {
      obstacles.add(moved(room, ...spot));
      whole = around([whole, moved(room, ...spot)]);
    }
    return spot;
  });
  const rows = inRows(trees.filter((_, at) => !found[at]).map(({ room }) => room), whole, gap);
  return found.map((spot) => spot ?? rows.shift());
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

function moved([x0, y0, x1, y1], x, y) {
  return [x0 + x, y0 + y, x1 + x, y1 + y];
}

class Obstacles {
  constructor(boxes, gap) {
    this.cells = new Map();
    this.gap = gap;
    this.trials = TRIALS;
    for (const box of boxes) this.add(box);
  }

  add([x0, y0, x1, y1]) {
    const { gap } = this;
    const grown = [x0 - gap, y0 - gap, x1 + gap, y1 + gap];
    for (const cell of cells(grown)) {
      if (!this.cells.has(cell)) this.cells.set(cell, []);
      this.cells.get(cell).push(grown);
    }
  }

  nearestFree(room, x, y) {
    for (const [right, down] of STEPS) {
      if (this.trials <= 0) return null;
      this.trials -= 1;
      const spot = [x + right * STEP, y + down * STEP];
      if (this.#isFree(moved(room, ...spot))) return spot;
    }
    return null;
  }

  #isFree(box) {
    for (const cell of cells(box)) {
      for (const other of this.cells.get(cell) ?? []) {
        const apart = box[0] >= other[2] || other[0] >= box[2] || box[1] >= other[3] || other[1] >= box[3];
        if (!apart) return false;
      }
    }
    return true;
  }
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
