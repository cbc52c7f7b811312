"""Route relationship arrows: choose the sides of the topics and the curve between them.

A curve may leave a topic on any of its four sides. The router chooses the pair of sides whose curve
is short and crosses the fewest topics. It samples a few points of each curve, which is cheap and
accurate enough. An arrow from a topic to itself is a loop on one side, chosen in the same way. An
arrow that points to a place is straight.
``site/static/arrows.js`` does the same in the browser.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, hypot, inf
from typing import Final, NamedTuple

from mapshelf.model import Relationship
from mapshelf.render.floating import Box
from mapshelf.render.layout_style import LABEL_SIZE
from mapshelf.render.nodes import Node, label_of
from mapshelf.render.wrapping import Line

MOST: Final = 400
"""Maximum number of relationships drawn per sheet: more would be illegible."""

MOST_LENGTH: Final = 1_000_000.0
"""Maximum total length of the arrows of a sheet, in layout units: long dashed curves are slow to
draw.
"""

_CELL: Final = 100.0
_SAMPLES: Final = (0.15, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85)
_CROSSING: Final = 90.0  # the extra length that is accepted to cross one topic fewer
_SLACK: Final = 7.0  # margin for labels and arrowheads
_LEAST_BEND: Final = 24.0
_MOST_BEND: Final = 160.0
_LOOP: Final = 34.0  # minimum distance from a topic to the control points of its loop
_LOOP_HALF: Final = 7.0  # half the maximum distance between the two ends of a loop

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Link:
    """A relationship to draw: between two visible topics, or from one to itself."""

    start: Node
    end: Node
    label: Line | None
    colour: str
    point: Point | None = None
    heads: str = "end"

    @property
    def width(self) -> float:
        """Width of the label."""
        return self.label.width * LABEL_SIZE if self.label else 0.0


class Curve(NamedTuple):
    """A cubic Bézier curve: its start, two control points and end."""

    start: Point
    first: Point
    second: Point
    end: Point

    def at(self, share: float) -> Point:
        """Return the point at the parameter ``share`` (0 to 1)."""
        rest = 1 - share
        weights = (rest**3, 3 * rest**2 * share, 3 * rest * share**2, share**3)
        x = sum(weight * point[0] for weight, point in zip(weights, self, strict=True))
        y = sum(weight * point[1] for weight, point in zip(weights, self, strict=True))
        return x, y


def links(relationships: Sequence[Relationship], shown: Mapping[str, Node]) -> Iterator[Link]:
    """Yield the relationships that can be drawn, at most ``MOST``.

    A relationship within one collapsed branch is skipped, because both ends lead to the same
    visible topic. A relationship from a visible topic to itself is kept.

    Args:
        relationships: the relationships of a sheet.
        shown: the nodes by topic id; a hidden topic maps to its nearest visible ancestor.
    """
    for relationship in relationships[:MOST]:
        start, end = shown.get(relationship.start), shown.get(relationship.end)
        if not (start and end):
            continue
        itself = relationship.start == relationship.end == start.topic.id
        if start is not end or itself:
            label, (colour, point, heads) = label_of(relationship.text), relationship[3:]
            yield Link(start, end, label, colour, point, heads)


def routed(nodes: Iterable[Node], found: Iterable[Link]) -> list[tuple[Link, Curve]]:
    """Return relationships with their curves, between nodes that are already placed.

    As soon as the total length exceeds ``MOST_LENGTH``, the remaining ones are left out.
    """
    router: Router | None = None
    length = 0.0
    curves: list[tuple[Link, Curve]] = []
    for link in found:
        router = router or Router(nodes)
        curve = router.curve(link)
        length += length_of(curve)
        if length > MOST_LENGTH:
            break
        curves.append((link, curve))
    return curves


def room_of(curves: Iterable[tuple[Link, Curve]]) -> list[Box]:
    """Return the bounding box of each curve with its label."""
    boxes = []
    for link, curve in curves:
        points = [curve.at(share) for share in (0.0, *_SAMPLES, 1.0)]
        across, down = [x for x, _ in points], [y for _, y in points]
        x, y = curve.at(0.5)
        half = link.width / 2
        boxes.append(
            Box(
                min(*across, x - half) - _SLACK,
                min(*down, y) - _SLACK,
                max(*across, x + half) + _SLACK,
                max(*down, y) + _SLACK,
            )
        )
    return boxes


class Router:
    """Finds curves between nodes that are already placed."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._cells: dict[tuple[int, int], list[Node]] = {}
        for node in nodes:
            for across in range(floor(node.x / _CELL), floor((node.x + node.width) / _CELL) + 1):
                for down in range(floor(node.y / _CELL), floor((node.y + node.height) / _CELL) + 1):
                    self._cells.setdefault((across, down), []).append(node)

    def curve(self, link: Link) -> Curve:
        """Return the curve of a relationship."""
        curves: Iterable[Curve]
        if link.point:
            return _straight(_room(link.start), link.point)
        if link.start is link.end:
            curves = _loops(_room(link.start), link.width)
        else:
            curves = (
                _curve(start, end)
                for start in _ends(_room(link.start))
                for end in _ends(_room(link.end))
            )
        return min(curves, key=lambda curve: self._cost(curve, link))

    def _cost(self, curve: Curve, link: Link) -> float:
        crossed = {node for share in _SAMPLES for node in self._under(curve.at(share))}
        # A curve that runs through its own topics is worse than one through others.
        own = (link.start in crossed) + (link.end in crossed)
        covered = self._behind_label(curve, link) if link.label else 0
        return length_of(curve) + _CROSSING * (len(crossed) + 3 * own + 2 * covered)

    def _behind_label(self, curve: Curve, link: Link) -> int:
        """Return how many topics the label of a curve would cover."""
        x, y = curve.at(0.5)
        half = link.width / 2
        ends = ((x - half, y - 5), (x - half, y + 5), (x + half, y - 5), (x + half, y + 5), (x, y))
        return len({node for end in ends for node in self._under(end)})

    def _under(self, point: Point) -> Iterator[Node]:
        x, y = point
        for node in self._cells.get((floor(x / _CELL), floor(y / _CELL)), ()):
            if node.x < x < node.x + node.width and node.y < y < node.y + node.height:
                yield node


