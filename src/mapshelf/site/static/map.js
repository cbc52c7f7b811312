// The interactive map: handles user input and updates the drawing.
//
// It replaces the static image of the map once it is ready. Without this script, the image stays,
// and the outline below it has the full content.

import { Camera } from "./camera.js";
import { addColours, remember, wantsAuthors } from "./colours.js";
import { Detail } from "./detail.js";
import { Drawer, fit } from "./drawing.js";
import { Finder } from "./find.js";
import { around } from "./floating.js";
import { foldAsAuthored, foldToFit, rootsOf } from "./folding.js";
import { hanging, left, linked, place, taken, unfolded } from "./layout.js";
import { button, html, lazily } from "./page.js";
import { preparePrinting } from "./print.js";
import { element } from "./svg.js";
import { Tabs } from "./tabs.js";
import { textOf } from "./topic.js";

const ICONS = {
  zoomIn: "M10 4v12M4 10h12",
  zoomOut: "M4 10h12",
  fit: "M3 7V3h4M13 3h4v4M17 13v4h-4M7 17H3v-4M7 10h6",
  unfold: "M10 2v6M7 5l3-3 3 3M10 18v-6M7 15l3 3 3-3M3 10h14",
  fold: "M10 2v6M7 5l3 3 3-3M10 18v-6M7 15l3-3 3 3M3 10h14",
  fullscreen: "M12 3h5v5M17 3l-6 6M8 17H3v-5M3 17l6-6",
  colours: "M10 3a7 7 0 1 0 0 14c1.6 0 1.4-1.5.8-2.3-.6-1 0-2.2 1.2-2.2h2a3 3 0 0 0 3-3C17 5.600 14 3 10 3zM6.500 9.500h.01M9 6.500h.01M13 7h.01",
};
const READABLE = 0.62; // scale at which letters can still be read
const LEAST_AT_FIRST = 0.42; // scale: a map that would be smaller is shown in part at first
const LETTERS = 11; // pixels: least height of the letters of a topic that is found, or opened by its address

const said = JSON.parse(document.getElementById("texts").textContent);
const stage = document.getElementById("stage");

