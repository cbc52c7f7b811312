// Draws topics, lines and boundaries like render/drawing.py, but as SVG elements that can be moved
// and hidden.
//
// Text is inserted as text nodes, never as markup. Colours are classes, so that style sheets define
// the light and dark themes and the author's colours.

import { along, Router, straight } from "./arrows.js";
import {
  between, clipped, contains, distinct, grown, holding, keep, touches,
} from "./culling.js";
import { joint, left, near } from "./layout.js";
import { pieces } from "./pieces.js";
import { element, isLeftwards, label, round } from "./svg.js";

const STROKES = [0, 2.6, 1.7, 1.3, 1.1];
const COLOURS = 8;
const HEAD = 7;
const SLACK = 7; // around the words on an arrow, for its head and their ground
const DASHES = 8; // length of a dash of an arrow and the gap after it, as in the style sheet
const LARGE = 1500; // topics: of a larger map only what is near the view is drawn
const FAR = 0.22; // scale at which letters are but dots: of a large map only lines and boxes are drawn
const LEAST_LABEL = 0.3; // scale at which words on arrows are but dots
const READABLE = 0.6; // scale at which they can be read
const BUSY = 600; // arrows: so many are drawn without words and dashes unless these can be read
const ARROW = 4; // topics that take as long to draw as one arrow
const LONG = 2; // heights of what is drawn: longer lines are drawn in part

export function colour(node) {
  return node.main < 0 ? "centre" : `m${node.main % COLOURS}`;
}

/** Draws topics; each is made once, when it is first seen. */
export class Drawer {
  /**
   * @param data of the map.
   * @param images where its pictures are, and what waits until they are seen.
   * @param decorate called with each topic that is drawn.
   */
  constructor(data, images, decorate) {
    this.data = data;
    this.images = images;
    this.decorate = decorate;
    this.around = element("g", { class: "around" });
    this.lines = element("g", { class: "lines" });
    this.topics = element("g", { class: "topics" });
    this.arrows = element("g", { class: "arrows" });
    this.view = { x: 0, y: 0, width: 0, height: 0, scale: 1 };
  }

  /** Show only these topics, at their positions, with their lines and boundaries. */
  show(nodes, sheet, { boundaries, braces }) {
    this.nodes = nodes;
    this.sheet = sheet;
    const area = ({ box: [x0, y0, x1, y1] }) => (x1 - x0) * (y1 - y0);
    boundaries.sort((one, other) => area(other) - area(one));
    this.boundaries = boundaries;
    this.braces = braces;
    this.#route(nodes, sheet);
    for (const node of nodes) node.line = null;
    this.drawn = null;
    this.look(this.view);
  }

  /** Draw the viewport, a rectangle of the map at a scale, unless already drawn. */
  look(view) {
    this.view = view;
    if (this.nodes.length + ARROW * this.links.length <= LARGE) {
      if (!this.drawn) this.#draw({});
      this.drawn = { whole: true };
      return;
    }
    const detail = [FAR, LEAST_LABEL, READABLE].filter((least) => view.scale < least).length;
    if (this.drawn?.detail === detail && contains(this.drawn.room, view)) return;
    const room = grown(view);
    this.drawn = { detail, room };
    this.#draw({ room, scale: view.scale });
  }

  /** Draw everything that is shown, whatever is in view. */
  drawAll() {
    this.#draw({});
    this.drawn = null;
  }

  /** Whether nothing of the map is in a room. */
  isEmpty(room) {
    const touch = (box) => touches(room, box);
    return !this.nodes.some((node) => touch(boxOf(node)))
      && !this.boundaries.some(({ box }) => touch(box))
      && !this.braces.some((one) => touch(roomOfBrace(one)))
      && !this.nodes.some((node) => hasLine(node) && touch(boxOfLine(node))
        && clipped(stroke(node).curve, room))
      && !this.links.some(({ box, curve, label }) => (
        touch(box) && (clipped(curve, room) || (label && touch(label)))
      ));
  }

