"""Place floating topics, and callouts that the author placed, around what is already laid out.

The author's position, which is relative to the central topic or to the parent of a callout, is used
if it is free; otherwise the nearest free position is used. Our topics differ in size from the
author's, and a thumbnail shows only some of them. If any position is far outside, all positions are
therefore moved inwards, by one factor per axis. Topics without a position, or without a free one
near it, go into rows below everything else.
"""

from collections.abc import Iterator, Sequence
from math import floor
from typing import Final, NamedTuple

from mapshelf.render.layout_style import FLOATING_GAP, LayoutStyle

_CELL: Final = 160.0  # side of the squares in which obstacles are looked up
_STEP: Final = 30.0  # distance between the positions that are tried
_RINGS: Final = 24  # maximum steps from the wanted position in each direction
_TRIALS: Final = 6000  # maximum positions tried for all topics of a sheet together
_ROW_WIDTH: Final = 900.0  # minimum width of the rows below


class Box(NamedTuple):
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    def moved(self, x: float, y: float) -> "Box":
        """Return the box, moved right by ``x`` and down by ``y``."""
        return Box(self.left + x, self.top + y, self.right + x, self.bottom + y)

    def grown(self, by: float) -> "Box":
        """Return the box, enlarged on every side."""
        return Box(self.left - by, self.top - by, self.right + by, self.bottom + by)


def around(boxes: Sequence[Box]) -> Box:
    """Return the bounding box of ``boxes``."""
    return Box(
        min(box.left for box in boxes),
        min(box.top for box in boxes),
        max(box.right for box in boxes),
        max(box.bottom for box in boxes),
    )


class Wanted(NamedTuple):
    """A tree to place.

    Attributes:
        room: its extent relative to the middle of its root.
        position: the author's position for that middle, ``None`` if there is none.
        parent: the middle of the topic that a callout is on, which the position is then relative
            to; ``None`` for a floating topic.
    """

    room: Box
    position: tuple[float, float] | None
    parent: tuple[float, float] | None = None


class Surroundings:
    """What is already placed on a sheet, and the trees that are placed around it."""

    def __init__(
        self, taken: Sequence[Box], areas: Sequence[Box], layout_style: LayoutStyle
    ) -> None:
        """Begin with what is already placed.

        Args:
            taken: the boxes that no tree may overlap; at least one.
            areas: boxes around several topics, which only callouts on these topics may overlap.
            layout_style: its ``stray`` limits how far outside of all these the trees may be.
        """
        self._whole = around(taken)
        self._obstacles = _Obstacles()
        self._layout_style = layout_style
        for box in taken:
            self.add_topic(box)
        self.add_areas(areas)

    def add_topic(self, box: Box) -> None:
        """Add the box of a topic that has been placed."""
        self._obstacles.add(box)

    def add_areas(self, areas: Sequence[Box]) -> None:
        """Add boxes around several topics that have been placed."""
        for box in areas:
            self._add_area(box)

    def place(self, trees: Sequence[Wanted]) -> list[tuple[float, float]]:
        """Return the position of the middle of each tree's root; its room is then an area."""
        share_x, share_y = _shares(trees, self._whole, self._layout_style)
        found: list[tuple[float, float] | None] = []
        for room, position, parent in trees:
            spot = None
            if position:
                x, y = parent or (0.0, 0.0)
                wanted = (x + position[0] * share_x, y + position[1] * share_y)
                spot = self._obstacles.nearest_free(room, wanted, parent)
            if spot:
                self._add_area(room.moved(*spot))
            found.append(spot)
        left = [tree.room for tree, spot in zip(trees, found, strict=True) if not spot]
        rows = list(_rows(left, self._whole))
        for room, spot in zip(left, rows, strict=True):
            self._add_area(room.moved(*spot))
        following = iter(rows)
        return [spot or next(following) for spot in found]

    def _add_area(self, box: Box) -> None:
        self._obstacles.add(box, is_area=True)
        self._whole = around((self._whole, box))


def _shares(trees: Sequence[Wanted], whole: Box, layout_style: LayoutStyle) -> tuple[float, float]:
    """Return the factors for moving positions inwards, horizontally and vertically; at most 1."""
    share, besides = layout_style.stray
    width, height = whole.right - whole.left, whole.bottom - whole.top
    across = max(-whole.left, whole.right) + share * width + besides
    down = max(-whole.top, whole.bottom) + share * height + besides
    places = [tree.position for tree in trees if tree.position]
    farthest_x = max((abs(x) for x, _ in places), default=0.0)
    farthest_y = max((abs(y) for _, y in places), default=0.0)
    return across / max(across, farthest_x), down / max(down, farthest_y)


def _rows(rooms: Sequence[Box], whole: Box) -> Iterator[tuple[float, float]]:
    """Yield positions in rows below everything else."""
    left, top = whole.left, whole.bottom + 2 * FLOATING_GAP
    end = left + max(_ROW_WIDTH, whole.right - whole.left)
    x, height = left, 0.0
    for room in rooms:
        width = room.right - room.left
        if x > left and x + width > end:
            x, top, height = left, top + height + FLOATING_GAP, 0.0
        yield x - room.left, top - room.top
        x += width + 2 * FLOATING_GAP
        height = max(height, room.bottom - room.top)


class _Obstacles:
    """The boxes that are already placed, in a grid for fast lookup."""

    def __init__(self) -> None:
        self._cells: dict[tuple[int, int], list[tuple[Box, bool]]] = {}
        self._trials = _TRIALS

    def add(self, box: Box, *, is_area: bool = False) -> None:
        """Add a box that others must not overlap, with ``FLOATING_GAP`` around it."""
        grown = box.grown(FLOATING_GAP)
        for cell in _cells(grown):
            self._cells.setdefault(cell, []).append((grown, is_area))

    def nearest_free(
        self, room: Box, wanted: tuple[float, float], parent: tuple[float, float] | None
    ) -> tuple[float, float] | None:
        """Return the free position nearest to ``wanted``.

        Areas that contain ``parent`` are no obstacles. The result is ``None`` if there is no free
        position within reach, or if too many positions have been tried.
        """
        for right, down in _RING_STEPS:
            if self._trials <= 0:
                return None
            self._trials -= 1
            spot = (wanted[0] + right * _STEP, wanted[1] + down * _STEP)
            if self._is_free(room.moved(*spot), parent):
                return spot
        return None

    def _is_free(self, box: Box, parent: tuple[float, float] | None) -> bool:
        return not any(
            box.left < other.right
            and other.left < box.right
            and box.top < other.bottom
            and other.top < box.bottom
            and not (is_area and parent and _holds(other, parent))
            for cell in _cells(box)
            for other, is_area in self._cells.get(cell, ())
        )


def _holds(box: Box, point: tuple[float, float]) -> bool:
    return box.left < point[0] < box.right and box.top < point[1] < box.bottom


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    for across in range(floor(box.left / _CELL), floor(box.right / _CELL) + 1):
        for down in range(floor(box.top / _CELL), floor(box.bottom / _CELL) + 1):
            yield across, down


def _steps() -> list[tuple[int, int]]:
    """Return the steps from a wanted position to those around it, the nearest first."""
    span = range(-_RINGS, _RINGS + 1)
    steps = [(right, down) for right in span for down in span]
    return sorted(steps, key=lambda step: (step[0] ** 2 + step[1] ** 2, step))


_RING_STEPS: Final = _steps()
