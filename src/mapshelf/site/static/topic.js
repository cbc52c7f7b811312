// Reads topic content from the outline of the page, which the server has sanitised.

/** The text of a topic, and its formula if that is drawn. */
export function textOf(node) {
  const formulas = (node.more.p ?? []).filter(([kind]) => kind === "formula");
  return [...node.lines, ...formulas.map(([, source]) => [source])].map(([words]) => words)
    .join(" ").trim();
}

/** What a topic is called where its picture cannot be seen. */
export function nameOf(node) {
  return textOf(node) || written(node)?.querySelector(".t")?.textContent || "";
}

/** Its place in the outline. */
function written(node) {
  return document.getElementById(`t=${node.id}`);
}

/** Everything attached to a topic, as elements of the outline. */
export function beside(node) {
  return [...(written(node)?.querySelectorAll(
    ":scope > :is(.note, .more, .formula, .inside, .icon, .tag), :scope > :is(p, summary) > :is(.icon, .tag)",
  ) ?? [])];
}

/** What the drawing only has marks for, and its pictures, which are small there. */
export function details(node) {
  return beside(node).filter((one) => one.matches(".note, .more, .inside"));
}

/** The relationships of a topic, outgoing and incoming. */
export function related(node, sheet) {
  return (sheet.arrows ?? []).flatMap(([from, to, text, , , , point]) => {
    if (point) return [];
    const [start, end] = [sheet.nodes[from], sheet.nodes[to]];
    if (start === node) return [{ sign: end === node ? "↻" : "→", other: end, text }];
    return end === node ? [{ sign: "←", other: start, text }] : [];
  });
}
