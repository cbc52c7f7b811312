"""Put matches by relevance into one order, however many of them have the same score.

The index ranks by score alone; it orders equal scores by where they happen to be stored, which
differs between two indexes of the same maps. So ties are sorted here. To keep deep pages cheap, the
ranking is cut into blocks that a page can find without reading all hits before it. A cut never
separates equal scores: otherwise, their place in the index would decide which block they are in.
"""

from collections.abc import Iterator, Sequence
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


def window_around(start: int, end: int, margin: int) -> tuple[int, int]:
    """Return which positions to read for a page, with at least ``margin`` hits around its blocks.

    One more on each side tells whether scores differ there.
    """
    first = start // BLOCK * BLOCK - margin - 1
    return max(0, first), -(-end // BLOCK) * BLOCK + margin + 1


class RankedWindow:
    """Consecutive scores of a ranking, from position ``first`` on, descending.

    Args:
        scores: the scores.
        first: the position of the first of them.
        total: the number of hits in the whole ranking.
    """

    def __init__(self, scores: Sequence[float], first: int, total: int) -> None:
        self._scores = np.array(scores, np.float64)
        self._first = first
        differs = self._scores[1:] < self._scores[:-1] * (1 - EQUAL)
        breaks = (np.flatnonzero(differs) + first + 1).tolist()
        if first == 0:
            breaks.insert(0, 0)
        if first + len(scores) == total:
            breaks.append(total)
        self._breaks = np.array(breaks, np.int64)
        """Positions whose score differs from the one before, and both ends of the ranking."""
        self._total = total

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
        i = int(np.searchsorted(self._breaks, position, "right")) - 1
        if i < 0:
            return None
        nominal = int(self._breaks[i]) // BLOCK * BLOCK
        known = self._first == 0 or nominal > self._first
        return self._next_break(nominal) if known else None

    def _border(self, position: int) -> int | None:
        """Return where the block that contains the hit before ``position`` ends."""
        return self._next_break(min(-(-position // BLOCK) * BLOCK, self._total))

    def _next_break(self, position: int) -> int | None:
        i = int(np.searchsorted(self._breaks, position))
        return int(self._breaks[i]) if i < len(self._breaks) else None

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
        least = self._scores[begin - self._first] * (1 - NEAR)
        after = self._first + int(np.searchsorted(-self._scores, -least, "right"))
        found = self._next_break(max(after, begin + 1))
        return self._total if found is None else found
