// Where the topics of a map lie: the arithmetic of render/layout.py, free of any drawing.
//
// It is done again here because folding a branch moves all others. What topics measure comes from
// the server. A test compares what both make of the same maps.

/** Topics of a sheet, linked: parents before their children, nothing placed yet. */
export function linked(sheet, kinds) {
  const nodes = [];
  sheet.topics.forEach(([parent, id, body, height, lines], place) => {
    const above = parent < 0 ? null : nodes[parent];
    const depth = above ? above.depth + 1 : 0;
    const kind = kinds[Math.min(depth, kinds.length - 1)];
    const node = {
      place, id, body, lines, above, depth, kind,
      plain: height, children: [], folded: false, side: 0, x: 0, y: 0, below: 0,
      main: !above ? -1 : depth === 1 ? above.children.length : above.main,
    };
    above?.children.push(node);
    nodes.push(node);
  });
  for (let at = nodes.length - 1; at > 0; at--) {
    nodes[at].above.below += 1 + nodes[at].below;
  }
  return nodes;
}

/** The topics that are not inside a folded one, parents before their children. */
export function unfolded(root) {
  const shown = [];
  const pending = [root];
  while (pending.length) {
    const node = pending.pop();
    shown.push(node);
    if (!node.folded) {
      for (let at = node.children.length - 1; at >= 0; at--) pending.push(node.children[at]);
    }
  }
  return shown;
}

/** Give every topic in `shown` its place. `measures` are those of the counts of folded topics. */
export function place(shown, leftwards, measures) {
  for (const node of shown) measure(node, measures);
  for (let at = shown.length - 1; at >= 0; at--) {
    const node = shown[at];
    node.reach = Math.max(node.height, stackHeight(visible(node)));
  }
  const centre = shown[0];
  centre.x = -centre.width / 2;
  centre.y = -centre.height / 2;
  const [first, second] = halves(visible(centre));
  const side = leftwards ? -1 : 1;
  for (const [group, on] of [[first, side], [second, -side]]) {
    for (const node of group) node.side = on;
    stack(centre, group);
  }
  for (const node of shown.slice(1)) {
    const children = visible(node);
    for (const child of children) child.side = node.side;
    stack(node, children);
  }
}

/** The children of a topic that are to be seen. */
export function visible(node) {
  return node.folded ? [] : node.children;
}

export function middle(node) {
  return node.y + node.height / 2;
}

/** Left end of the topic without its count. */
export function left(node) {
  return node.side >= 0 ? node.x : node.x + node.width - node.body;
}

/** The end that its parent is at. */
export function near(node) {
  return node.side >= 0 ? node.x : node.x + node.width;
}

/** Height at which the line from its parent arrives, and those to its children leave. */
export function joint(node) {
  return node.kind.boxed ? middle(node) : node.y + node.height;
}

function measure(node, { size, padding, gap, digit, plus }) {
  const { kind } = node;
  node.width = node.body;
  node.height = node.plain;
  node.count = node.folded && node.below ? `+${node.below}` : "";
  node.countWidth = 0;
  if (node.count) {
    const letters = plus + digit * (node.count.length - 1);
    node.countWidth = letters * kind.size * size + 2 * padding;
    node.width += node.countWidth + gap;
  }
}

function stackHeight(siblings) {
  let height = 0;
  siblings.forEach((node, at) => {
    height += node.reach;
    if (at) height += apart(siblings[at - 1], node);
  });
  return height;
}

function apart(node, following) {
  const families = (visible(node).length ? 1 : 0) + (visible(following).length ? 1 : 0);
  return node.kind.apart * (1 + 0.5 * families);
}

function halves(mains) {
  if (mains.length < 2) return [mains, []];
  const total = stackHeight(mains);
  let above = mains[0].reach;
  let best = total;
  let cut = 1;
  for (let at = 1; at < mains.length; at++) {
    const between = apart(mains[at - 1], mains[at]);
    const higher = Math.max(above, total - above - between);
    if (higher <= best) [best, cut] = [higher, at];
    above += between + mains[at].reach;
  }
  return [mains.slice(0, cut), mains.slice(cut)];
}

function stack(parent, children) {
  let y = middle(parent) - stackHeight(children) / 2;
  children.forEach((child, at) => {
    child.x = child.side > 0
      ? parent.x + parent.width + child.kind.gap
      : parent.x - child.kind.gap - child.width;
    child.y = y + (child.reach - child.height) / 2;
    y += child.reach;
    if (at + 1 < children.length) y += apart(child, children[at + 1]);
  });
}