def length_of(curve: Curve) -> float:
    """Return an upper bound for the length of a curve: the length of its control polygon."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = curve
    return hypot(x1 - x0, y1 - y0) + hypot(x2 - x1, y2 - y1) + hypot(x3 - x2, y3 - y2)


def _room(node: Node) -> Box:
    """Return the bounding box of a topic, including its count of hidden topics."""
    return Box(node.x, node.y, node.x + node.width, node.y + node.height)


def _ends(box: Box) -> tuple[tuple[Point, Point], ...]:
    """Return the four points where a curve may leave a box, each with the direction outwards."""
    x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    return (
        ((box.right + 2, y), (1, 0)),
        ((box.left - 2, y), (-1, 0)),
        ((x, box.top - 2), (0, -1)),
        ((x, box.bottom + 2), (0, 1)),
    )


def _curve(start: tuple[Point, Point], end: tuple[Point, Point]) -> Curve:
    ((x0, y0), (right0, down0)), ((x3, y3), (right3, down3)) = start, end
    bend = min(_MOST_BEND, max(_LEAST_BEND, 0.4 * hypot(x3 - x0, y3 - y0)))
    return Curve(
        (x0, y0),
        (x0 + bend * right0, y0 + bend * down0),
        (x3 + bend * right3, y3 + bend * down3),
        (x3, y3),
    )


def _straight(box: Box, point: Point) -> Curve:
    """Return the line from the edge of a topic that leads ``point`` away from it."""
    right, down = point
    half_width, half_height = (box.right - box.left) / 2, (box.bottom - box.top) / 2
    # The point on the edge that is in this direction from the middle.
    share = min(
        half_width / abs(right) if right else inf, half_height / abs(down) if down else inf, 1e6
    )
    x = (box.left + box.right) / 2 + right * share
    y = (box.top + box.bottom) / 2 + down * share
    return Curve(
        (x, y),
        (x + right / 3, y + down / 3),
        (x + right * 2 / 3, y + down * 2 / 3),
        (x + right, y + down),
    )


def _loops(box: Box, width: float) -> Iterator[Curve]:
    """Yield one loop for each side of a topic.

    The loops on the left and right are long enough for a label of this width.
    """
    for (x, y), (right, down) in _ends(box):
        side = box.bottom - box.top if right else box.right - box.left
        half = min(_LOOP_HALF, side / 4)
        # A cubic curve reaches three quarters of the way to its control points.
        out = max(_LOOP, (width / 2 + _SLACK) / 0.75) if right else _LOOP
        (across, along) = (abs(down), abs(right))
        yield Curve(
            (x - half * across, y - half * along),
            (x - 3 * half * across + out * right, y - 3 * half * along + out * down),
            (x + 3 * half * across + out * right, y + 3 * half * along + out * down),
            (x + half * across, y + half * along),
        )
