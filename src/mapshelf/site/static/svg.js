// Helpers for creating SVG elements and lines of text.

const SVG = "http://www.w3.org/2000/svg";
const LEFTWARDS = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const RIGHTWARDS = /[A-Za-z\u00c0-\u058f\u0900-\u1fff\u3040-\ud7af]/;

export function element(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function isLeftwards(text) {
  const [back, forth] = [text.search(LEFTWARDS), text.search(RIGHTWARDS)];
  return back >= 0 && (forth < 0 || back < forth);
}

export function round(value) {
  return Math.round(value * 10) / 10;
}

/** A line of text that is made to fit its width, whatever the font. */
export function label(text, x, y, width, size, anchor) {
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
