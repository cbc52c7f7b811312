// Reloads a page as soon as it is available: the first start of a library takes a moment.

const PAUSE = 1000; // milliseconds

async function look() {
  const found = await fetch(location.href, { method: "HEAD" }).catch(() => null);
  if (found && found.status !== 503) location.reload();
  else setTimeout(look, PAUSE);
}

setTimeout(look, PAUSE);
