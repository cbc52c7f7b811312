// Find in a map: searches topic texts, everything attached to topics (notes, tags, links), which is
// in the outline of the page, and arrow labels, which match the source topic of the arrow.

import { html, plain } from "./page.js";
import { beside, textOf } from "./topic.js";

export class Finder {
  /**
   * @param sheets the topics of each sheet.
   * @param arrows the arrows of each sheet.
   * @param said the translated messages.
   * @param went called with the sheet and the topic of the hit to show; without any if there is none.
   */
  constructor(sheets, arrows, said, went) {
    this.sheets = sheets;
    this.arrows = arrows;
    this.said = said;
    this.went = went;
    this.matches = [];
    this.wanted = "";
    this.count = html("output", { class: "found-count" });
    this.input = html("input", {
      type: "search", placeholder: said.find, "aria-label": said.find, dir: "auto",
      autocomplete: "off",
    });
    this.control = html("div", { class: "finder control" }, this.input, this.count);
    this.input.addEventListener("input", () => this.search(this.input.value));
  }

  /** Listen to the keys of the field; `leave` is called when the reader has finished. */
  listen(leave) {
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.next(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") {
        this.input.value = "";
        this.search("");
        leave();
      }
      event.stopPropagation();
    });
  }

  search(text) {
    this.wanted = plain(text.trim());
    this.matches = [];
    if (this.wanted) {
      this.sheets.forEach((nodes, sheet) => {
        for (const node of nodes) {
          node.searchable ??= searchable(node, this.#written(sheet, node));
          if (node.searchable.includes(this.wanted)) this.matches.push({ sheet, node });
        }
      });
    }
    this.at = -1;
    if (this.matches.length) this.next(1);
    else {
      this.count.textContent = this.wanted ? this.said.notFound : "";
      this.went();
    }
  }

  /** The words on the arrows from a topic. */
  #written(sheet, node) {
    this.written ??= this.arrows.map((arrows) => {
      const words = new Map();
      for (const [from, , text] of arrows) {
        if (text) words.set(from, [...(words.get(from) ?? []), text]);
      }
      return words;
    });
    return this.written[sheet].get(node.place) ?? [];
  }

  next(step) {
    const count = this.matches.length;
    if (!count) return;
    this.at = (this.at + step + count) % count;
    this.count.textContent = this.said.found
      .replace("{at}", this.at + 1)
      .replace("{count}", count);
    this.went(this.matches[this.at]);
  }
}

function searchable(node, arrows) {
  const words = beside(node).map((one) => one.textContent);
  return plain([textOf(node), ...words, ...arrows].join("\n"));
}