class MindMap {
  constructor(data) {
    this.data = data;
    this.sheets = data.sheets.map((sheet) => (sheet.nodes = linked(sheet, data)));
    this.coloured = addColours(data.sheets);
    this.marked = new Set();
    const images = { address: stage.dataset.images, watch: lazily(stage) };
    this.drawer = new Drawer(data, images, (node) => this.#decorate(node));
    const { around: behind, lines, topics, arrows } = this.drawer;
    this.paper = element("g", { id: "paper", class: "paper" }, behind, lines, topics, arrows);
    this.world = element("g", {}, this.paper);
    this.svg = element("svg", { "aria-hidden": "true", focusable: "false" }, this.world);
    const related = data.sheets.map((sheet) => sheet.arrows ?? []);
    this.finder = new Finder(this.sheets, related, said, (hit) => this.#found(hit));
    this.detail = new Detail(stage, said, () => {
      this.camera.reveal(box(this.current));
      stage.focus({ preventScroll: true });
    });
    this.#build();
    this.camera = new Camera(stage, this.world, {
      clicked: (target) => this.#clicked(target),
      covered: () => this.#covered(),
      seen: (view) => this.drawer.look(view),
    });
    this.sheets.forEach((nodes, number) => this.#foldAtFirst(nodes, data.sheets[number]));
    this.open(0, { glide: false });
    this.#listen();
    this.follow(false);
    preparePrinting(stage, {
      isEmpty: (room) => this.drawer.isEmpty(room),
      bounds: () => {
        this.drawer.drawAll();
        return bounds(this.shown, this.placed, this.drawer.reached);
      },
      restore: () => this.draw(),
    });
    document.fonts?.ready.then(() => fit(this.svg));
  }

  /** Show another sheet of the file. */
  open(number, { glide = true } = {}) {
    this.number = number;
    this.nodes = this.sheets[number];
    this.sheet = this.data.sheets[number];
    for (const { classList } of [stage, this.paper]) {
      classList.remove(...this.sheets.map((_, at) => `sheet${at}`));
      classList.add(`sheet${number}`);
    }
    this.tabs?.select(number);
    this.current = null;
    this.detail.hide();
    this.draw();
    this.fit({ glide, least: LEAST_AT_FIRST });
  }

  draw() {
    this.shown = unfolded(...rootsOf(this.nodes));
    this.placed = place(this.shown, this.sheet, this.data);
    this.drawer.show(this.shown, this.sheet, this.placed);
    this.#mark();
  }

  /** Show all that is unfolded; at a scale of `least`, as much of it as there is room for. */
  fit({ glide = true, least } = {}) {
    const all = bounds(this.shown, this.placed, this.drawer.reached);
    this.camera.frameAll(all, { least, most: 1.4, glide });
  }

  fold(node, folded = !node.folded) {
    if (!node.children.length || !node.depth || node.folded === folded) return;
    const before = { x: left(node), y: node.y };
    node.folded = folded;
    this.draw();
    // The topic that was folded stays under the finger.
    const { x, y, scale } = this.camera.view;
    this.camera.set({
      x: x + (before.x - left(node)) * scale, y: y + (before.y - node.y) * scale, scale,
    });
    if (!folded) this.camera.reveal(bounds(unfolded(node).slice(0, 12)), { least: 0 });
  }

  foldAll(folded) {
    for (const node of this.nodes) {
      node.folded = folded && node.depth > 0 && node.children.length > 0;
    }
    this.select(null);
    this.draw();
    this.fit();
  }

  /** Make a topic the current one, unfolding what hides it. */
  select(node, { glide = true, address = true, letters = 0, wanted = "" } = {}) {
    this.current = node;
    if (node) {
      let hidden = false;
      for (let above = node.above; above; above = above.above) {
        hidden ||= above.folded;
        above.folded = false;
      }
      if (hidden) this.draw();
    }
    this.#mark();
    this.detail.show(node, this.sheet, wanted);
    this.live.textContent = node ? this.#spoken(node) : "";
    if (node) {
      const least = Math.max(0.6, letters / node.kind.size);
      this.camera.reveal(box(node), { least, glide });
    }
    if (address) {
      const hash = node ? `#t=${encodeURIComponent(node.id)}` : location.pathname + location.search;
      history.replaceState(null, "", hash);
    }
  }

  /** Go to the topic that the address names. */
  follow(glide = true) {
    const found = /^#t=(.+)$/.exec(location.hash);
    if (!found) return;
    let id = found[1];
    try {
      id = decodeURIComponent(id);
    } catch {
      // An address that is not encoded is taken as it is.
    }
    const number = this.sheets.findIndex((nodes) => nodes.some((node) => node.id === id));
    if (number < 0) return;
    if (number !== this.number) this.open(number, { glide: false });
    const node = this.nodes.find((one) => one.id === id);
    this.select(node, { glide, address: false, letters: LETTERS });
    // The browser has gone to the topic in the outline, which has the same address.
    stage.scrollIntoView({ block: "nearest" });
    stage.focus({ preventScroll: true });
  }

  /** Find here what was typed into the box above, which would ask for a page of matches. */
  #findHere(event) {
    event.preventDefault();
    const { input } = this.finder;
    const typed = document.getElementById("query").value.trim();
    if (typed) {
      input.value = typed;
      this.finder.search(typed);
    }
    stage.scrollIntoView({ block: "nearest" });
    input.focus();
  }

  /** Go to what was found; without anything, take the marks away. */
  #found(hit) {
    if (!hit) {
      this.#mark();
      return;
    }
    if (hit.sheet !== this.number) this.open(hit.sheet, { glide: false });
    this.select(hit.node, { wanted: this.finder.wanted, letters: LETTERS });
  }

  #foldAtFirst(nodes, sheet) {
    if (foldAsAuthored(nodes)) return;
    foldToFit(nodes, () => {
      const shown = unfolded(...rootsOf(nodes));
      return this.camera.room(bounds(shown, place(shown, sheet, this.data))) >= READABLE;
    });
  }

  // -- what is around the map ------------------------------------------------------------

  #build() {
    const tool = (name, act) => button(ICONS[name], said[name], act);
    const tools = html("div", { class: "tools control" },
      tool("zoomIn", () => this.camera.zoom(1.3, undefined, undefined, true)),
      tool("zoomOut", () => this.camera.zoom(1 / 1.3, undefined, undefined, true)),
      tool("fit", () => this.fit()),
      tool("unfold", () => this.foldAll(false)),
      tool("fold", () => this.foldAll(true)),
    );
    if (document.fullscreenEnabled) {
      tools.append(tool("fullscreen", () => this.#fullscreen()));
    }
    if (this.coloured) tools.append(this.#colourSwitch(tool));
    this.live = html("p", { class: "unseen", "aria-live": "polite" });
    this.top = html("div", { class: "top" }, this.finder.control);
    if (this.sheets.length > 1) {
      this.tabs = new Tabs(this.#titles(), said.sheet, (number) => this.open(number));
      this.top.append(this.tabs.control);
    }
    stage.setAttribute("tabindex", "0");
    stage.setAttribute("role", "application");
    stage.setAttribute("aria-label", said.stage);
    stage.append(this.svg, this.top, tools, this.detail.panel, this.live);
    stage.classList.add("alive");
  }

  /** The colours of the author, or ours, as this reader prefers. */
  #colourSwitch(tool) {
    const show = (authors) => {
      stage.classList.toggle("authors", authors);
      this.paper.classList.toggle("authors", authors);
      made.setAttribute("aria-pressed", String(authors));
    };
    const made = tool("colours", () => {
      const authors = !stage.classList.contains("authors");
      remember(authors);
      show(authors);
    });
    show(wantsAuthors());
    return made;
  }

  #titles() {
    return this.sheets.map((nodes, number) => (
      this.data.sheets[number].title || textOf(nodes[0]) || String(number + 1)
    ));
  }

  /** The part of the stage covered by panels and controls, in pixels from its edges. */
  #covered() {
    const { left, top, right, bottom } = this.detail.covered();
    return { left, top: top + this.top.offsetHeight, right, bottom };
  }

