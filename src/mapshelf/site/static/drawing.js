// Topics and lines as SVG: what render/svg.py draws, as elements that can be moved and hidden.
//
// Every text goes in as text, never as markup. Colours are classes, so that light and dark are the
// style sheet's business.

import { joint, left, middle, near } from "./layout.js";

const SVG = "http://www.w3.org/2000/svg";
const STROKES = [0, 2.6, 1.7, 1.3, 1.1];
const COLOURS = 8;
const LEFTWARDS = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const RIGHTWARDS = /[A-Za-z\u00c0-\u058f\u0900-\u1fff\u3040-\ud7af]/;

export function element(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function colour(node) {
  return node.main < 0 ? "centre" : `m${node.main % COLOURS}`;
}

/** Draws topics; each is made once, when it is first seen. */
export class Drawer {
  constructor(measures) {
    this.measures = measures;
    this.lines = element("g", { class: "lines" });
    this.topics = element("g", { class: "topics" });
  }

  /** Show just these topics, at their places. */
  show(nodes) {
    const lines = [];
    const topics = [];
    for (const node of nodes) {
      node.drawn ??= this.#topic(node);
      node.drawn.setAttribute("transform", `translate(${round(left(node))} ${round(node.y)})`);
      this.#count(node);
      topics.push(node.drawn);
      if (node.above) lines.push(connection(node));
    }
    this.lines.replaceChildren(...lines);
    this.topics.replaceChildren(...topics);
  }

  #topic(node) {
    const { kind } = node;
    const group = element("g", {
      class: `topic ${kind.boxed ? "boxed" : "plain"} ${colour(node)}`,
      "data-topic": node.id,
    });
    const line = kind.size * this.measures.lineHeight;
    const corner = kind.boxed ? 0.45 * (line + 2 * kind.down) : 3;
    group.append(
      element("rect", { class: "body", width: node.body, height: node.plain, rx: round(corner) }),
    );
    const top = node.plain / 2 - (line * node.lines.length) / 2;
    node.lines.forEach(([text, width], row) => {
      if (!text) return;
      const y = top + line * row + line / 2 + (this.measures.ascent - 0.62) * kind.size;
      group.append(words(text, width, y, node));
    });
    return group;
  }

  /** Show how many topics are folded away, or that a branch can be folded. */
  #count(node) {
    node.drawn.querySelector(".handle")?.remove();
    node.drawn.classList.toggle("folded", node.folded);
    if (!node.children.length || !node.above) return;
    const { size, padding, gap } = this.measures.count;
    const y = node.kind.boxed ? node.plain / 2 : node.plain;
    const outer = node.side >= 0 ? node.body : 0;
    const handle = element("g", { class: "handle" });
    if (node.count) {
      const letters = node.kind.size * size;
      const height = letters * this.measures.lineHeight;
      const x = node.side >= 0 ? outer + gap : outer - gap - node.countWidth;
      const half = node.plain / 2;
      handle.append(
        element("rect", {
          x: round(x), y: round(half - height / 2), width: round(node.countWidth),
          height: round(height), rx: round(height / 2),
        }),
        element("text", {
          x: round(x + node.countWidth / 2), y: round(half + 0.35 * letters),
          "font-size": letters, "text-anchor": "middle",
        }, node.count),
      );
    } else {
      handle.append(
        element("circle", { class: "reach", cx: outer, cy: y, r: 11 }),
        element("circle", { class: "dot", cx: outer, cy: y, r: 3.4 }),
      );
    }
    node.drawn.append(handle);
  }
}

function words(text, width, y, node) {
  const { kind } = node;
  const backwards = isLeftwards(text);
  const anchor = kind.boxed ? 0.5 : node.side < 0 ? 1 : 0;
  const x = kind.across + anchor * (node.body - 2 * kind.across);
  // With text that runs leftwards "start" is the right end.
  const name = ["start", "middle", "end"][2 * (backwards ? 1 - anchor : anchor)];
  const made = element("text", {
    x: round(x), y: round(y), "font-size": kind.size, "text-anchor": name,
  }, text);
  if (backwards) made.setAttribute("direction", "rtl");
  if (kind.bold) made.setAttribute("class", "bold");
  made.dataset.width = width;
  return made;
}

/** Make lines that came out wider than their room fit it: fonts differ beyond our own. */
export function fit(root) {
  for (const text of root.querySelectorAll("text[data-width]")) {
    const room = Number(text.dataset.width);
    delete text.dataset.width;
    if (text.getComputedTextLength() > room + 1.5) {
      text.setAttribute("textLength", room);
      text.setAttribute("lengthAdjust", "spacingAndGlyphs");
    }
  }
}

function isLeftwards(text) {
  const [back, forth] = [text.search(LEFTWARDS), text.search(RIGHTWARDS)];
  return back >= 0 && (forth < 0 || back < forth);
}

function connection(node) {
  const [start, height] = departure(node, node.above);
  const end = near(node);
  const bend = start + 0.55 * (end - start);
  const to = joint(node);
  let path = `M${round(start)} ${round(height)}`;
  path += Math.abs(height - to) > 0.05
    ? `C${round(bend)} ${round(height)} ${round(bend)} ${round(to)} ${round(end)} ${round(to)}`
    : `H${round(end)}`;
  if (!node.kind.boxed) path += `H${round(end + node.side * node.body)}`;
  const width = STROKES[Math.min(node.depth, STROKES.length - 1)];
  return element("path", { d: path, class: colour(node), "stroke-width": width });
}

function departure(node, parent) {
  if (!parent.above) return [node.side * 0.3 * parent.body, 0];
  return [node.side > 0 ? parent.x + parent.width : parent.x, joint(parent)];
}

function round(value) {
  return Math.round(value * 10) / 10;
}
