// Updates a list during an import. Without this script, a link does the same.

const SOON = 1000; // milliseconds between questions while maps are imported
const LATER = 3000; // and while nothing is there yet
const RARELY = 5000; // at least between lists: each may have new pictures to draw
const LAST = 4; // questions after the end: the last maps are published a moment later

/** Shows how far the import is in `line`, and calls `refresh` when there are other maps. */
export function follow(line, isEmpty, refresh) {
  let known = null;
  let after = 0;
  let changed = -RARELY;

  async function ask() {
    const response = await fetch(line.dataset.status);
    if (!response.ok) return LATER;
    const { html, revision } = await response.json();
    show(line, html);
    after = html ? 0 : after + 1;
    // What is shown may be older than the first answer.
    const due = !html || performance.now() - changed > RARELY;
    if (due && revision !== known && (await refresh())) {
      known = revision;
      changed = performance.now();
    }
    if (html || after < LAST) return SOON;
    return isEmpty() ? LATER : 0;
  }

  async function again() {
    let pause = LATER;
    if (!document.hidden) pause = await ask().catch(() => LATER);
    if (pause) setTimeout(again, pause);
  }

  again();
}

function show(line, html) {
  // Made by our own template.
  const fresh = new DOMParser().parseFromString(html, "text/html").body;
  fresh.querySelector(".unscripted")?.remove();
  line.replaceChildren(...Array.from(fresh.children, (one) => document.adoptNode(one)));
}