  /** Draw a region or everything; when zoomed out, without indistinguishable elements. */
  #draw({ room, scale = 1 }) {
    const isIn = (box) => !room || touches(room, box);
    const far = room && scale < FAR;
    const nodes = this.nodes.filter((node) => isIn(boxOf(node)) && !(far && !node.kind.boxed));
    for (const node of nodes) {
      node.drawn ??= this.#topic(node, this.sheet);
      node.drawn.setAttribute("transform", `translate(${round(left(node))} ${round(node.y)})`);
      this.#count(node);
      this.decorate(node);
    }
    const drawn = (one, make) => (one.drawn ??= make(one, this.sheet));
    keep(this.topics, nodes.map((node) => node.drawn));
    keep(this.around, this.boundaries.filter(({ box }) => isIn(box))
      .map((one) => drawn(one, (made) => this.#boundary(made, this.sheet))));
    const lines = this.#lines(room, scale);
    const braces = this.braces.filter((one) => isIn(roomOfBrace(one)));
    keep(this.lines, [...(far ? merged(lines) : lines), ...braces.map((one) => drawn(one, brace))]);
    keep(this.arrows, this.#arrows(room, scale));
    for (const group of [this.topics, this.around, this.arrows]) fit(group);
  }

  /** The lines between topics; long parallel lines only where distinguishable. */
  #lines(room, scale) {
    const joined = this.nodes.filter((node) => (
      hasLine(node) && (!room || touches(room, boxOfLine(node)))
    ));
    if (!room) return joined.map((node) => (node.line ??= connection(node, this.sheet)));
    const [top, bottom] = [room.y, room.y + room.height];
    const lines = [];
    for (const node of joined) {
      const { curve, tail } = stroke(node);
      const heights = [curve[0][1], curve[3][1]].sort((one, other) => one - other);
      if (node.more.h || heights[1] - heights[0] < LONG * room.height) lines.push({ node });
      else {
        const seen = between(curve, Math.max(top, heights[0]), Math.min(bottom, heights[1]));
        const ends = heights[1] <= bottom && heights[0] >= top;
        const arrives = touches(room, boxOf(node)) || ends;
        lines.push({ node, curve: seen, tail: arrives ? tail : "" });
      }
    }
    const pixel = (value) => Math.round(value * scale);
    const kept = distinct(lines, ({ node, curve, tail }) => (
      curve && !tail ? `${pixel(curve[0][0])} ${pixel(curve[3][0])} ${widthOf(node)}` : ""
    ));
    return kept.map(({ node, curve, tail }) => (
      curve ? connection(node, this.sheet, { curve, tail })
        : (node.line ??= connection(node, this.sheet))
    ));
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
    node.lines.forEach(([text, wide, parts = []], row) => {
      if (!text) return;
      const y = top + line * row + line / 2 + (this.data.ascent - 0.62) * kind.size;
      group.append(...code(text, wide, parts, start, width, y, node));
      group.append(words(text, wide, parts, start, width, y, node));
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
      const wide = Math.max(26, node.countWidth);
      handle.append(
        element("rect", {
          class: "reach", x: round(x + (node.countWidth - wide) / 2), y: round(half - 13),
          width: round(wide), height: 26,
        }),
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
        element("circle", { class: "reach", cx: outer, cy: y, r: 13 }),
        element("circle", { class: "dot", cx: outer, cy: y, r: 3.4 }),
      );
    }
    node.drawn.append(handle);
  }

  #boundary({ box: [x0, y0, x1, y1], group, main }, sheet) {
    const own = styled(group.style, sheet);
    const drawn = element("g", { class: `${colour({ main })} ${own && `${own} tinted`}` });
    drawn.append(element("rect", {
      x: round(x0), y: round(y0), width: round(x1 - x0), height: round(y1 - y0), rx: 9,
    }));
    if (group.text) {
      const size = this.data.label;
      drawn.append(label(group.text, x0 + 7, y0 + 1.25 * size, group.width, size, "start"));
    }
    return drawn;
  }

  /** Find the curves of the arrows, and note how far they reach. */
  #route(nodes, sheet) {
    this.links = [];
    const shown = new Set(nodes);
    const router = sheet.arrows?.length ? new Router(nodes) : null;
    for (const [from, to, text, width, style, heads = "end", point] of sheet.arrows ?? []) {
      const [start, end] = [from, to].map((place) => nearest(sheet.nodes[place], shown));
      const itself = from === to && start === sheet.nodes[from];
      if (start === end && !itself) continue;
      const curve = point ? straight(boxOf(start), point) : router.curve(start, end, width, boxOf);
      const [x, y] = along(curve, 0.5);
      const half = width / 2 + SLACK;
      const label = text ? [x - half, y - SLACK, x + half, y + SLACK] : null;
      const box = holding([...curve, [x - half, y - SLACK], [x + half, y + SLACK]]);
      this.links.push({ curve, text, width, style: styled(style, sheet), heads, box, label });
    }
    this.reached = this.links.map(({ box }) => box);
  }

  /** The arrows in a room, or all of them. */
  #arrows(room, scale) {
    if (!room) return this.links.map((link) => (link.drawn ??= this.#arrow(link)));
    const seen = this.links.filter(({ box }) => touches(room, box));
    const busy = scale < READABLE && seen.length > BUSY;
    if (scale < LEAST_LABEL || busy) return strokes(seen, room);
    return seen.map((link) => {
      const [x0, y0, x1, y1] = link.box;
      const long = x1 - x0 > LONG * room.width || y1 - y0 > LONG * room.height;
      if (!long) return (link.drawn ??= this.#arrow(link));
      const found = clipped(link.curve, room);
      return found && this.#arrow({ ...link, ...found, whole: link.curve });
    }).filter(Boolean);
  }

  /** An arrow; of one that is drawn in part, `curve` is that part of the `whole`. */
  #arrow({ curve, text, width, style, heads, before = 0, whole = curve }) {
    const line = element("path", { class: "curve", d: written(curve) });
    if (before) line.setAttribute("stroke-dashoffset", round(before % DASHES));
    const group = element("g", { class: `arrow ${style}` }, line);
    const [from, first, second, to] = whole;
    if (heads === "end" || heads === "both") group.append(head(second, to));
    if (heads === "start" || heads === "both") group.append(head(first, from));
    if (text) {
      const [x, y] = along(whole, 0.5);
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

/** The head of an arrow at a point; its line comes from another one. */
function head([x2, y2], [x3, y3]) {
  const length = Math.hypot(x2 - x3, y2 - y3) || 1;
  const [right, down] = [((x2 - x3) / length) * HEAD, ((y2 - y3) / length) * HEAD];
  const tip = [[x3, y3], [x3 + right + down / 2, y3 + down - right / 2],
    [x3 + right - down / 2, y3 + down + right / 2]];
  const d = `M${tip.map((point) => point.map(round).join(" ")).join("L")}Z`;
  return element("path", { class: "head", d });
}

/** Whether anything is drawn of the line to a topic. */
function hasLine(node) {
  return node.above && !node.summary && !(node.more.h && node.kind.boxed);
}

function nearest(node, shown) {
  while (!shown.has(node)) node = node.above;
  return node;
}

function boxOf({ x, y, width, height }) {
  return [x, y, x + width, y + height];
}

/** The box of the line between a topic and the one above it, and of both. */
function boxOfLine(node) {
  const [one, other] = [boxOf(node), boxOf(node.above)];
  return [
    Math.min(one[0], other[0]), Math.min(one[1], other[1]),
    Math.max(one[2], other[2]), Math.max(one[3], other[3]),
  ];
}

function roomOfBrace({ x, top, bottom, side, brace: room }) {
  return holding([[x, top], [x + side * room, bottom]]);
}

/** A curve as the path of an element. */
function written(curve) {
  const [from, first, second, to] = curve.map((point) => point.map(round).join(" "));
  return `M${from}C${first} ${second} ${to}`;
}

/** Arrows from far, those of a colour as one line; their dashes and heads could not be seen. */
function strokes(links, room) {
  const groups = new Map();
  for (const { curve, style } of links) {
    const found = clipped(curve, room);
    if (found) groups.set(style, `${groups.get(style) ?? ""}${written(found.curve)}`);
  }
  return [...groups].map(([style, d]) => (
    element("g", { class: `arrow ${style}` }, element("path", { class: "curve far", d }))
  ));
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

/** Where in its room a line stays, whatever its width: 0 is the left end. */
function anchorOf(node) {
  return node.kind.boxed ? 0.5 : node.side < 0 ? 1 : 0;
}

/** A line around each piece of code in a line of text. */
function code(text, width, parts, start, room, y, node) {
  if (isLeftwards(text)) return [];
  const { size } = node.kind;
  let x = start + anchorOf(node) * (room - width);
  return parts.map(([, wide, ...marks]) => {
    const from = x;
    x += wide;
    return marks.includes("code") && element("rect", {
      class: "code", x: round(from - 1.5), y: round(y - 0.98 * size), width: round(wide + 3),
      height: round(1.26 * size), rx: 2.5,
    });
  }).filter(Boolean);
}

function words(text, width, parts, start, room, y, node) {
  const { kind } = node;
  const backwards = isLeftwards(text);
  const anchor = anchorOf(node);
  // With text that runs leftwards "start" is the right end.
  const name = ["start", "middle", "end"][2 * (backwards ? 1 - anchor : anchor)];
  const made = element("text", {
    x: round(start + anchor * room), y: round(y), "font-size": kind.size, "text-anchor": name,
  }, ...(parts.length ? parts.map(marked) : [text]));
  if (backwards) made.setAttribute("direction", "rtl");
  if (kind.bold || node.more.b) made.setAttribute("class", "bold");
  made.dataset.width = width;
  return made;
}

function marked([text, , ...marks]) {
  return marks.length ? element("tspan", { class: marks.join(" ") }, text) : text;
}

/** Make lines that came out wider than their room fit it: fonts differ beyond our own. */
export function fit(root) {
  const texts = [...root.querySelectorAll("text[data-width]")];
  // All are measured before any is changed: a change makes the browser measure anew.
  const wide = texts.map((text) => text.getComputedTextLength());
  texts.forEach((text, at) => {
    const room = Number(text.dataset.width);
    delete text.dataset.width;
    if (wide[at] > room + 1.5) {
      text.setAttribute("textLength", room);
      text.setAttribute("lengthAdjust", "spacingAndGlyphs");
    }
  });
}

/** Lines that look alike as one element, which is drawn much faster. */
function merged(lines) {
  const groups = new Map();
  for (const line of lines) {
    const key = `${line.getAttribute("class")} ${line.getAttribute("stroke-width")}`;
    if (groups.has(key)) groups.get(key).push(line);
    else groups.set(key, [line]);
  }
  return [...groups.values()].map((alike) => {
    const one = alike[0].cloneNode(); // the lines themselves are kept for when they are seen near
    one.setAttribute("d", alike.map((line) => line.getAttribute("d")).join(""));
    return one;
  });
}

/** The line to a topic: a curve, and what follows it below a topic without a box. */
function stroke(node) {
  const [start, height] = departure(node, node.above);
  const end = near(node);
  const bend = start + 0.55 * (end - start);
  const to = joint(node);
  return {
    curve: [[start, height], [bend, height], [bend, to], [end, to]],
    tail: node.kind.boxed ? "" : `H${round(end + node.side * node.body)}`,
  };
}

function widthOf(node) {
  return STROKES[Math.min(node.depth, STROKES.length - 1)];
}

function connection(node, sheet, { curve, tail } = stroke(node)) {
  const [[x0, y0], , , [x3, y3]] = curve;
  const flat = Math.abs(y0 - y3) <= 0.05;
  let path = flat ? `M${round(x0)} ${round(y0)}H${round(x3)}` : written(curve);
  if (node.more.h) path = `M${round(x3)} ${round(y3)}`; // only the line below the topic
  const dashed = node.more.n && !node.more.h;
  const classes = `${colour(node)} ${styled(node.more.c, sheet)} ${dashed ? "remark" : ""}`;
  return element("path", { d: path + tail, class: classes.trim(), "stroke-width": widthOf(node) });
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


