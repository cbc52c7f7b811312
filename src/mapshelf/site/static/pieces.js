// Draws the content of a topic's box besides its text (icons, marks, tags, details, attributes,
// images, formulas) at the positions that the server computed. render/pieces.py draws the same.

import { element, label, round } from "./svg.js";

const WIDTHS = [160, 320, 640]; // of pictures that the server makes

/** The pieces of a topic as elements. */
export function pieces(node, data, images) {
  return (node.more.p ?? []).map(([kind, name, x, y, width, height, says]) => {
    const place = { name, x, y, width, height, says };
    if (kind === "glyph") return icon(place, data);
    if (kind === "mark") return mark(place, data);
    if (kind === "tag") return tag(place);
    if (kind === "subtext") return subtext(place, data);
    if (kind === "cell") return cell(place, data);
    if (kind === "formula") return formula(place, data);
    return kind === "emoji" ? emoji(place) : picture(place, images);
  });
}

function icon({ name, x, y, width, height, says }, { glyphs, glyphBox }) {
  const [path, fill, edge, text] = glyphs[name];
  const half = height / 2;
  const group = element("g", { class: "icon", transform: `translate(${x} ${y})` },
    element("title", {}, says),
    element("circle", { class: "plate", cx: width / 2, cy: half, r: round(0.58 * height) }),
    shape(path, height / glyphBox, { fill, ...(edge && { stroke: edge, "stroke-width": 0.8 }) }),
  );
  if (text) {
    group.append(element("text", {
      x: half, y: round(0.76 * height), "font-size": round(0.42 * height), "text-anchor": "middle",
    }, text));
  }
  return group;
}

function mark({ name, x, y, height, says }, { glyphs, glyphBox }) {
  const [path] = glyphs[`mark ${name}`];
  return element("g", { class: `mark mark-${name}`, transform: `translate(${x} ${y})` },
    element("title", {}, says),
    element("rect", { class: "reach", width: height, height }),
    shape(path, height / glyphBox, {}),
  );
}

function shape(path, scale, attributes) {
  return element("path", { d: path, transform: `scale(${scale.toFixed(4)})`, ...attributes });
}

function tag({ name, x, y, width, height }) {
  const text = element("text", {
    x: width / 2, y: round(0.74 * height), "font-size": round(height / 1.45),
    "text-anchor": "middle",
  }, name);
  text.dataset.width = width - 10;
  return element("g", { class: "tag", transform: `translate(${x} ${y})` },
    element("rect", { width, height, rx: round(height / 2) }), text);
}

function subtext({ name, x, y, width, height }, { lineHeight }) {
  const middle = [x + width / 2, y + 0.74 * height];
  return element("g", { class: "subtext" },
    label(name, ...middle, width, round(height / lineHeight), "middle"));
}

function cell({ name, x, y, width, height, says }, { cell: [high, padding] }) {
  const room = width - 2 * padding;
  return element("g", { class: "cell", transform: `translate(${x} ${y})` },
    ...(says ? [element("title", {}, says)] : []),
    element("rect", { width, height }),
    label(name, padding, 0.69 * height, room, round(height / high), "start"));
}

function formula({ name, x, y, height }, { formulas }) {
  const [path, high] = formulas[name];
  return element("g", { class: "formula", transform: `translate(${x} ${y})` },
    element("title", {}, name),
    element("path", { d: path, transform: `scale(${(height / high).toFixed(5)})` }));
}

function emoji({ name, x, y, width, height }) {
  return element("text", {
    class: "emoji", x: round(x + width / 2), y: round(y + 0.78 * height),
    "font-size": round(height / 1.2), "text-anchor": "middle",
  }, name);
}

/** Images are requested when they come near the viewport. */
function picture({ name, x, y, width, height, says }, { address, watch }) {
  const wide = WIDTHS.find((one) => one >= 1.5 * width) ?? WIDTHS.at(-1);
  const made = element("image", { x, y, width, height, role: "img", "aria-label": says },
    element("title", {}, says));
  made.dataset.href = `${address}/${encodeURIComponent(name)}.png?w=${wide}`;
  watch(made);
  return element("g", { class: "picture" },
    element("rect", { class: "frame", x, y, width, height, rx: 2 }), made);
}
