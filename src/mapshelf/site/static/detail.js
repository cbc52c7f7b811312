// The detail panel with the note, links and metadata of a topic. It is at the side of a wide stage
// and at the bottom of a narrow one; the map moves so that the topic stays in view.

import { html, plain } from "./page.js";
import { details, nameOf, related } from "./topic.js";

export class Detail {
  constructor(stage, said, closed) {
    this.stage = stage;
    this.said = said;
    const close = html("button", { type: "button", class: "close", "aria-label": said.close });
    close.textContent = "×";
    close.addEventListener("click", () => {
      this.hide();
      closed();
    });
    this.close = close;
    this.panel = html("section", {
      class: "detail control", hidden: "", tabindex: "0", "aria-label": said.detail,
    });
  }

  /** Show what there is to a topic of a sheet, if there is anything; mark what was searched for. */
  show(node, sheet, wanted = "") {
    const found = node ? details(node) : [];
    const arrows = node ? related(node, sheet) : [];
    if (!found.length && !arrows.length) {
      this.hide();
      return;
    }
    const title = html("p", { class: "title", dir: "auto" });
    title.textContent = nameOf(node);
    const copies = found.map((one) => one.cloneNode(true));
    if (arrows.length) copies.push(this.#relationships(arrows));
    if (wanted) copies.forEach((copy) => mark(copy, wanted));
    this.panel.replaceChildren(this.close, title, ...copies);
    this.panel.hidden = false;
    this.panel.scrollTop = 0;
    this.panel.querySelector("mark")?.scrollIntoView({ block: "nearest" });
    this.stage.classList.add("telling");
  }

  #relationships(arrows) {
    const list = html("ul", { class: "more", "aria-label": this.said.relationships });
    for (const { sign, other, text } of arrows) {
      const link = html("a", { href: `#t=${encodeURIComponent(other.id)}`, dir: "auto" });
      link.textContent = nameOf(other);
      const words = html("span", { dir: "auto" });
      words.textContent = text;
      list.append(html("li", {}, `${sign} `, link, text ? ": " : "", words));
    }
    return list;
  }

  hide() {
    this.panel.hidden = true;
    this.panel.replaceChildren();
    this.stage.classList.remove("telling");
  }

  /** How much of the stage is covered, in pixels from its edges. */
  covered() {
    const covered = { left: 0, top: 0, right: 0, bottom: 0 };
    if (this.panel.hidden) return covered;
    const { offsetLeft, offsetHeight } = this.panel;
    if (offsetLeft) covered.right = this.stage.clientWidth - offsetLeft;
    else covered.bottom = offsetHeight; // the style sheet puts it there if the stage is narrow
    return covered;
  }
}

/** Highlight all matches of a text; none if normalisation changed its length. */
function mark(root, wanted) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (let text of texts) {
    const compared = plain(text.data);
    if (compared.length !== text.data.length) continue;
    let at = compared.indexOf(wanted);
    let from = 0;
    while (at >= 0) {
      const hit = text.splitText(at - from);
      text = hit.splitText(wanted.length);
      const made = document.createElement("mark");
      hit.replaceWith(made);
      made.append(hit);
      from = at + wanted.length;
      at = compared.indexOf(wanted, from);
    }
  }
}
