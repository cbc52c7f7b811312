"""Find places for topics that stand alone, around a map that is laid out already.

A place that the author chose is kept relative to the centre, if nothing is there; otherwise the
nearest free one is taken. Our topics are not as large as the author's, and a thumbnail has but a
part of them, so places far outside are drawn in, all by the same share. Topics without a place go
into rows below everything.
"""

from collections.abc import Iterator, Sequence
from math import floor
from typing import Final, NamedTuple

from mapshelf.render.layout_style import FLOATING_GAP, LayoutStyle

_CELL: Final = 160.0  # side of the squares in which obstacles are looked up
_STEP: Final = 30.0  # between places that are tried
_RINGS: Final = 24  # of places around the wanted one
_TRIALS: Final = 6000  # of all topics of a sheet together
_ROW_WIDTH: Final = 900.0  # of the rows below, at least


class Box(NamedTuple):
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    def moved(self, x: float, y: float) -> "Box":
        """Return it so much further right and down."""
        return Box(self.left + x, self.top + y, self.right + x, self.bottom + y)

    def grown(self, by: float) -> "Box":
        """Return it with a margin around it."""
        return Box(self.left - by, self.top - by, self.right + by, self.bottom + by)


def around(boxes: Sequence[Box]) -> Box:
    """Return the rectangle that holds all of these."""
    return Box(
        min(box.left for box in boxes),
        min(box.top for box in boxes),
        max(box.right for box in boxes),
        max(box.bottom for box in boxes),
    )


class Wanted(NamedTuple):
    """A tree to be placed: the room it takes around the middle of its root, and where it was."""

    room: Box
    position: tuple[float, float] | None


def put_floating(
    trees: Sequence[Wanted], taken: Sequence[Box], layout_style: LayoutStyle
) -> list[tuple[float, float]]:
    """Return where the middle of each tree's root is to be.

    Args:
        trees: what is to be placed.
        taken: what has a place already; at least one.
        layout_style: how far from it the trees may be.
    """
    whole = around(taken)
    share_x, share_y = _shares(trees, whole, layout_style)
    obstacles = _Obstacles(taken)
    found: list[tuple[float, float] | None] = []
    for room, position in trees:
        spot = None
        if position:
            wanted = (position[0] * share_x, position[1] * share_y)
            spot = obstacles.nearest_free(room, wanted)
        if spot:
            obstacles.add(room.moved(*spot))
            whole = around((whole, room.moved(*spot)))
        found.append(spot)
    rows = _rows([tree.room for tree, spot in zip(trees, found, strict=True) if not spot], whole)
    return [spot or next(rows) for spot in found]


def _shares(trees: Sequence[Wanted], whole: Box, layout_style: LayoutStyle) -> tuple[float, float]:
    """Return by how much the places are drawn in, across and down."""
    share, besides = layout_style.stray
    width, height = whole.right - whole.left, whole.bottom - whole.top
    across = max(-whole.left, whole.right) + share * width + besides
    down = max(-whole.top, whole.bottom) + share * height + besides
    places = [tree.position for tree in trees if tree.position]
    farthest_x = max((abs(x) for x, _ in places), default=0.0)
    farthest_y = max((abs(y) for _, y in places), default=0.0)
    return across / max(across, farthest_x), down / max(down, farthest_y)


def _rows(rooms: Sequence[Box], whole: Box) -> Iterator[tuple[float, float]]:
    """Yield places in rows below everything."""
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
    """What is drawn already, found by where it is."""

    def __init__(self, boxes: Sequence[Box]) -> None:
        self._cells: dict[tuple[int, int], list[Box]] = {}
        self._trials = _TRIALS
        for box in boxes:
            self.add(box)

    def add(self, box: Box) -> None:
        """Add what nothing may lie on."""
        grown = box.grown(FLOATING_GAP)
        for cell in _cells(grown):
            self._cells.setdefault(cell, []).append(grown)

    def nearest_free(self, room: Box, wanted: tuple[float, float]) -> tuple[float, float] | None:
        """Return the place nearest to ``wanted``, ``None`` if there is none in reach."""
        for right, down in _RING_STEPS:
            if self._trials <= 0:
                return None
            self._trials -= 1
            spot = (wanted[0] + right * _STEP, wanted[1] + down * _STEP)
            if self._is_free(room.moved(*spot)):
                return spot
        return None

    def _is_free(self, box: Box) -> bool:
        return not any(
            box.left < other.right
            and other.left < box.right
            and box.top < other.bottom
            and other.top < box.bottom
            for cell in _cells(box)
            for other in self._cells.get(cell, ())
        )


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    for across in range(floor(box.left / _CELL), floor(box.right / _CELL) + 1):
        for down in range(floor(box.top / _CELL), floor(box.bottom / _CELL) + 1):
            yield across, down


def _steps() -> list[tuple[int, int]]:
    """Return steps away from a place, the shortest first."""
    span = range(-_RINGS, _RINGS + 1)
    steps = [(right, down) for right in span for down in span]
    return sorted(steps, key=lambda step: (step[0] ** 2 + step[1] ** 2, step))


_RING_STEPS: Final = _steps()
