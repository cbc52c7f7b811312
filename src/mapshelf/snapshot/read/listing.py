"""Lists of maps in five orders under any combination of filters, at any offset, at one price.

For each order there is the permutation of slots in that order; a map's place in it is its rank.
For each order and filter value there is the set of ranks of the maps that have it
(``posting_lists.py``). Filters combine by intersecting sets, the size of the result is the total,
and a page is a slice of it. Beside that, each order has a few changes since it was written
(``orders.py``): ranks that no longer count are taken out of every set, and the slots that came are
looked through one by one, each with the rank that it goes before.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from pyroaring import BitMap

from mapshelf.errors import SnapshotDamaged
from mapshelf.query import DEFAULT_ORDER, ORDERS, MapQuery
from mapshelf.snapshot.format.columns import Array
from mapshelf.snapshot.format.orders import Changes, Order, order_folder
from mapshelf.snapshot.format.posting_lists import Sets

Filters = Sequence[tuple[str, int]]
"""Names of filters, each with the key that maps must have."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A page of a list: how many maps there are in all, and the slots of these."""

    total: int
    slots: list[int]


class Listing:
    """The lists of one snapshot, read from its folder and its columns.

    Raises:
        SnapshotDamaged: a file is missing or not what it should be.
    """

    def __init__(self, folder: Path, columns: Mapping[str, Array]) -> None:
        self._lists = {order: _List(folder, order, columns) for order in ORDERS}
        # Those of categories, and of the users who ask for their own: every time they do.
        self._counts: dict[tuple[str, int], int] = {}
        if len({len(found) for found in self._lists.values()}) > 1:
            raise SnapshotDamaged("the orders hold different numbers of maps")

    def __len__(self) -> int:
        return len(self._lists[DEFAULT_ORDER])

    def count(self, name: str, key: int) -> int:
        """Return how many maps have ``key`` in the filter ``name``."""
        count = self._counts.get((name, key))
        if count is None:
            count = len(self._lists[DEFAULT_ORDER].matching(((name, key),)))
            self._counts[name, key] = count
        return count

    def select(self, query: MapQuery) -> Selection:
        """Return the page that ``query`` asks for, its text left aside."""
        maps, end = self._lists[query.order or DEFAULT_ORDER], query.offset + query.limit
        if not query.filters and maps.is_as_written:  # most lists there are: a slice
            return Selection(len(maps), maps.written(query.offset, end))
        found = maps.matching(query.filters)
        return Selection(len(found), found.page(query.offset, end))

    def all_matching(self, query: MapQuery) -> Array:
        """Return the slots of all maps that pass the filters of ``query``, in no order."""
        return self._lists[DEFAULT_ORDER].matching(query.filters).slots()

    def rank(self, order: str, slots: Array) -> Array:
        """Return ``slots`` in the order given."""
        return self._lists[order].ranked(slots)


class _List:
    """All maps in one order."""

    def __init__(self, folder: Path, order: str, columns: Mapping[str, Array]) -> None:
        written = Order(order_folder(folder, order))
        self._slots, self._ranks = written.slots, written.ranks
        self._changes = Changes.load(folder, order)
        self._gone = BitMap(self._changes.gone)
        self._sets = Sets(order_folder(folder, order), self._gone)
        self._columns = columns
        self._fresh: dict[str, dict[int, list[int]]] = {}
        # A memoryview of an array gives Python numbers, several times faster than NumPy's scalars.
        self.rank_after_fresh: Any = self._changes.places.data

    def __len__(self) -> int:
        return len(self._slots) - len(self._gone) + len(self._changes.fresh)

    @property
    def is_as_written(self) -> bool:
        """Whether nothing has changed since the order was written."""
        return not len(self._changes)

    def written(self, start: int, end: int) -> list[int]:
        """Return the slots that were from one rank to another when the order was written."""
        slots: list[int] = self._slots[start:end].tolist()
        return slots

    def matching(self, filters: Filters) -> "_Matching":
        """Return the maps that pass all filters."""
        if not filters:
            return _Matching(self, self._all, range(len(self._changes.fresh)))
        fresh = [self._fresh_by_key(name).get(key, []) for name, key in filters]
        if all(fresh) and len(fresh) > 1:
            fresh = [sorted(set(fresh[0]).intersection(*fresh[1:]))]
        return _Matching(self, self._sets.matching(filters), min(fresh, key=len))

    def ranked(self, slots: Array) -> Array:
        """Return ``slots`` in order."""
        if not len(slots):
            return slots
        is_fresh = slots >= len(self._ranks)
        ranks = np.sort(self._ranks[slots[~is_fresh]])
        fresh = np.flatnonzero(np.isin(self._changes.fresh, slots[is_fresh]))
        return self.slots_of(ranks, fresh.tolist())

    def slots_of(self, ranks: Sequence[int] | Array, fresh: Sequence[int]) -> Array:
        """Return the slots at ``ranks``, with the ``fresh`` ones at their places among them."""
        slots = self._slots[ranks] if len(ranks) else self._slots[:0]
        if not fresh:
            return slots
        numbers = list(fresh)
        places = np.searchsorted(ranks, self._changes.places[numbers])
        return np.insert(slots, places, self._changes.fresh[numbers])

    @cached_property
    def _all(self) -> BitMap:
        """The ranks of all maps that were there when the order was written and still are."""
        return BitMap(range(len(self._slots))) - self._gone

    def _fresh_by_key(self, name: str) -> dict[int, list[int]]:
        """Return the numbers of fresh slots by their keys in a filter."""
        numbers = self._fresh.get(name)
        if numbers is None:
            numbers = {}
            keys = self._columns[f"filter-{name}"][self._changes.fresh]
            for number, key in enumerate(keys.tolist()):
                numbers.setdefault(key, []).append(number)
            self._fresh[name] = numbers
        return numbers


class _Matching:
    """Some of the maps in one order: those with these ranks, and some of the fresh ones."""

    def __init__(self, all_maps: _List, ranks: BitMap, fresh: Sequence[int]) -> None:
        self._list = all_maps
        self._ranks = ranks
        self._fresh = fresh

    def __len__(self) -> int:
        return len(self._ranks) + len(self._fresh)

    def slots(self) -> Array:
        """Return the slots of all."""
        return self._list.slots_of(np.array(self._ranks.to_array(), "<u4"), self._fresh)

    def page(self, start: int, end: int) -> list[int]:
        """Return the slots from one place among them to another."""
        fresh = self._fresh
        first = last = bisect_left(range(len(fresh)), start, key=self._place) if start else 0
        while last < len(fresh) and self._place(last) < end:
            last += 1
        ranks = self._from(start - first, end - start - (last - first))
        slots: list[int] = self._list.slots_of(ranks, fresh[first:last]).tolist()
        return slots

    def _place(self, number: int) -> int:
        """Return which place among all of them one of the fresh ones has."""
        rank = self._list.rank_after_fresh[self._fresh[number]]
        return number + int(self._ranks.range_cardinality(0, rank))

    def _from(self, start: int, count: int) -> list[int]:
        """Return so many ranks, or as many as there are."""
        if start >= len(self._ranks):
            return []
        return list(islice(self._ranks.iter_equal_or_larger(self._ranks[start]), count))
