// The interactive map on a page: what the reader does, and what follows from it.
//
// It is drawn over the still picture of the map, and takes its place once it is there: without this
// script the picture stays, and the outline below it has everything.

import { Camera } from "./camera.js";
import { addColours, remember, wantsAuthors } from "./colours.js";
import { Drawer, fit } from "./drawing.js";
import { around } from "./floating.js";
import { foldAsAuthored, foldToFit, rootsOf } from "./folding.js";
import { hanging, left, linked, place, taken, unfolded } from "./layout.js";
import { button, html, lazily, plain } from "./page.js";
import { element } from "./svg.js";

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

const said = JSON.parse(document.getElementById("texts").textContent);
const stage = document.getElementById("stage");

class MindMap {
  constructor(data) {
    this.data = data;
    this.sheets = data.sheets.map((sheet) => (sheet.nodes = linked(sheet, data)));
    this.coloured = addColours(data.sheets);
    this.drawer = new Drawer(data, { address: stage.dataset.images, watch: lazily(stage) });
    const { around: behind, lines, topics, arrows } = this.drawer;
    this.world = element("g", {}, behind, lines, topics, arrows);
    this.svg = element("svg", { "aria-hidden": "true", focusable: "false" }, this.world);
    this.matches = [];
    this.#build();
    this.camera = new Camera(stage, this.world, (target) => this.#clicked(target));
    this.sheets.forEach((nodes, number) => this.#foldAtFirst(nodes, data.sheets[number]));
    this.open(0, { glide: false });
    this.#listen();
    this.follow(false);
    document.fonts?.ready.then(() => fit(this.svg));
  }

  /** Show another sheet of the file. */
  open(number, { glide = true } = {}) {
    this.number = number;
    this.nodes = this.sheets[number];
    this.sheet = this.data.sheets[number];
    stage.classList.remove(...this.sheets.map((_, at) => `sheet${at}`));
    stage.classList.add(`sheet${number}`);
    if (this.sheetMenu) this.sheetMenu.value = String(number);
    this.current = null;
    this.draw();
    this.fit(glide);
  }

  draw() {
    this.shown = unfolded(...rootsOf(this.nodes));
    this.placed = place(this.shown, this.sheet, this.data);
    this.drawer.show(this.shown, this.sheet, this.placed);
    fit(this.svg);
    this.#mark();
  }

  fit(glide = true) {
    // What would be too small to read is not made smaller: then the middle of the map is shown.
    this.camera.frameAll(bounds(this.shown, this.placed), { least: 0.42, most: 1.4, glide });
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
  select(node, { glide = true, address = true } = {}) {
    this.current = node;
    if (node) {
      let hidden = false;
      for (let above = node.above; above; above = above.above) {
        hidden ||= above.folded;
        above.folded = false;
      }
      if (hidden) this.draw();
      this.camera.reveal(box(node), { glide });
    }
    this.#mark();
    this.#tell(node);
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
    this.select(this.nodes.find((node) => node.id === id), { glide, address: false });
    // The browser has gone to the topic in the outline, which has the same address.
    stage.scrollIntoView({ block: "nearest" });
    stage.focus({ preventScroll: true });
  }

  search(text) {
    const wanted = plain(text.trim());
    this.matches = [];
    if (wanted) {
      this.sheets.forEach((nodes, sheet) => {
        for (const node of nodes) {
          node.plainText ??= plain(node.lines.map(([line]) => line).join(" "));
          if (node.plainText.includes(wanted)) this.matches.push({ sheet, node });
        }
      });
    }
    this.at = -1;
    if (this.matches.length) this.next(1);
    else {
      this.found.textContent = wanted ? said.notFound : "";
      this.#mark();
    }
  }

  next(step) {
    const count = this.matches.length;
    if (!count) return;
    this.at = (this.at + step + count) % count;
    const { sheet, node } = this.matches[this.at];
    if (sheet !== this.number) this.open(sheet, { glide: false });
    this.select(node);
    this.found.textContent = said.found
      .replace("{at}", this.at + 1)
      .replace("{count}", count);
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
    this.found = html("output", { class: "found-count" });
    this.input = html("input", {
      type: "search", placeholder: said.find, "aria-label": said.find, dir: "auto",
      autocomplete: "off",
    });
    const finder = html("div", { class: "finder control" }, this.input, this.found);
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
    this.panel = html("aside", { class: "detail control", hidden: "" });
    this.live = html("p", { class: "unseen", "aria-live": "polite" });
    const top = html("div", { class: "top" }, finder);
    if (this.sheets.length > 1) top.append(this.#sheetMenu());
    stage.setAttribute("tabindex", "0");
    stage.setAttribute("role", "application");
    stage.setAttribute("aria-label", said.stage);
    stage.append(this.svg, top, tools, this.panel, this.live);
    stage.classList.add("alive");
  }

  /** The colours of the author, or ours, as this reader prefers. */
  #colourSwitch(tool) {
    const show = (authors) => {
      stage.classList.toggle("authors", authors);
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

  #sheetMenu() {
    const options = this.sheets.map((nodes, number) => {
      const option = html("option", { value: number });
      const title = this.data.sheets[number].title || nodes[0].lines.map(([line]) => line).join(" ");
      option.textContent = title || `${number + 1}`;
      return option;
    });
    this.sheetMenu = html("select", { "aria-label": said.sheet, class: "control" }, ...options);
    this.sheetMenu.addEventListener("change", () => this.open(Number(this.sheetMenu.value)));
    return this.sheetMenu;
  }

  #listen() {
    stage.addEventListener("keydown", (event) => this.#key(event));
    this.input.addEventListener("input", () => this.search(this.input.value));
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.next(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") {
        this.input.value = "";
        this.search("");
        stage.focus();
      }
      event.stopPropagation();
    });
    addEventListener("hashchange", () => this.follow());
    let width = stage.clientWidth;
    new ResizeObserver(() => {
      if (stage.clientWidth !== width && !this.current) this.fit(false);
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
      "/": () => this.input.focus(),
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
    const matched = new Set(this.matches.map(({ node }) => node));
    for (const node of this.shown) {
      node.drawn.classList.toggle("current", node === this.current);
      node.drawn.classList.toggle("match", matched.has(node));
    }
  }

  /** Show what else there is to a topic, out of the outline, where the server has cleaned it. */
  #tell(node) {
    this.panel.hidden = true;
    this.panel.replaceChildren();
    this.live.textContent = node ? this.#spoken(node) : "";
    if (!node) return;
    const written = document.getElementById(`t=${node.id}`);
    const beside = [...(written?.children ?? [])].filter((one) => one.matches(".note, .more, .formula"));
    if (!beside.length) return;
    const title = html("p", { class: "title", dir: "auto" });
    title.textContent = node.lines.map(([line]) => line).join(" ");
    const close = html("button", { type: "button", class: "close", "aria-label": said.close });
    close.textContent = "×";
    close.addEventListener("click", () => {
      this.panel.hidden = true;
      stage.focus();
    });
    this.panel.append(close, title, ...beside.map((one) => one.cloneNode(true)));
    this.panel.hidden = false;
  }

  #spoken(node) {
    const text = node.lines.map(([line]) => line).join(" ");
    const level = said.level.replace("{level}", node.depth + 1);
    const folded = node.folded ? `, ${said.folded.replace("{count}", node.below)}` : "";
    return `${text}, ${level}${folded}`;
  }

  #fullscreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else stage.requestFullscreen().then(() => this.fit(false));
  }
}

function box(node) {
  return { x: node.x, y: node.y, width: node.width, height: node.height };
}

function bounds(nodes, placed = { boundaries: [] }) {
  const [x0, y0, x1, y1] = around(taken(nodes, placed));
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
