"""Find similar maps: near-duplicates ("twins") with the same topics, and maps on the same subject.

Twins share fingerprint terms in the search index. Their similarity is computed from the number of
equal bands in the fingerprint column. To find maps similar to one map, both are read only for that
map and its candidates. Only ``groups`` compares the fingerprints of all the maps it is given.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from operator import eq
from typing import Final

import numpy as np

from mapshelf.comparison.fingerprint import BANDS, NEAR
from mapshelf.snapshot.format.columns import Array
from mapshelf.snapshot.format.fingerprints import LOOKED_UP, band_terms, outline_term, word_terms
from mapshelf.snapshot.read.text_index import TextIndex

MOST_TWINS: Final = 50
"""Maximum number of twins returned for a map."""

_LOOKED_AT: Final = 64
"""Number of maps with shared words that are examined; it exceeds the number returned, because twins
are left out."""

_FEWEST_MAPS: Final = 20
_FREQUENT: Final = 50
"""A word is too common to characterize a map if it is in more than ``_FEWEST_MAPS`` maps and in
more than one in ``_FREQUENT``. In a small catalogue, it is too common if it is in more than half of
the maps."""

_MOST_MAPS: Final = 10_000
"""A word in more maps than this is never searched for: that would be too slow, whatever the size of
the catalogue."""

_TELLING: Final = 12
"""Number of words of a map that are searched for: the rarest ones."""

_COMMON: Final = 2
"""Number of words that two maps must share to count as being on the same subject."""


@dataclass(frozen=True, slots=True)
class Twin:
    """A map with the same, or nearly the same, topics as another.

    Attributes:
        slot: its slot.
        same: whether its outline is identical.
        share: the approximate share of topics that both maps have in common, from 0 to 1.
    """

    slot: int
    same: bool
    share: float


class SimilarMaps:
    """Finds similar maps in one snapshot."""

    def __init__(self, column: Array, text: TextIndex) -> None:
        self._column = column
        self._text = text

    def twins(self, slot: int, limit: int = MOST_TWINS) -> list[Twin]:
        """Return the maps with the same or nearly the same topics, most similar first."""
        own = self._column[slot]
        key = int(own["outline"])
        if not key:
            return []
        wanted = [outline_term(key), *band_terms(own["bands"][:LOOKED_UP].tolist())]
        found = [
            twin
            for other in self._text.having_any(wanted, 2 * limit + 1)
            if other != slot and (twin := self._twin(own, other))
        ]
        found.sort(key=lambda one: (-one.same, -one.share, one.slot))
        return found[:limit]

    def about_the_same(self, slot: int, limit: int) -> list[int]:
        """Return the slots of maps that share rare words with a map, best matches first.

        Twins of the map are left out, and of several maps that are twins only the first is kept.
        """
        own = self._column[slot]
        known = [(self._text.alike(term), term) for term in word_terms(own["words"].tolist())]
        maps = len(self._text)
        most = max(2, min(_FEWEST_MAPS, maps // 2), min(maps // _FREQUENT, _MOST_MAPS))
        rare = [term for count, term in sorted(known) if 1 < count <= most][:_TELLING]
        found = self._text.about(rare, _LOOKED_AT) if rare else []
        words = set(own["words"].tolist()) - {0}
        first = [_Fingerprint(own)]
        kept: list[int] = []
        for other in found:
            if len(kept) == limit:  # so most of the maps that were found are never looked at
                break
            row = self._column[other]
            if other == slot or len(words.intersection(row["words"].tolist())) < _COMMON:
                continue
            fingerprint = _Fingerprint(row)
            if not any(map(fingerprint.is_twin_of, first)):
                first.append(fingerprint)
                kept.append(other)
        return kept

    def may_be_twins(self, slots: Array) -> bool:
        """Return whether some of these maps may be twins, a quick check before ``groups``.

        Most pages of a list have no twins.
        """
        rows = self._column[slots]
        outlines, bands = np.sort(rows["outline"]), np.sort(rows["bands"], axis=0)
        return _has_equal(outlines) or _has_equal(bands)

    def groups(self, slots: Array) -> list[list[int]]:
        """Return groups of twins among these maps, largest first.

        Sorting brings equal keys and bands together, so pairs with nothing in common are never
        compared.
        """
        rows = self._column[slots]
        groups = _Groups(len(slots))
        outlines = rows["outline"].copy()
        groups.join_equal(outlines, lambda one, other: outlines[one] > 0)
        bands = np.ascontiguousarray(rows["bands"])
        for place in range(BANDS):
            groups.join_equal(
                bands[:, place], lambda one, other: (bands[one] == bands[other]).sum(1) >= NEAR
            )
        found = [[int(slots[one]) for one in group] for group in groups.several()]
        return sorted(found, key=lambda group: (-len(group), group))

    def _twin(self, own: Array, other: int) -> Twin | None:
        row = self._column[other]
        same = bool(row["outline"] == own["outline"])
        if same:
            return Twin(other, same, 1.0)
        equal = int(_equal_bands(own, row))
        return Twin(other, same, (equal / BANDS) ** (1 / 3)) if equal >= NEAR else None


class _Groups:
    """Disjoint sets (union-find) of numbers."""

    def __init__(self, count: int) -> None:
        self._above = np.arange(count)

    def join_equal(self, keys: Array, are_joined: Callable[[Array, Array], Array]) -> None:
        """Sort by ``keys`` and join neighbours with equal keys, if ``are_joined`` accepts them."""
        order = np.argsort(keys, kind="stable")
        ranked = keys[order]
        equal = np.flatnonzero((ranked[1:] == ranked[:-1]) & (ranked[1:] > 0))
        one, other = order[equal], order[equal + 1]
        passed = are_joined(one, other)
        for left, right in zip(one[passed].tolist(), other[passed].tolist(), strict=True):
            self._join(left, right)

    def several(self) -> list[list[int]]:
        """Return the groups of more than one number."""
        members: dict[int, list[int]] = {}
        for number in np.flatnonzero(self._above != np.arange(len(self._above))).tolist():
            top = self._top(number)
            members.setdefault(top, [top]).append(number)
        return [sorted(group) for group in members.values()]

    def _join(self, one: int, other: int) -> None:
        one, other = self._top(one), self._top(other)
        self._above[max(one, other)] = min(one, other)

    def _top(self, number: int) -> int:
        above = self._above
        while above[number] != number:
            above[number] = above[above[number]]
            number = int(above[number])
        return number


class _Fingerprint:
    """The fingerprint of one map, in Python's own numbers: faster than NumPy for a few maps."""

    def __init__(self, row: Array) -> None:
        self._outline = int(row["outline"])
        self._bands = [band or nan for band in row["bands"].tolist()]  # 0 is equal to nothing

    def is_twin_of(self, other: "_Fingerprint") -> bool:
        """Return whether both maps have the same or nearly the same topics."""
        if self._outline and self._outline == other._outline:
            return True
        equal: int = sum(map(eq, self._bands, other._bands))
        return equal >= NEAR


def _has_equal(ranked: Array) -> bool:
    """Return whether any column of sorted numbers has equal, non-zero neighbours."""
    return bool(((ranked[1:] == ranked[:-1]) & (ranked[1:] > 0)).any())


def _equal_bands(one: Array, others: Array) -> Array:
    """Return how many bands of ``one`` equal those of ``others``: one row, or an array of rows."""
    return np.asarray(((one["bands"] == others["bands"]) & (one["bands"] > 0)).sum(axis=-1))
