"""Build the node tree of a sheet: measured and linked topics, which ``layout`` then places.

Every topic becomes a node. The roots of trees are the central topic and the floating topics. A
boundary or summary spans siblings and is stored on their parent, as a ``Group``. The topic of a
summary is the root of a separate tree below that parent, and so is a callout that the author
placed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from mapshelf.model import Style, TopicKind
from mapshelf.render.contents import Contents, Piece, furnished, has_more, only_text
from mapshelf.render.emphasis import emphasised, has_bold, marked_runs
from mapshelf.render.fonts import font
from mapshelf.render.layout_style import (
    COUNT_GAP,
    COUNT_PADDING,
    COUNT_SIZE,
    LABEL_SIZE,
    LINE_HEIGHT,
    TWIG,
    Kind,
    LayoutStyle,
)
from mapshelf.render.visible_topics import VisibleSheet, VisibleTopic
from mapshelf.render.wrapping import Line, wrapped
from mapshelf.writers.plain import one_line

_TWIGS: Final = 3
"""Maximum number of twigs: more would be indistinguishable."""

_EMPTY_WIDTH: Final = 12.0  # of a topic without text

_LABEL_WIDTH: Final = 24.0  # of the longest label, in its font sizes

_MOST_TABLES: Final = 500
"""Maximum number of topics of a sheet in which attributes are drawn."""

_MOST_GROUPS: Final = 1000
_MOST_MEMBERS: Final = 20_000
"""Maximum number of boundaries or summaries of a sheet, and of the topics in its boundaries: more
would take too long."""


@dataclass(slots=True, eq=False)
class Node:
    """A topic with its size and position.

    Attributes:
        topic: the topic to draw.
        depth: its depth, 0 for the central topic.
        above: its parent, ``None`` for the root of a tree.
        at: its index among the children of its parent.
        main: index of its main branch, from 0; -1 for the central topic.
        kind_number: index of its kind in the layout style.
        kind: its appearance.
        lines: its text.
        text_width: width of the widest line.
        contents: the content of its box, and the position of its text.
        count: number of hidden descendants, as text; empty if not shown.
        count_width: width of the count with its box, 0 if there is none.
        twigs: number of twigs that represent hidden topics.
        body: width without the count.
        width: total width.
        height: total height.
        reach: height including its descendants.
        span: outward width including its descendants.
        side: 1 if it is right of the central topic, -1 if left, 0 for the central topic.
        x: left edge.
        y: top edge.
        children: its child nodes.
        groups: boundaries and summaries of its children.
        free: the callouts on it that the author placed; they are not among ``children``.
        is_summary: whether it summarises children of ``above``; it is not one of them.
    """

    topic: VisibleTopic
    depth: int
    above: "Node | None"
    at: int
    main: int
    kind_number: int
    kind: Kind
    lines: tuple[Line, ...]
    text_width: float
    contents: Contents
    count: str
    count_width: float
    twigs: int
    body: float = 0.0
    width: float = 0.0
    height: float = 0.0
    reach: float = 0.0
    span: float = 0.0
    side: int = 0
    x: float = 0.0
    y: float = 0.0
    children: list["Node"] = field(default_factory=list)
    groups: list["Group"] = field(default_factory=list)
    free: list["Node"] = field(default_factory=list)
    is_summary: bool = False

    @property
    def middle(self) -> float:
        """Vertical middle."""
        return self.y + self.height / 2

    @property
    def left(self) -> float:
        """Left edge of the body."""
        return self.x if self.side >= 0 else self.x + self.width - self.body

    @property
    def near(self) -> float:
        """The edge facing its parent."""
        return self.x if self.side >= 0 else self.x + self.width

    @property
    def joint(self) -> float:
        """The y coordinate at which the lines to its parent and children attach."""
        return self.middle if self.kind.boxed or not self.lines else self.y + self.height

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The content of its box besides text."""
        return self.contents.pieces

    @property
    def style(self) -> Style | None:
        """The style set by the author."""
        return self.topic.source.style if self.topic.source else None

    @property
    def is_callout(self) -> bool:
        """Whether it is a callout on its parent topic."""
        source = self.topic.source
        return source is not None and source.kind is TopicKind.CALLOUT and self.above is not None

    @property
    def position(self) -> tuple[float, float] | None:
        """The position set by the author, ``None`` if there is none."""
        return self.topic.source.position if self.topic.source else None

    @property
    def is_free(self) -> bool:
        """Whether it is a callout that the author placed. Summaries are beside their braces."""
        return self.position is not None and self.is_callout and not self.is_summary

    @property
    def has_line(self) -> bool:
        """Whether there is a line to it from its parent."""
        return not (self.style and self.style.line_hidden)


