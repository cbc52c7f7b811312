"""Compute where everything in the picture of a map is placed, without drawing it.

The central topic is in the middle. The main branches are on both sides of it, in their order,
divided so that both sides are about equally high; in maps written from right to left the first half
is on the left. Children are beside their topic, and the topic is at the middle of their height.
The unit is a pixel at full size; the origin is the centre of the map.

Thumbnails use the layout for the topics that ``visible_topics`` chose, and the page of a map for
all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise, starmap
from typing import Final, NamedTuple

from mapshelf.render.fonts import font
from mapshelf.render.visible_topics import VisibleTopic
from mapshelf.render.wrapping import STRETCH, Line, wrapped

LINE_HEIGHT: Final = 1.28
"""From one baseline to the next, in font sizes."""

COUNT_SIZE: Final = 0.82
"""Font size of a count, in font sizes of its topic."""

COUNT_PADDING: Final = 5.0
"""On each side of a count."""

COUNT_GAP: Final = 4.0
"""Between a topic and its count."""

TWIG: Final = 9.0
"""Length of the twigs that stand for hidden topics."""

_TWIGS: Final = 3
"""Most twigs: more could not be told apart."""

_EMPTY_WIDTH: Final = 12.0  # of a topic without text


class Kind(NamedTuple):
    """How topics of a level look.

    Attributes:
        size: of the letters.
        bold: whether they are.
        width: of the widest line, in font sizes.
        lines: most lines.
        across: room left and right of the text.
        down: room above and below the text.
        gap: between the topic and those it hangs from.
        apart: between it and its next sibling.
        boxed: whether it is in a box; otherwise it stands on a line.
        counted: whether it is said how many topics are hidden below it; otherwise a few twigs
            show that there are some.
        stretch: how much wider lines may be for the sake of a long word.
    """

    size: float
    bold: bool
    width: float
    lines: int
    across: float
    down: float
    gap: float
    apart: float
    boxed: bool
    counted: bool
    stretch: float = STRETCH


@dataclass(frozen=True, slots=True)
class Look:
    """How the topics of each level look; the last kind is for all deeper ones."""

    kinds: tuple[Kind, ...]

    def kind(self, depth: int) -> Kind:
        """Return how topics of this depth look."""
        return self.kinds[min(depth, len(self.kinds) - 1)]


PAGE: Final = Look(
    (
        Kind(17, True, 16, 12, 14, 9, 0, 0, True, True),
        Kind(13.5, True, 18, 12, 9, 5, 44, 12, True, True),
        Kind(12.5, False, 22, 40, 3, 2.5, 26, 4, False, True),
    )
)
"""For reading the map as a whole."""


@dataclass(slots=True, eq=False)
class Node:
    """A topic with its place.

    Attributes:
        topic: what is drawn.
        depth: 0 for the centre.
        parent: position of its parent among the nodes, -1 for the centre.
        main: which main branch it belongs to, counted from 0; -1 for the centre.
        kind: how it looks.
        lines: its text.
        text_width: of the widest of them.
        count: how many topics are hidden below it, as text; empty if that is not said.
        count_width: of the count with its box, 0 if there is none.
        twigs: how many stand for topics that are hidden.
        body: width without the count.
        width: of all of it.
        height: of all of it.
        reach: height of it with everything below it.
        side: 1 if it is right of the centre, -1 if left, 0 for the centre.
        x: left end.
        y: upper end.
    """

    topic: VisibleTopic
    depth: int
    parent: int
    main: int
    kind: Kind
    lines: tuple[Line, ...]
    text_width: float
    count: str
    count_width: float
    twigs: int
    body: float = 0.0
    width: float = 0.0
    height: float = 0.0
    reach: float = 0.0
    side: int = 0
    x: float = 0.0
    y: float = 0.0
    children: list["Node"] = field(default_factory=list)

    @property
    def middle(self) -> float:
        """Half-way down."""
        return self.y + self.height / 2

    @property
    def left(self) -> float:
        """Left end of the body."""
        return self.x if self.side >= 0 else self.x + self.width - self.body

    @property
    def near(self) -> float:
        """The end that its parent is at."""
        return self.x if self.side >= 0 else self.x + self.width

    @property
    def joint(self) -> float:
        """Height at which the line from its parent arrives, and those to its children leave."""
        return self.middle if self.kind.boxed or not self.lines else self.y + self.height


@dataclass(frozen=True, slots=True)
class Layout:
    """The nodes, parents before their children, and the rectangle that holds them all."""

    nodes: tuple[Node, ...]
    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top


def layout(root: VisibleTopic, look: Look, *, right_to_left: bool = False) -> Layout:
    """Return the places of all topics."""
    nodes = _nodes(root, look)
    for node in reversed(nodes):
        node.reach = max(node.height, _height(node.children))
    _place(nodes, right_to_left=right_to_left)
    return Layout(
        tuple(nodes),
        min(node.x for node in nodes),
        min(node.y for node in nodes),
        max(node.x + node.width for node in nodes),
        max(node.y + node.height for node in nodes),
    )


def _nodes(root: VisibleTopic, look: Look) -> list[Node]:
    """Return a node for each topic, measured, but without a place."""
    nodes: list[Node] = []
    pending = [(root, -1)]
    while pending:
        topic, parent = pending.pop()
        above = nodes[parent] if parent >= 0 else None
        node = _node(topic, parent, above.depth + 1 if above else 0, look)
        if above:
            node.main = above.main if node.depth > 1 else len(above.children)
            above.children.append(node)
        pending.extend((child, len(nodes)) for child in reversed(topic.children))
        nodes.append(node)
    return nodes


def _node(topic: VisibleTopic, parent: int, depth: int, look: Look) -> Node:
    kind = look.kind(depth)
    lines = wrapped(topic.text, font(bold=kind.bold), kind.width, kind.lines, kind.stretch)
    if not lines and not topic.others:
        lines = (Line("", _EMPTY_WIDTH / kind.size),)
    text_width = kind.size * max((line.width for line in lines), default=0.0)
    counted = topic.hidden > 0 and (kind.counted or topic.others)
    count = f"+{topic.hidden}" if counted else ""
    twigs = 0 if counted else min(topic.hidden, _TWIGS)
    node = Node(
        topic, depth, parent, -1, kind, lines, text_width, count, _count_width(count, kind), twigs
    )
    if lines:
        node.width = node.body = text_width + 2 * kind.across
        node.height = kind.size * LINE_HEIGHT * len(lines) + 2 * kind.down
    if count:
        node.width += node.count_width + (COUNT_GAP if lines else 0)
        node.height = max(node.height, kind.size * COUNT_SIZE * LINE_HEIGHT + 2)
    if twigs:
        node.width += TWIG
    return node


def _count_width(count: str, kind: Kind) -> float:
    if not count:
        return 0.0
    return font(bold=True).width(count) * kind.size * COUNT_SIZE + 2 * COUNT_PADDING


def _height(siblings: Sequence[Node]) -> float:
    """Return the height of siblings with everything below them."""
    apart = sum(starmap(_apart, pairwise(siblings)))
    return sum(node.reach for node in siblings) + apart


def _apart(node: Node, following: Node) -> float:
    """Return the room between siblings: more where one has a family of its own."""
    families = bool(node.children) + bool(following.children)
    return node.kind.apart * (1 + 0.5 * families)


def _place(nodes: list[Node], *, right_to_left: bool) -> None:
    centre = nodes[0]
    centre.x, centre.y = -centre.width / 2, -centre.height / 2
    first, second = _halves(centre.children)
    side = -1 if right_to_left else 1
    for group, on in ((first, side), (second, -side)):
        for node in group:
            node.side = on
        _stack(centre, group)
    for node in nodes[1:]:
        for child in node.children:
            child.side = node.side
        _stack(node, node.children)


def _halves(mains: list[Node]) -> tuple[list[Node], list[Node]]:
    """Divide the main branches so that both sides are about as high."""
    if len(mains) < 2:
        return mains, []
    total, above = _height(mains), mains[0].reach
    best, cut = total, 1
    for at in range(1, len(mains)):
        apart = _apart(mains[at - 1], mains[at])
        higher = max(above, total - above - apart)
        if higher <= best:
            best, cut = higher, at
        above += apart + mains[at].reach
    return mains[:cut], mains[cut:]


def _stack(parent: Node, children: list[Node]) -> None:
    """Put the children of one side beside their parent, one below the other."""
    y = parent.middle - _height(children) / 2
    for child, following in zip(children, [*children[1:], None], strict=False):
        if child.side > 0:
            child.x = parent.x + parent.width + child.kind.gap
        else:
            child.x = parent.x - child.kind.gap - child.width
        child.y = y + (child.reach - child.height) / 2
        y += child.reach + (_apart(child, following) if following else 0)
