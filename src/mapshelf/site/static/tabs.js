// The sheets of a map as tabs with their titles (WAI-ARIA Authoring Practices, "Tabs").

import { html } from "./page.js";

export class Tabs {
  /**
   * @param titles of the sheets.
   * @param label what they are.
   * @param open called with the number of the sheet that the reader chose.
   */
  constructor(titles, label, open) {
    this.open = open;
    this.tabs = titles.map((title, number) => {
      const tab = html("button", { type: "button", role: "tab", dir: "auto" }, title);
      tab.addEventListener("click", () => open(number));
      return tab;
    });
    this.control = html("div", { class: "sheets control", role: "tablist", "aria-label": label },
      ...this.tabs);
    this.control.addEventListener("keydown", (event) => this.#key(event));
  }

  select(number) {
    this.tabs.forEach((tab, at) => {
      tab.setAttribute("aria-selected", String(at === number));
      tab.tabIndex = at === number ? 0 : -1;
    });
    const { control } = this;
    const tab = this.tabs[number];
    // Not scrollIntoView, which would scroll the page, too.
    const [start, end] = [tab.offsetLeft, tab.offsetLeft + tab.offsetWidth];
    if (start < control.scrollLeft || end > control.scrollLeft + control.clientWidth) {
      control.scrollLeft = start - (control.clientWidth - tab.offsetWidth) / 2;
    }
  }

  #key(event) {
    const at = this.tabs.indexOf(document.activeElement);
    const count = this.tabs.length;
    const to = {
      ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: -1,
    }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    const number = (to + count) % count;
    this.open(number);
    this.tabs[number].focus({ preventScroll: true });
  }
}
