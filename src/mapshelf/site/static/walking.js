// Arrow keys move the focus between maps in a list, by their position on the screen; Enter follows
// the focused link as usual. Without this script, the Tab key does the same.

const LINKS = ":is(.shelf, .found, .maps) .name > a";

const ALONG = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

function middle(link) {
  const box = (link.closest("article, tr") ?? link).getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** The nearest link in a direction: sideways distance counts more than that along the way. */
function nearest(links, from, [right, down]) {
  const [x, y] = middle(from);
  let best = null;
  let least = Infinity;
  for (const link of links) {
    const [otherX, otherY] = middle(link);
    const along = (otherX - x) * right + (otherY - y) * down;
    if (along <= 1) continue;
    const aside = Math.abs((otherX - x) * down) + Math.abs((otherY - y) * right);
    const far = along + 3 * aside;
    if (far < least) [best, least] = [link, far];
  }
  return best;
}

/** Lets the keys walk through `list`, and into it from `input`. */
export function walk(list, input) {
  document.addEventListener("keydown", (event) => {
    const direction = ALONG[event.key];
    if (!direction || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const links = [...list.querySelectorAll(LINKS)];
    const here = document.activeElement;
    let next = null;
    if (here === input) {
      if (event.key === "ArrowDown") next = links[0];
    } else if (links.includes(here)) {
      next = nearest(links, here, direction);
      if (!next && event.key === "ArrowUp") next = input;
    } else if (here === document.body && event.key === "ArrowDown" && scrollY === 0) {
      next = links[0];
    }
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
}
