"""Put matches by relevance into one order, however many of them have the same score.

The index ranks by score alone; it orders equal scores by where they happen to be stored, which
differs between two indexes of the same maps. So ties are sorted here. To keep deep pages cheap, the
ranking is cut into blocks that a page can find without reading all hits before it. A cut never
separates equal scores: otherwise, their place in the index would decide which block they are in.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

BLOCK: Final = 64
"""Number of hits after which a block ends, unless the next hit has the same score. Among near ties
within a block, more popular maps come first."""

NEAR: Final = 0.05
"""Scores are near ties if they differ by at most this share."""

EQUAL: Final = 5e-7
"""Scores next to each other are equal if they differ by at most this share: a few units in the last
place. Tantivy adds up the same numbers in different sequences."""


LARGE: Final = 1000
"""From this many hits on, NumPy is faster than Python."""


def window_around(start: int, end: int, margin: int) -> tuple[int, int]:
    """Return which positions to read for a page, with at least ``margin`` hits around its blocks.

    One more on each side tells whether scores differ there.
    """
    first = start // BLOCK * BLOCK - margin - 1
    return max(0, first), -(-end // BLOCK) * BLOCK + margin + 1


def descending(precedences: "array[int]") -> list[int]:
    """Return the precedences of tied hits, the hit that comes first at the start."""
    if len(precedences) < LARGE:
        return sorted(precedences, reverse=True)
    ordered: list[int] = np.sort(np.frombuffer(precedences, np.uint64))[::-1].tolist()
    return ordered


class RankedWindow:
    """Consecutive scores of a ranking, from position ``first`` on, descending.

    Args:
        scores: the scores.
        first: the position of the first of them.
        total: the number of hits in the whole ranking.
    """

    def __init__(self, scores: Sequence[float], first: int, total: int) -> None:
        self._negated = array("d", [-score for score in scores])  # ascending, for bisect
        self._first = first
        self._total = total
        breaks = array("q", [0] if first == 0 else [])
        breaks.extend(_breaks(self._negated, first))
        if first + len(scores) == total:
            breaks.append(total)
        self._breaks = breaks
        """Positions whose score differs from the one before, and both ends of the ranking."""

    def near_ties(self, start: int, end: int) -> list[tuple[int, int]] | None:
        """Return the first position of each near tie from ``start`` to ``end``, and the one after.

        The first near tie contains ``start``, and the last one ``end - 1``. Return None if the
        window is too small to tell.
        """
        begin = self._block_start(start)
        if begin is None or self._border(min(end, self._total)) is None:
            return None
        ties = list(self._ties_from(begin, min(end, self._total)))
        return [tie for tie in ties if tie[1] > start]

    def _block_start(self, position: int) -> int | None:
        """Return where the block that contains ``position`` starts."""
        i = bisect_right(self._breaks, position) - 1
        if i < 0:
            return None
        nominal = self._breaks[i] // BLOCK * BLOCK
        known = self._first == 0 or nominal > self._first
        return self._next_break(nominal) if known else None

    def _border(self, position: int) -> int | None:
        """Return where the block that contains the hit before ``position`` ends."""
        return self._next_break(min(-(-position // BLOCK) * BLOCK, self._total))

    def _next_break(self, position: int) -> int | None:
        i = bisect_left(self._breaks, position)
        return self._breaks[i] if i < len(self._breaks) else None

    def _ties_from(self, begin: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield near ties from ``begin``, the start of a block, until ``end``."""
        border = begin
        while begin < end:
            if begin == border:
                border = self._next_break(min((begin // BLOCK + 1) * BLOCK, self._total)) or end
            after = min(self._nearly_until(begin), border)
            yield begin, after
            begin = after

    def _nearly_until(self, begin: int) -> int:
        """Return the first position after ``begin`` that is not a near tie with it."""
        start = begin - self._first
        after = bisect_right(self._negated, self._negated[start] * (1 - NEAR), start)
        found = self._next_break(self._first + after)
        return self._total if found is None else found


def _breaks(negated: "array[float]", first: int) -> "array[int]":
    """Return the positions whose score differs from the one before, except for the first."""
    share = 1 - EQUAL
    if len(negated) < LARGE:
        pairs = enumerate(pairwise(negated), first + 1)
        return array("q", [at for at, (before, score) in pairs if score > before * share])
    values = np.frombuffer(negated)
    places = np.flatnonzero(values[1:] > values[:-1] * share) + first + 1
    return array("q", places.astype(np.int64).tobytes())
