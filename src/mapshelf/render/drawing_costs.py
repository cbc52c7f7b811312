"""Estimate the cost of rasterising a drawing, and simplify expensive drawings.

Lines are antialiased pixel by pixel, boundaries are filled, and each image is decoded wherever it
is shown. A map of a few thousand topics could take a minute without a visible benefit: resvg takes
0.8 s for a million pixels of smooth lines, and 5 to 20 ns for a filled pixel. Real maps stay far
below these bounds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Final

from mapshelf.render.arrows import Curve, length_of
from mapshelf.render.floating import Box
from mapshelf.render.nodes import Node

MOST_SMOOTH: Final = 1_500_000.0
"""Pixels of all lines: longer ones are not smoothed, which takes a twentieth of the time."""

MOST_FILLED: Final = 48_000_000.0
"""Pixels that boundaries fill, one above the other: the largest ones are lines only."""

MOST_SHOWN: Final = 400
MOST_SHOWN_BYTES: Final = 64 << 20
"""Places where pictures are shown, and their bytes: frames are drawn in the others. These hold for
every format, because each place has its own copy of the picture."""


@dataclass(frozen=True, slots=True)
class Simpler:
    """What is drawn more simply.

    Attributes:
        rough: whether lines are not smoothed.
        hollow: how many boundaries are not filled, the largest ones.
    """

    rough: bool = False
    hollow: int = 0

    @property
    def lines(self) -> str:
        """The attribute of groups of lines, with a leading blank."""
        return ' shape-rendering="optimizeSpeed"' if self.rough else ""


def simpler(
    lines: Iterable[float], curves: Iterable[Curve], boxes: Sequence[Box], scale: float
) -> Simpler:
    """Return what has to be drawn more simply.

    Args:
        lines: the lengths of lines, in units of the layout.
        curves: the curves of arrows.
        boxes: of the boundaries.
        scale: pixels for each unit.
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
    """Return about how long the line to a topic is that begins at ``start``."""
    return hypot(node.near - start[0], node.joint - start[1]) + node.body


def illustrated(nodes: Iterable[Node], pictures: Mapping[str, bytes]) -> set[Node]:
    """Return the topics whose pictures are shown; in all others, there are frames."""
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