@dataclass(slots=True, eq=False)
class Group:
    """Siblings spanned by a boundary or a summary.

    Attributes:
        first: index of the first one among the children of their parent.
        last: index of the last one.
        label: label of a boundary, ``None`` if there is none.
        colour: colour set by the author, empty if none.
        summary: the topic of a summary, ``None`` for a boundary.
    """

    first: int
    last: int
    label: Line | None
    colour: str
    summary: Node | None = None

    @property
    def label_height(self) -> float:
        """Height of the space for the label above the topics."""
        return LABEL_SIZE * LINE_HEIGHT if self.label else 0.0

    @property
    def label_width(self) -> float:
        """Width of the label."""
        return self.label.width * LABEL_SIZE if self.label else 0.0


@dataclass(slots=True)
class Forest:
    """All nodes of a sheet.

    Attributes:
        nodes: all of them, parents before their children, the central topic first.
        trees: the roots: the central topic and the floating topics.
        around: boundaries around whole trees, with their roots, also those of free callouts.
    """

    nodes: list[Node]
    trees: list[Node]
    around: list[tuple[Node, Group]]


def forest(sheet: VisibleSheet, layout_style: LayoutStyle, *, right_to_left: bool) -> Forest:
    """Return the nodes of a sheet, measured but not yet placed."""
    builder = _Builder(layout_style, right_to_left=right_to_left)
    trees = [builder.tree(sheet.root, None)]
    trees += [builder.tree(topic, None) for topic in sheet.floating]
    whole = Forest(builder.nodes, trees, [])
    if sheet.summaries or sheet.sheet.boundaries:
        _add_groups(whole, builder, sheet)
    return whole


def by_id(nodes: Iterable[Node]) -> dict[str, Node]:
    """Return the nodes by the ids of their topics; the first one if several have the same."""
    found: dict[str, Node] = {}
    for node in nodes:
        found.setdefault(node.topic.id, node)
    return found


def label_of(text: str) -> Line | None:
    """Return the label of an arrow or a boundary as one line, ``None`` if it is empty."""
    lines = wrapped(one_line(text), font(bold=False), _LABEL_WIDTH, 1, 1.0)
    return lines[0] if lines else None


def _add_groups(whole: Forest, builder: "_Builder", sheet: VisibleSheet) -> None:
    """Attach boundaries and summaries to the parents of their topics.

    A summary may span descendants of another summary's topic, so summaries are added in rounds.
    If no topics are hidden, the topic of a summary that spans no visible topics is floating.
    """
    known = _add_summaries(whole, builder, sheet)
    members = 0
    for boundary in sheet.sheet.boundaries[:_MOST_GROUPS]:
        members += len(boundary.topics)
        if members > _MOST_MEMBERS:
            break
        shown = any(one in known for one in boundary.topics)  # most are not in a thumbnail
        label = label_of(boundary.text) if shown else None
        for parent, first, last in _siblings(boundary.topics, known):
            parent.groups.append(Group(first, last, label, boundary.colour))
            label = None
        roots = (known[one] for one in dict.fromkeys(boundary.topics) if one in known)
        for root in roots:
            if root.above is None or root.is_free:
                whole.around.append((root, Group(0, 0, label, boundary.colour)))
                label = None
    for node in whole.nodes:
        if node.groups:
            # Inner groups first; braces are outside of boundaries.
            node.groups.sort(key=lambda one: (one.summary is not None, one.last - one.first))


def _add_summaries(whole: Forest, builder: "_Builder", sheet: VisibleSheet) -> dict[str, Node]:
    """Add the topics of summaries to the nodes, and return all nodes by topic id."""
    pending = list(sheet.summaries[:_MOST_GROUPS])
    while True:  # each round adds at least one summary, or is the last
        known = by_id(whole.nodes)
        left = []
        for ids, topic in pending:
            found = next(_siblings(ids, known), None)
            if found is None:
                left.append((ids, topic))
                continue
            parent, first, last = found
            node = builder.tree(topic, parent, parent.children[first])
            parent.groups.append(Group(first, last, None, "", node))
        if len(left) == len(pending):
            break
        pending = left
    # Omit a summary if the topics it spans are omitted.
    complete = not any(node.topic.hidden for node in whole.nodes)
    whole.trees += [builder.tree(topic, None) for _, topic in pending if complete]
    return by_id(whole.nodes)


