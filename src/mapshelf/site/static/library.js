// Search as you type. Without this script, the form and links do the same with page loads.

import { askAgainForThumbnails } from "./thumbnails.js";
import { walk } from "./walking.js";

const list = document.getElementById("list");
const form = document.querySelector("form.search");
const input = document.getElementById("query");
const said = document.getElementById("said");
const failed = document.getElementById("failed");
const importing = document.getElementById("importing");

const PAUSE = 160; // milliseconds without a keystroke before asking

let timer = 0;
let asking = null;
let asked = input.value.trim();
let path = location.pathname + location.search;

const choices = [...form.querySelectorAll(".narrowing input")];

function parameters() {
  const given = new URLSearchParams(new FormData(form));
  const text = input.value.trim();
  if (text) given.set("query", text);
  else given.delete("query");
  // By relevance is the order of a search; that of the list before it would hide the best.
  if (text && !asked) given.delete("order_by");
  return given;
}

async function search(chosen = false) {
  const given = parameters();
  asking?.abort();
  const mine = (asking = new AbortController());
  list.classList.add("asking");
  try {
    const response = await fetch(`${list.dataset.results}?${given}`, { signal: mine.signal });
    // The session has ended: the page itself asks to sign in, and leads back to this search.
    if (response.status === 401) return location.assign(`${list.dataset.root}?${given}`);
    if (!response.ok) throw new Error(response.statusText);
    show(await response.text(), false, chosen);
    failed.hidden = true;
  } catch (error) {
    if (error.name === "AbortError") return;
    failed.hidden = false;
  } finally {
    if (asking === mine) list.classList.remove("asking");
  }
}

function place(html) {
  // Made by our own templates, where every text is escaped; scripts in it would not run anyway.
  const parsed = new DOMParser().parseFromString(html, "text/html");
  const fresh = parsed.querySelector(".library");
  list.replaceChildren(document.adoptNode(fresh));
  return fresh;
}

function show(html, moved, chosen) {
  const fresh = place(html);
  const before = asked;
  asked = input.value.trim();
  // An element that already exists, because screen readers would not announce a new one.
  said.textContent = fresh.querySelector(".total").textContent;
  document.title = fresh.dataset.title;
  if (moved) return;
  // The list before a search stays behind it; words typed one after the other are one search.
  const begins = asked && !before;
  history[begins || chosen ? "pushState" : "replaceState"](null, "", fresh.dataset.address);
  path = location.pathname + location.search;
}

/** Reloads the list without disturbing the reader; returns whether that succeeded. */
async function refresh() {
  const busy = () =>
    input.value.trim() !== asked || list.contains(document.activeElement) || scrollY > innerHeight / 2;
  if (busy()) return false;
  const address = location.href;
  const response = await fetch(address);
  if (!response.ok || busy() || address !== location.href) return false;
  const total = place(await response.text()).querySelector(".total").textContent;
  if (!importing.firstElementChild) said.textContent = total; // once, at the end
  return true;
}

const isEmpty = () => list.querySelector(".library[data-empty]") !== null;
if (importing.firstElementChild || isEmpty()) {
  import("./importing.js").then(({ follow }) => follow(importing, isEmpty, refresh));
}

/** Returns whether a filter next to the search box is active in a URL: 1 means true. */
function isChosen(choice, value) {
  return choice.value === value || (choice.value === "true" && /^(1|true)$/i.test(value));
}

/** Shows the list at the address that Back or Forward led to. */
async function goThere() {
  asking?.abort();
  clearTimeout(timer);
  const address = location.href;
  const given = new URL(address).searchParams;
  try {
    const response = await fetch(address);
    if (!response.ok || address !== location.href) throw new Error(response.statusText);
    input.value = given.get("query") ?? "";
    for (const one of choices) one.checked = isChosen(one, given.get(one.name) ?? "");
    asked = input.value.trim();
    show(await response.text(), true);
    failed.hidden = true;
  } catch {
    location.reload();
  }
}

addEventListener("popstate", () => {
  // A place on the page is no other list.
  if (location.pathname + location.search !== path) goThere();
  path = location.pathname + location.search;
});

walk(list, input);
askAgainForThumbnails();

input.addEventListener("input", () => {
  clearTimeout(timer);
  if (input.value.trim() !== asked) timer = setTimeout(search, PAUSE);
});

for (const one of choices) {
  one.addEventListener("change", () => {
    clearTimeout(timer);
    search(true);
  });
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(timer);
  search();
});

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    input.focus();
  }
});
