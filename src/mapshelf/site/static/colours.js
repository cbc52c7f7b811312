// Generates a style sheet for the author's colours: one class for each combination, for the light
// and the dark theme. The server has already ensured sufficient contrast.

const COLOUR = /^#[0-9a-f]{6}$/;
const OF_TOPIC = ["--own", "--fill", "--border", "--words", "--told"];
const OF_SHEET = [
  "--paper", "--ink", "--quiet", "--centre", "--on-centre", "--on-branch",
  ...Array.from({ length: 8 }, (_, number) => `--m${number}`),
];
const STORAGE_KEY = "mapshelf-colours";

/** Give each sheet the prefix of its classes; return whether any author chose colours. */
export function addColours(sheets) {
  const [light, dark] = [[], []];
  sheets.forEach((sheet, number) => {
    sheet.prefix = `s${number}-`;
    sheet.styles?.forEach((pair, at) => {
      const selector = `.authors .${sheet.prefix}${at}`;
      light.push(rule(selector, OF_TOPIC, pair[0]));
      dark.push(rule(selector, OF_TOPIC, pair[1]));
    });
    if (sheet.ground) {
      const of = `.authors.sheet${number}`;
      const selector = `${of} > svg,${of} .page > svg,.paper${of}`;
      light.push(rule(selector, OF_SHEET, sheet.ground[0]));
      dark.push(rule(selector, OF_SHEET, sheet.ground[1]));
    }
  });
  if (!light.length) return false;
  const style = new CSSStyleSheet();
  style.replaceSync(
    `${light.join("")}@media screen and (prefers-color-scheme: dark) {${dark.join("")}}`,
  );
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, style];
  return true;
}

function rule(selector, names, values) {
  const declared = names.map((name, at) => {
    if (COLOUR.test(values[at])) return `${name}:${values[at]};`;
    // A colour of light does not last into the dark, and none is handed down by a topic.
    return OF_TOPIC.includes(name) && name !== "--own" ? `${name}:initial;` : "";
  });
  return `${selector}{${declared.join("")}}`;
}

/** Whether this reader wants the colours of authors. */
export function wantsAuthors() {
  try {
    return localStorage.getItem(STORAGE_KEY) !== "ours";
  } catch {
    return true; // a browser that keeps nothing
  }
}

export function remember(authors) {
  try {
    localStorage.setItem(STORAGE_KEY, authors ? "authors" : "ours");
  } catch {
    // It is asked again next time.
  }
}