  #listen() {
    stage.addEventListener("keydown", (event) => this.#key(event));
    this.finder.listen(() => stage.focus());
    document.getElementById("here")?.addEventListener("click", (event) => this.#findHere(event));
    addEventListener("hashchange", () => this.follow());
    let width = stage.clientWidth;
    new ResizeObserver(() => {
      if (stage.clientWidth !== width && !this.current) {
        this.fit({ glide: false, least: LEAST_AT_FIRST });
      }
      width = stage.clientWidth;
    }).observe(stage);
  }

  #clicked(target) {
    stage.focus({ preventScroll: true });
    const group = target.closest?.("[data-topic]");
    if (!group) {
      this.select(null);
      return;
    }
    const node = this.shown.find((one) => one.drawn === group);
    if (target.closest(".handle")) this.fold(node);
    else this.select(node);
  }

  #key(event) {
    if (event.target !== stage || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = this.#keys()[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  #keys() {
    const node = this.current;
    const start = () => this.select(node ?? this.nodes[0]);
    return {
      ArrowLeft: () => (node ? this.#sideways(node, -1) : start()),
      ArrowRight: () => (node ? this.#sideways(node, 1) : start()),
      ArrowUp: () => (node ? this.#along(node, -1) : start()),
      ArrowDown: () => (node ? this.#along(node, 1) : start()),
      Home: () => this.select(this.nodes[0]),
      " ": () => (node ? this.fold(node) : start()),
      Enter: () => (node ? this.fold(node) : start()),
      "+": () => this.camera.zoom(1.3, undefined, undefined, true),
      "=": () => this.camera.zoom(1.3, undefined, undefined, true),
      "-": () => this.camera.zoom(1 / 1.3, undefined, undefined, true),
      0: () => this.fit(),
      "/": () => this.finder.input.focus(),
      Escape: () => this.select(null),
    };
  }

  /** Outwards is to a child, inwards to the parent, whichever side that is. */
  #sideways(node, way) {
    if (node.above && node.side !== way) {
      this.select(node.above);
      return;
    }
    if (node.folded) this.fold(node, false);
    const children = hanging(node).filter((child) => child.side === way);
    if (children.length) this.select(children[Math.floor((children.length - 1) / 2)]);
  }

  /** Up and down go through topics of the same level and side, across families. */
  #along(node, way) {
    const level = this.shown.filter((one) => one.depth === node.depth && one.side === node.side);
    level.sort((a, b) => a.y - b.y);
    const next = level[level.indexOf(node) + way];
    if (next) this.select(next);
  }

  #mark() {
    this.marked = new Set(this.finder.matches.map(({ node }) => node));
    for (const node of this.shown) if (node.drawn) this.#decorate(node);
  }

  #decorate(node) {
    node.drawn.classList.toggle("current", node === this.current);
    node.drawn.classList.toggle("match", this.marked.has(node));
  }

  #spoken(node) {
    const level = said.level.replace("{level}", node.depth + 1);
    const folded = node.folded ? `, ${said.folded.replace("{count}", node.below)}` : "";
    return `${textOf(node)}, ${level}${folded}`;
  }

  #fullscreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else stage.requestFullscreen().then(() => this.fit({ glide: false }));
  }
}

function box(node) {
  return { x: node.x, y: node.y, width: node.width, height: node.height };
}

function bounds(nodes, placed = { boundaries: [] }, beside = []) {
  const [x0, y0, x1, y1] = around([...taken(nodes, placed), ...beside]);
  return { x: x0, y: y0, width: x1 - x0, height: y1 - y0 };
}

async function begin() {
  const response = await fetch(stage.dataset.drawing);
  if (!response.ok) return; // the still picture stays
  const map = new MindMap(await response.json());
  stage.dataset.topics = String(map.nodes.length);
  if (document.documentElement.classList.contains("embedded")) stage.classList.add("alone");
}

await begin();
