// Printing: the unfolded part of the map, on one page if legible, otherwise on several pages; then
// the full outline as text. The drawing is reused for each page.

import { html } from "./page.js";
import { element } from "./svg.js";

// Pixels of 1/96 inch that A4 and Letter both have inside the margins of the style sheet, without
// what is said above.
const PAGES = { portrait: [680, 890], landscape: [950, 620] };
const LARGEST = 1; // scale
const ONE_PAGE = 0.64; // least scale of a map on one page: letters of 6 points
const SEVERAL = 0.8; // scale of a map on several pages
const MOST = 40; // pages
const OVERLAP = 24; // pixels that neighbouring pages share
const MARGIN = 8; // around the map, in its own units

/**
 * Prepare for printing.
 * @param stage the element before which the pages stand.
 * @param bounds returns the rectangle that the drawing takes, after drawing all of it.
 * @param isEmpty returns whether a rectangle contains nothing of the drawing.
 * @param restore called afterwards.
 */
export function preparePrinting(stage, { bounds, isEmpty, restore }) {
  let made = null;
  let closed = [];
  addEventListener("beforeprint", () => {
    made?.remove();
    made = pages(bounds(), isEmpty);
    // The author's colours are those of the stage.
    made.classList.add(...[...stage.classList].filter((name) => /^(authors|sheet\d+)$/.test(name)));
    stage.before(made);
    closed = [...document.querySelectorAll("#outline details:not([open])")];
    for (const one of closed) one.open = true;
  });
  addEventListener("afterprint", () => {
    made?.remove();
    made = null;
    for (const one of closed) one.open = false;
    restore();
  });
}

function pages({ x, y, width, height }, isEmpty) {
  const box = {
    x: x - MARGIN, y: y - MARGIN, width: width + 2 * MARGIN, height: height + 2 * MARGIN,
  };
  const [way, scale, across, down] = best(box);
  const [wide, high] = PAGES[way];
  const step = [(wide - OVERLAP) / scale, (high - OVERLAP) / scale];
  const made = html("div", { class: `pages ${way}`, "aria-hidden": "true" });
  const views = [];
  for (let row = 0; row < down; row += 1) {
    for (let column = 0; column < across; column += 1) {
      const left = box.x + column * step[0];
      const top = box.y + row * step[1];
      const view = {
        x: left,
        y: top,
        width: Math.min(wide / scale, box.x + box.width - left),
        height: Math.min(high / scale, box.y + box.height - top),
      };
      if (!isEmpty(view)) views.push(view);
    }
  }
  views.forEach((view, at) => {
    const svg = element("svg", {
      viewBox: [view.x, view.y, view.width, view.height].join(" "),
      width: view.width * scale,
      height: view.height * scale,
    }, element("use", { href: "#paper" }));
    const place = views.length > 1 ? ` · ${at + 1} / ${views.length}` : "";
    const title = html("p", { class: "title", dir: "auto" }, document.title + place);
    made.append(html("div", { class: "page" }, title, svg));
  });
  return made;
}

/** The orientation, the scale, and how many pages there are across and down. */
function best(box) {
  const whole = Object.entries(PAGES).map(([way, [wide, high]]) => (
    [way, Math.min(LARGEST, wide / box.width, high / box.height), 1, 1]
  ));
  const [largest] = whole.sort((one, other) => other[1] - one[1]);
  if (largest[1] >= ONE_PAGE) return largest;
  let scale = SEVERAL;
  for (;;) {
    const tiled = Object.entries(PAGES).map(([way, [wide, high]]) => {
      const count = (length, page) => (
        Math.max(1, Math.ceil((length * scale - OVERLAP) / (page - OVERLAP)))
      );
      return [way, scale, count(box.width, wide), count(box.height, high)];
    });
    const [fewest] = tiled.sort((one, other) => one[2] * one[3] - other[2] * other[3]);
    if (fewest[2] * fewest[3] <= MOST) return fewest;
    scale *= 0.9;
  }
}
