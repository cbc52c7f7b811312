// Asks again for thumbnails that could not be drawn yet. When a large folder has just been
// imported, more are asked for than a machine can draw at once, and some get "503, try again".

const PAUSES = [2, 4, 8, 16, 32]; // seconds before each attempt

const attempts = new WeakMap();

function askAgain(image) {
  image.classList.add("waiting"); // browsers show a broken picture otherwise
  const attempt = attempts.get(image) ?? 0;
  if (attempt === PAUSES.length) return;
  attempts.set(image, attempt + 1);
  // The same address: the browser asks for it again, because it has no picture for it.
  setTimeout(() => (image.src = image.src), PAUSES[attempt] * 1000);
}

const isThumbnail = (one) => one.matches?.(".picture img");

export function askAgainForThumbnails() {
  // Errors of pictures do not rise to the document, but on the way down to them they pass it.
  document.addEventListener("error", ({ target }) => isThumbnail(target) && askAgain(target), true);
  document.addEventListener("load", ({ target }) => target.classList?.remove("waiting"), true);
  for (const image of document.querySelectorAll(".picture img")) {
    if (image.complete && image.naturalWidth === 0) askAgain(image); // failed before this script ran
  }
}
