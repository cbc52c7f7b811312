// Topics, lines and what is around them as SVG: what render/drawing.py draws, as elements that can
// be moved and hidden.
//
// Every text goes in as text, never as markup. Colours are classes, so that light and dark, ours
// and the author's, are the style sheets' business.

import { along, Router } from "./arrows.js";
import { joint, left, near } from "./layout.js";
import { pieces } from "./pieces.js";
import { element, isLeftwards, round } from "./svg.js";

const STROKES = [0, 2.6, 1.7, 1.3, 1.1];
const COLOURS = 8;
const HEAD = 7;

export function colour(node) {
  return node.main < 0 ? "centre" : `m${node.main % COLOURS}`;
}

/** Draws topics; each is made once, when it is first seen. */
export class Drawer {
  constructor(data, images) {
    this.data = data;
    this.images = images;
    this.around = element("g", { class: "around" });
    this.lines = element("g", { class: "lines" });
    this.topics = element("g", { class: "topics" });
    this.arrows = element("g", { class: "arrows" });
  }

  /** Show just these topics, at their places, with what is around and between them. */
  show(nodes, sheet, { boundaries, braces }) {
    const lines = [];
    const topics = [];
    for (const node of nodes) {
      node.drawn ??= this.#topic(node, sheet);
      node.drawn.setAttribute("transform", `translate(${round(left(node))} ${round(node.y)})`);
      this.#count(node);
      topics.push(node.drawn);
      if (node.above && !node.summary) lines.push(connection(node, sheet));
    }
    const area = ({ box: [x0, y0, x1, y1] }) => (x1 - x0) * (y1 - y0);
    boundaries.sort((one, other) => area(other) - area(one));
    this.around.replaceChildren(...boundaries.map((one) => this.#boundary(one, sheet)));
    this.lines.replaceChildren(...lines, ...braces.map((one) => brace(one, sheet)));
    this.topics.replaceChildren(...topics);
    this.arrows.replaceChildren(...this.#arrows(nodes, sheet));
  }

  #topic(node, sheet) {
    const { kind, more } = node;
    const classes = ["topic", kind.boxed ? "boxed" : "plain", colour(node), styled(more.c, sheet)];
    if (kind.outlined) classes.push("outlined");
    if (more.i) classes.push("italic");
    const group = element("g", { class: classes.filter(Boolean).join(" "), "data-topic": node.id });
    const line = kind.size * this.data.lineHeight;
    const corner = kind.boxed ? 0.45 * (line + 2 * kind.down) : 3;
    group.append(body(node, corner));
    const [start, top, width] = more.t ?? [kind.across, kind.down, node.body - 2 * kind.across];
    node.lines.forEach(([text, wide], row) => {
      if (!text) return;
      const y = top + line * row + line / 2 + (this.data.ascent - 0.62) * kind.size;
      group.append(words(text, wide, start, width, y, node));
    });
    group.append(...pieces(node, this.data, this.images));
    return group;
  }

  /** Show how many topics are folded away, or that a branch can be folded. */
  #count(node) {
    node.drawn.querySelector(".handle")?.remove();
    node.drawn.classList.toggle("folded", node.folded);
    if (!node.children.length || !node.depth) return;
    const { size, gap } = this.data.count;
    const y = node.kind.boxed ? node.plain / 2 : node.plain;
    const outer = node.side >= 0 ? node.body : 0;
    const handle = element("g", { class: "handle" });
    if (node.count) {
      const letters = node.kind.size * size;
      const height = letters * this.data.lineHeight;
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

  #boundary({ box: [x0, y0, x1, y1], group, main }, sheet) {
    const drawn = element("g", { class: `${colour({ main })} ${styled(group.style, sheet)}` });
    drawn.append(element("rect", {
      x: round(x0), y: round(y0), width: round(x1 - x0), height: round(y1 - y0), rx: 9,
    }));
    if (group.text) {
      const size = this.data.label;
      drawn.append(label(group.text, x0 + 7, y0 + 1.25 * size, group.width, size, "start"));
    }
    return drawn;
  }

  #arrows(nodes, sheet) {
    if (!sheet.arrows?.length) return [];
    const shown = new Set(nodes);
    const drawn = [];
    let router = null;
    for (const [from, to, text, width, style] of sheet.arrows) {
      const [start, end] = [from, to].map((place) => nearest(sheet.nodes[place], shown));
      if (start === end) continue;
      router ??= new Router(nodes);
      const curve = router.curve(start, end, width, boxOf);
      drawn.push(this.#arrow(curve, text, width, styled(style, sheet)));
    }
    return drawn;
  }

  #arrow(curve, text, width, style) {
    const [from, first, second, to] = curve.map((point) => point.map(round).join(" "));
    const [[x2, y2], [x3, y3]] = curve.slice(2);
    const length = Math.hypot(x2 - x3, y2 - y3) || 1;
    const [right, down] = [((x2 - x3) / length) * HEAD, ((y2 - y3) / length) * HEAD];
    const tip = [[x3, y3], [x3 + right + down / 2, y3 + down - right / 2],
      [x3 + right - down / 2, y3 + down + right / 2]];
    const group = element("g", { class: `arrow ${style}` },
      element("path", { class: "curve", d: `M${from}C${first} ${second} ${to}` }),
      element("path", { class: "head", d: `M${tip.map((point) => point.map(round).join(" ")).join("L")}Z` }),
    );
    if (text) {
      const [x, y] = along(curve, 0.5);
      const size = this.data.label;
      group.append(
        element("rect", {
          x: round(x - width / 2 - 3), y: round(y - 7), width: round(width + 6), height: 14, rx: 4,
        }),
        label(text, x, y + 0.35 * size, width, size, "middle"),
      );
    }
    return group;
  }
}

/** The class of what its author gave colours. */
function styled(style, sheet) {
  return style >= 0 ? `${sheet.prefix}${style}` : "";
}

function nearest(node, shown) {
  while (!shown.has(node)) node = node.above;
  return node;
}

function boxOf(node) {
  return [node.x, node.y, node.x + node.width, node.y + node.height];
}

function body(node, corner) {
  const { body: width, plain: height } = node;
  const shape = node.more.x;
  if (shape === "diamond" || shape === "hexagon") {
    const cut = Math.min(height / 2, node.kind.across + 4) / 2;
    const half = height / 2;
    return element("path", {
      class: "body",
      d: `M${-cut} ${half}L${cut} 0H${width - cut}L${width + cut} ${half}L${width - cut} ${height}H${cut}Z`,
    });
  }
  const rounds = { rectangle: 1, ellipse: height / 2, cloud: height / 2 };
  return element("rect", { class: "body", width, height, rx: round(rounds[shape] ?? corner) });
}

function words(text, width, start, room, y, node) {
  const { kind } = node;
  const backwards = isLeftwards(text);
  const anchor = kind.boxed ? 0.5 : node.side < 0 ? 1 : 0;
  // With text that runs leftwards "start" is the right end.
  const name = ["start", "middle", "end"][2 * (backwards ? 1 - anchor : anchor)];
  const made = element("text", {
    x: round(start + anchor * room), y: round(y), "font-size": kind.size, "text-anchor": name,
  }, text);
  if (backwards) made.setAttribute("direction", "rtl");
  if (kind.bold || node.more.b) made.setAttribute("class", "bold");
  made.dataset.width = width;
  return made;
}

function label(text, x, y, width, size, anchor) {
  const made = element("text", {
    x: round(x), y: round(y), "font-size": size, "text-anchor": anchor,
  }, text);
  if (isLeftwards(text)) {
    made.setAttribute("direction", "rtl");
    if (anchor === "start") made.setAttribute("text-anchor", "end");
  }
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

function connection(node, sheet) {
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
  const classes = `${colour(node)} ${styled(node.more.c, sheet)} ${node.more.n ? "remark" : ""}`;
  return element("path", { d: path, class: classes.trim(), "stroke-width": width });
}

function departure(node, parent) {
  if (!parent.depth) return [node.side * 0.3 * parent.body, 0];
  return [node.side > 0 ? parent.x + parent.width : parent.x, joint(parent)];
}

/** A brace whose point is at its summary. */
function brace({ x: start, top, bottom, side, summary, brace: room }, sheet) {
  const x = round(start + side * 5);
  const half = (top + bottom) / 2;
  const bend = Math.min(6, (bottom - top) / 4);
  const out = round((side * (room - 10)) / 2);
  const path = `M${x} ${round(top)}q${out} 0 ${out} ${round(bend)}V${round(half - bend)}`
    + `q0 ${round(bend)} ${out} ${round(bend)}`
    + `M${x} ${round(bottom)}q${out} 0 ${out} ${round(-bend)}V${round(half + bend)}`
    + `q0 ${round(-bend)} ${out} ${round(-bend)}`;
  const classes = `${colour(summary)} ${styled(summary.more.c, sheet)}`;
  return element("path", { d: path, class: classes.trim(), "stroke-width": 1.4 });
}


