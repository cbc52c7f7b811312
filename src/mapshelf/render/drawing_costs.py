"""Estimate the cost of rasterising a drawing, and simplify expensive drawings.

Lines are antialiased pixel by pixel, boundaries are filled, and each image is decoded wherever it
is shown. A map of a few thousand topics could take a minute without a visible benefit: resvg takes
0.8 s for a million pixels of antialiased lines, and 5 to 20 ns for a filled pixel. Real maps stay
far below the limits in this module.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Final

from mapshelf.render.arrows import Curve, length_of
from mapshelf.render.floating import Box
from mapshelf.render.nodes import Node

MOST_SMOOTH: Final = 1_500_000.0
"""Maximum total length of antialiased lines, in pixels. If it is exceeded, no line is antialiased,
which takes a twentieth of the time."""

MOST_FILLED: Final = 48_000_000.0
"""Maximum pixels that boundaries fill, overlaps counted twice. If it is exceeded, the largest
boundaries are not filled."""

MOST_SHOWN: Final = 400
MOST_SHOWN_BYTES: Final = 64 << 20
"""Maximum number and total bytes of the images drawn: frames replace the others. An image in
several places counts in each, because each place has its own copy, whatever the format."""


@dataclass(frozen=True, slots=True)
class Simpler:
    """How a drawing is simplified.

    Attributes:
        rough: whether lines are not antialiased.
        hollow: how many of the largest boundaries are not filled.
    """

    rough: bool = False
    hollow: int = 0

    @property
    def lines(self) -> str:
        """The SVG attribute for lines, with a leading space; empty if they are antialiased."""
        return ' shape-rendering="optimizeSpeed"' if self.rough else ""


def simpler(
    lines: Iterable[float], curves: Iterable[Curve], boxes: Sequence[Box], scale: float
) -> Simpler:
    """Return how a drawing must be simplified.

    Args:
        lines: the lengths of the connectors, in layout units.
        curves: the curves of arrows.
        boxes: the boxes of the boundaries.
        scale: the number of pixels per layout unit.
    """
    sizes = [(box.right - box.left, box.bottom - box.top) for box in boxes]
    length = sum(lines) + sum(map(length_of, curves)) + sum(2 * (x + y) for x, y in sizes)
    left, filled = MOST_FILLED, 0
    for area in sorted(x * y * scale * scale for x, y in sizes):
        left -= area
        if left < 0:
            break
        filled += 1
    return Simpler(length * scale > MOST_SMOOTH, len(sizes) - filled)


def line_length(node: Node, start: tuple[float, float]) -> float:
    """Return the approximate length of the connector from ``start`` to a topic and below it."""
    return hypot(node.near - start[0], node.joint - start[1]) + node.body


def illustrated(nodes: Iterable[Node], pictures: Mapping[str, bytes]) -> set[Node]:
    """Return the topics whose images are drawn; in all others, frames replace them."""
    places, left = MOST_SHOWN, MOST_SHOWN_BYTES
    shown: set[Node] = set()
    for node in nodes:
        own = [pictures[one.name] for one in node.pieces if one.name in pictures]
        if not own:
            continue
        places -= len(own)
        left -= sum(map(len, own))
        if places < 0 or left < 0:
            break
        shown.add(node)
    return shown
