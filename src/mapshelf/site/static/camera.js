// The viewport of the map: panning and zooming with mouse, wheel, touch and from code.

const SMALLEST = 0.03;
const LARGEST = 4;
const GLIDE = 220; // milliseconds
const CLICK = 5; // pixels a pointer may move and still click

export class Camera {
  /**
   * @param stage what the map is seen in.
   * @param world the map.
   * @param clicked called with the element that was clicked.
   * @param covered returns the covered part of the stage, in pixels from its edges.
   * @param seen called with the part of the map that is in view: a rectangle, and its scale.
   */
  constructor(stage, world, { clicked, covered, seen }) {
    this.stage = stage;
    this.world = world;
    this.svg = world.ownerSVGElement;
    this.clicked = clicked;
    this.covered = covered;
    this.seen = seen;
    this.view = { x: 0, y: 0, scale: 1 };
    this.pointers = new Map();
    this.moved = 0;
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    stage.addEventListener("pointerdown", (event) => this.#down(event));
    stage.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel"]) {
      stage.addEventListener(end, (event) => this.#up(event, end === "pointerup"));
    }
    stage.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
  }

  get size() {
    return [this.stage.clientWidth, this.stage.clientHeight];
  }

  set(view) {
    this.#tell(view);
    this.world.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
    this.anchor = view;
    this.svg.style.transform = "";
  }

  /** Move the drawing without repainting; call `set` afterwards. */
  #slide(view) {
    this.#tell(view);
    const { x, y } = this.anchor;
    this.svg.style.transform = `translate(${view.x - x}px, ${view.y - y}px)`;
  }

  #tell(view) {
    this.view = view;
    const { x, y, scale } = view;
    const [width, height] = this.size.map((side) => side / scale);
    this.seen({ x: -x / scale, y: -y / scale, width, height, scale });
  }

  /** Go to a view, gliding there unless the reader wants things to stand still. */
  go(to, glide = true) {
    cancelAnimationFrame(this.frame);
    if (!glide || this.calm.matches) {
      this.set(to);
      return;
    }
    const from = this.view;
    const began = performance.now();
    const step = (now) => {
      const part = Math.min(1, (now - began) / GLIDE);
      const eased = 1 - (1 - part) ** 3;
      const between = (a, b) => a + (b - a) * eased;
      this.set({
        x: between(from.x, to.x), y: between(from.y, to.y), scale: between(from.scale, to.scale),
      });
      if (part < 1) this.frame = requestAnimationFrame(step);
    };
    this.frame = requestAnimationFrame(step);
  }

  zoom(factor, x = this.size[0] / 2, y = this.size[1] / 2, glide = false) {
    const { view } = this;
    const scale = Math.min(LARGEST, Math.max(SMALLEST, view.scale * factor));
    const by = scale / view.scale;
    this.go({ x: x - (x - view.x) * by, y: y - (y - view.y) * by, scale }, glide);
  }

  /** The part of the stage that nothing covers, with a margin: its edges, in pixels. */
  #free(margin, below) {
    const [w, h] = this.size;
    const { left, top, right, bottom } = this.covered();
    return {
      left: left + margin, right: w - right - margin,
      top: top + margin, bottom: h - (bottom ? bottom + margin : below),
    };
  }

  /** The scale at which a rectangle fits the stage. */
  room({ width, height }) {
    const { left, right, top, bottom } = this.#free(20, 64);
    return Math.min((right - left) / width, (bottom - top) / height);
  }

  /** Show a rectangle of the map, as large as it goes, but no letter larger than `most` times. */
  frameAll({ x, y, width, height }, { least = 0, most = 1.15, glide = true } = {}) {
    const { left, right, top, bottom } = this.#free(20, 64);
    const scale = Math.max(least, Math.min(most, this.room({ width, height })));
    this.go({
      x: (left + right) / 2 - scale * (x + width / 2),
      y: (top + bottom) / 2 - scale * (y + height / 2),
      scale,
    }, glide);
  }

  /** Pan just enough to show a rectangle in the uncovered part of the stage. */
  reveal({ x, y, width, height }, { least = 0.6, glide = true } = {}) {
    const [w, h] = this.size;
    const scale = Math.max(this.view.scale, least);
    const by = scale / this.view.scale;
    const free = this.#free(12, 64);
    const fit = (start, length, at, first, last) => {
      const [low, high] = [at + start * scale, at + (start + length) * scale];
      if (low < first || high - low > last - first) return at + first - low;
      return high > last ? at - (high - last) : at;
    };
    const left = w / 2 - (w / 2 - this.view.x) * by;
    const top = h / 2 - (h / 2 - this.view.y) * by;
    this.go({
      x: fit(x, width, left, free.left, free.right),
      y: fit(y, height, top, free.top, free.bottom),
      scale,
    }, glide);
  }

  #spot(event) {
    const box = this.stage.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  #down(event) {
    if (event.button || event.target.closest(".control")) return;
    cancelAnimationFrame(this.frame);
    this.pointers.set(event.pointerId, this.#spot(event));
    if (this.pointers.size === 1) this.moved = 0;
    else this.moved = Infinity;
    this.stage.setPointerCapture(event.pointerId);
    this.target = event.target;
  }

  #move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = this.#spot(event);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
    this.pointers.set(event.pointerId, now);
    this.moved += Math.hypot(now.x - before.x, now.y - before.y);
    if (this.moved < CLICK) return;
    if (!others.length) {
      this.stage.classList.add("panning");
      const { x, y, scale } = this.view;
      this.#slide({ x: x + now.x - before.x, y: y + now.y - before.y, scale });
      return;
    }
    const [, other] = others[0];
    const distance = (a) => Math.max(1, Math.hypot(a.x - other.x, a.y - other.y));
    const centre = (a) => ({ x: (a.x + other.x) / 2, y: (a.y + other.y) / 2 });
    const [was, is] = [centre(before), centre(now)];
    this.set({ ...this.view, x: this.view.x + is.x - was.x, y: this.view.y + is.y - was.y });
    this.zoom(distance(now) / distance(before), is.x, is.y);
  }

  #up(event, wanted) {
    if (!this.pointers.delete(event.pointerId)) return;
    this.stage.classList.remove("panning");
    this.set(this.view);
    if (wanted && this.moved < CLICK && !this.pointers.size) this.clicked(this.target);
  }

  #wheel(event) {
    // A page must be scrollable past the map: the wheel is the map's once it has been clicked.
    const ours = event.ctrlKey || event.metaKey || this.stage.matches(":focus, .alone");
    if (!ours || event.target.closest(".control")) return;
    event.preventDefault();
    const { x, y } = this.#spot(event);
    const lines = event.deltaMode === 1 ? 20 : 1;
    this.zoom(Math.exp((-event.deltaY * lines * (event.ctrlKey ? 4 : 1)) / 500), x, y);
  }
}