def _siblings(ids: Sequence[str], known: Mapping[str, Node]) -> Iterator[tuple[Node, int, int]]:
    """Yield each run of consecutive siblings: their parent, first index and last index."""
    below: dict[Node, list[int]] = {}
    for one in dict.fromkeys(ids):
        node = known.get(one)
        # The topic of a summary and a free callout have parents, but are not among their children.
        if node and node.above and node.above.children[node.at : node.at + 1] == [node]:
            below.setdefault(node.above, []).append(node.at)
    for parent, there in below.items():
        for _, run in groupby(enumerate(sorted(there)), lambda pair: pair[1] - pair[0]):
            places = [place for _, place in run]
            yield parent, places[0], places[-1]


class _Builder:
    """Creates nodes and collects them in order."""

    def __init__(self, layout_style: LayoutStyle, *, right_to_left: bool) -> None:
        self.nodes: list[Node] = []
        self._style = layout_style
        self._kinds = layout_style.every_kind
        self._right_to_left = right_to_left
        self._trees = 0
        self._tables = 0

    def tree(self, root: VisibleTopic, above: Node | None, beside: Node | None = None) -> Node:
        """Add the nodes of a tree; return its root.

        Args:
            root: root of the tree.
            above: the parent node, if the tree is a summary.
            beside: the first of the siblings that it summarises.
        """
        top: Node | None = None
        pending: list[tuple[VisibleTopic, Node | None]] = [(root, above)]
        while pending:
            topic, parent = pending.pop()
            node = self._node(topic, parent, is_summary=top is None and above is not None)
            if top is None:
                top = node
                node.main = beside.main if beside else self._trees - 1
                self._trees += above is None
            elif parent:
                node.at = len(parent.children)
                node.main = node.at if node.depth == 1 else parent.main
                (parent.free if node.is_free else parent.children).append(node)
            pending.extend((child, node) for child in reversed(topic.children))
            self.nodes.append(node)
        assert top is not None
        return top

    def _node(self, topic: VisibleTopic, above: Node | None, *, is_summary: bool) -> Node:
        source = topic.source
        depth = above.depth + 1 if above else min(1, self._trees)
        aside = is_summary or (
            above is not None and source is not None and source.kind is TopicKind.CALLOUT
        )
        number = self._style.number(depth, aside=aside)
        kind = self._kinds[number]
        lines = _lines(topic, kind)
        padded = _padded(kind, source.style) if source is not None and source.style else kind
        contents = None
        if source is not None and has_more(source):
            self._tables += bool(source.shown_attributes)
            topic.tabled = self._tables <= _MOST_TABLES
            contents = furnished(
                topic, padded, self._style, lines, right_to_left=self._right_to_left
            )
        if not lines and not topic.others:
            lines = (Line("", 0.0 if contents else _EMPTY_WIDTH / kind.size),)
        text_width = kind.size * max((line.width for line in lines), default=0.0)
        contents = contents or only_text(padded, lines, text_width)
        counted = topic.hidden > 0 and (kind.counted or topic.others)
        count = f"+{topic.hidden}" if counted else ""
        twigs = 0 if counted else min(topic.hidden, _TWIGS)
        node = Node(
            *(topic, depth, above, 0, -1, number, kind, lines, text_width, contents),
            *(count, _count_width(count, kind), twigs),
            is_summary=is_summary,
        )
        if lines:
            node.width, node.height = contents.width, contents.height
            node.body = node.width
        if count:
            node.width += node.count_width + (COUNT_GAP if lines else 0)
            node.height = max(node.height, kind.size * COUNT_SIZE * LINE_HEIGHT + 2)
        if twigs:
            node.width += TWIG
        return node


def _lines(topic: VisibleTopic, kind: Kind) -> tuple[Line, ...]:
    """Return the text of a topic as lines with their formatting."""
    source = topic.source
    style = source.style if source else None
    bold = kind.bold or (style is not None and style.bold)
    italic = style is not None and style.italic
    runs = marked_runs(source) if source else ()
    face = font(bold=bold or has_bold(runs), italic=italic)
    lines = wrapped(topic.text, face, kind.width, kind.lines, kind.stretch)
    return emphasised(lines, runs, bold=bold, italic=italic) if runs else lines


def _padded(kind: Kind, style: Style) -> Kind:
    """Return ``kind`` with padding if the topic has a box only because the author set one."""
    if kind.boxed or not (style.fill or style.border):
        return kind
    return kind._replace(across=kind.across + 4, down=kind.down + 1)


def _count_width(count: str, kind: Kind) -> float:
    if not count:
        return 0.0
    return font(bold=True).width(count) * kind.size * COUNT_SIZE + 2 * COUNT_PADDING
