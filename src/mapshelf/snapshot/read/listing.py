"""List maps in any order, with any combination of filters, equally fast at any offset.

A stored order is a permutation of slots; the index of a map in it is its rank. Each order has a
posting list of ranks for each filter value (``posting_lists.py``). Filters are combined by
intersecting posting lists: the size of the result is the total, and a page is a slice of it.
Changes since an order was written are stored separately (``stored_order.py``): removed ranks are
deleted from every posting list, and each added slot is inserted before a known rank.
"""

from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
from pyroaring import BitMap

from mapshelf.errors import SnapshotDamaged
from mapshelf.query import DEFAULT_ORDER, FILTERS, NOT, ORDERS, MapQuery
from mapshelf.snapshot.format import posting_lists
from mapshelf.snapshot.format.columns import Array, load, map_file
from mapshelf.snapshot.format.names import NAMED, Names, codes_of_slots, ends_column
from mapshelf.snapshot.format.stored_order import OrderChanges, StoredOrder, order_folder
from mapshelf.snapshot.read.letters import Letter, letters

LISTS_IN_MEMORY: Final = 256
"""Number of posting lists that a worker caches per order; each takes at most 125 kB for a million
maps."""

_FILTER_NUMBERS: Final = {row.name: number for number, row in enumerate(FILTERS)}
_NAMED: Final = frozenset(row.name for row in NAMED)

Filters = Sequence[tuple[str, int]]
"""Names of filters, each with the key that a map must have, or must not have (``NOT``)."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A page of a list: the number of all matches, and the slots of the page."""

    total: int
    slots: list[int]


class Listing:
    """The lists of one snapshot, read from its folder and its columns.

    Raises:
        SnapshotDamaged: a file is missing or does not fit the others.
    """

    def __init__(self, folder: Path, columns: Mapping[str, Array]) -> None:
        self._columns = columns
        self._lists = {order: _OrderedMaps(folder, order, columns) for order in ORDERS}
        # Counts are requested for each category, and for each user who lists their own maps.
        self._counts: dict[tuple[str, int], int] = {}
        self._name_counts: dict[str, Array] = {}
        if len({len(found) for found in self._lists.values()}) > 1:
            raise SnapshotDamaged("the sort orders have different numbers of maps")

    def __len__(self) -> int:
        return len(self._lists[DEFAULT_ORDER])

    def count(self, name: str, key: int) -> int:
        """Return how many maps have ``key`` in the filter ``name``."""
        count = self._counts.get((name, key))
        if count is None:
            count = len(self._lists[DEFAULT_ORDER].matching(((name, key),)))
            self._counts[name, key] = count
        return count

    def name_counts(self, name: str, names: Names) -> Array:
        """Return the number of maps with each name of a filter, indexed by code."""
        maps = self._lists[DEFAULT_ORDER]
        if not len(names.spellings):
            return maps.counts(name, names.parts["keys"], names)
        if name not in self._name_counts:  # posting lists do not say which spelling maps have
            self._name_counts[name] = names.counts(maps.matching(()).slots())
        return self._name_counts[name]

    def value_counts(self, name: str) -> tuple[Array, Array]:
        """Return the keys that occur in a filter, and the number of maps with each."""
        return self._lists[DEFAULT_ORDER].value_counts(name)

    def select(self, query: MapQuery) -> Selection:
        """Return the page for ``query``, ignoring its text."""
        maps, end = self._lists[query.order or DEFAULT_ORDER], query.offset + query.limit
        if not query.filters and maps.is_unchanged:  # most lists: a slice
            return Selection(len(maps), maps.written(query.offset, end))
        found = maps.matching(query.filters)
        return Selection(len(found), found.page(query.offset, end))

    def letters(self, query: MapQuery) -> list[Letter]:
        """Return the offsets of first letters in the alphabetical list, ignoring the query text."""
        return letters(self._lists["alpha"].matching(query.filters), self._columns["alpha"])

    def all_matching(self, query: MapQuery) -> Array:
        """Return the slots of all maps that pass the filters of ``query``, unordered."""
        return self._lists[DEFAULT_ORDER].matching(query.filters).slots()

    def rank(self, order: str, slots: Array) -> Array:
        """Return ``slots`` sorted by ``order``."""
        return self._lists[order].ranked(slots)


class _OrderedMaps:
    """All maps in one order.

    Attributes:
        is_unchanged: whether nothing has changed since the order was written.
    """

    def __init__(self, folder: Path, order: str, columns: Mapping[str, Array]) -> None:
        written = StoredOrder(order_folder(folder, order))
        self._slots, self._ranks = written.slots, written.ranks
        self._changes = OrderChanges.load(folder, order)
        self.is_unchanged = not len(self._changes)
        self._removed = BitMap(self._changes.removed)
        self._posting_lists = _PostingLists(order_folder(folder, order), self._removed)
        self._columns = columns
        self._added: dict[str, dict[int, list[int]]] = {}
        # A memoryview yields Python integers, several times faster than NumPy's scalars.
        self.rank_after_added: Any = self._changes.ranks.data

    def __len__(self) -> int:
        return len(self._slots) - len(self._removed) + len(self._changes.added)

    def counts(self, name: str, keys: Array, codes: Names) -> Array:
        """Return the number of maps with each name of a filter; see ``Listing.name_counts``."""
        known, counts = self._posting_lists.counts(name)
        if not len(known):
            found = np.zeros(len(keys), "<i8")
        else:
            places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            found = np.where(known[places] == keys, counts[places], 0).astype("<i8")
        if len(self._changes):
            found = found - codes.counts_of(self._slots[self._changes.removed])
            found += codes.counts_of(self._changes.added)
        return found

    def value_counts(self, name: str) -> tuple[Array, Array]:
        """Return the keys of a single-valued filter, and the number of maps with each."""
        keys, counts = self._posting_lists.counts(name)
        if len(self._changes):
            column = self._columns[f"filter-{name}"]
            gone, come = column[self._slots[self._changes.removed]], column[self._changes.added]
            weights = np.concatenate((counts, np.full(len(gone), -1), np.full(len(come), 1)))
            keys, places = np.unique(np.concatenate((keys, gone, come)), return_inverse=True)
            counts = np.bincount(places, weights, len(keys)).astype("<i8")
        present = counts > 0
        return keys[present], counts[present]

    def written(self, start: int, end: int) -> list[int]:
        """Return the slots between two ranks of the stored order."""
        slots: list[int] = self._slots[start:end].tolist()
        return slots

    def matching(self, filters: Filters) -> "_Matching":
        """Return the maps that pass all filters."""
        if not filters:
            return _Matching(self, self._all, range(len(self._changes.added)))
        wanted = [(name, key) for name, key in filters if not name.startswith(NOT)]
        if len(wanted) < len(filters):
            unwanted = [(name, key) for name, key in filters if name.startswith(NOT)]
            return self._without(self.matching(wanted), unwanted)
        added = [self._added_by_key(name).get(key, []) for name, key in filters]
        if all(added) and len(added) > 1:
            added = [sorted(set(added[0]).intersection(*added[1:]))]
        return _Matching(self, self._posting_lists.matching(filters), min(added, key=len))

    def _without(self, found: "_Matching", unwanted: Filters) -> "_Matching":
        """Return ``found`` without the maps that match any ``unwanted`` filter."""
        for name, key in unwanted:
            found = found.without(self.matching([(name.removeprefix(NOT), key)]))
        return found

    def ranked(self, slots: Array) -> Array:
        """Return ``slots`` sorted in this order."""
        if not len(slots):
            return slots
        is_added = slots >= len(self._ranks)
        ranks = np.sort(self._ranks[slots[~is_added]])
        added = np.flatnonzero(np.isin(self._changes.added, slots[is_added]))
        return self.slots_of(ranks, added.tolist())

    def slots_of(self, ranks: Sequence[int] | Array, added: Sequence[int]) -> Array:
        """Return the slots at ``ranks``, with the added slots numbered ``added`` inserted."""
        slots = self._slots[ranks] if len(ranks) else self._slots[:0]
        if not added:
            return slots
        numbers = list(added)
        places = np.searchsorted(ranks, self._changes.ranks[numbers])
        return np.insert(slots, places, self._changes.added[numbers])

    @cached_property
    def _all(self) -> BitMap:
        """All ranks except the removed ones."""
        return BitMap(range(len(self._slots))) - self._removed

    def _added_by_key(self, name: str) -> dict[int, list[int]]:
        """Return, for each key of a filter, the numbers of the added slots that have it."""
        numbers = self._added.get(name)
        if numbers is None:
            numbers = {}
            for number, keys in enumerate(self._keys_of(name, self._changes.added)):
                for key in keys:
                    numbers.setdefault(key, []).append(number)
            self._added[name] = numbers
        return numbers

    def _keys_of(self, name: str, slots: Array) -> list[list[int]]:
        """Return the keys of some slots in a filter."""
        if name not in _NAMED:
            return [[key] for key in self._columns[f"filter-{name}"][slots].tolist()]
        columns = self._columns
        codes, counts = codes_of_slots(columns[f"{name}-codes"], columns[ends_column(name)], slots)
        keys = iter(columns[f"{name}-keys"][codes].tolist())
        return [list(islice(keys, count)) for count in counts.tolist()]


class _Matching:
    """Matches in one order: ranks of the stored order, and some of the added slots."""

    def __init__(self, all_maps: _OrderedMaps, ranks: BitMap, added: Sequence[int]) -> None:
        self._list = all_maps
        self._ranks = ranks
        self._added = added

    def __len__(self) -> int:
        return len(self._ranks) + len(self._added)

    def without(self, others: "_Matching") -> "_Matching":
        """Return these matches without those in ``others``, which has the same order."""
        left_out = set(others._added)
        added = [number for number in self._added if number not in left_out]
        return _Matching(self._list, self._ranks - others._ranks, added)

    def slots(self) -> Array:
        """Return the slots of all matches."""
        return self._list.slots_of(np.array(self._ranks.to_array(), "<u4"), self._added)

    def page(self, start: int, end: int) -> list[int]:
        """Return the slots of the matches from ``start`` to ``end``."""
        added = self._added
        first = last = bisect_left(range(len(added)), start, key=self._place) if start else 0
        while last < len(added) and self._place(last) < end:
            last += 1
        ranks = self._from(start - first, end - start - (last - first))
        slots: list[int] = self._list.slots_of(ranks, added[first:last]).tolist()
        return slots

    def _place(self, number: int) -> int:
        """Return the index among all matches of the added slot at index ``number``."""
        rank = self._list.rank_after_added[self._added[number]]
        return number + int(self._ranks.range_cardinality(0, rank))

    def _from(self, start: int, count: int) -> list[int]:
        """Return up to ``count`` of the matching ranks, from index ``start``."""
        if start >= len(self._ranks):
            return []
        return list(islice(self._ranks.iter_equal_or_larger(self._ranks[start]), count))


@dataclass(frozen=True, slots=True)
class _PostingList:
    """A posting list: its index among all lists of the order, and the number of its ranks."""

    number: int
    count: int


class _PostingLists:
    """The posting lists of one order, without the ``removed`` ranks.

    Raises:
        SnapshotDamaged: a file is missing or does not fit the others.
    """

    def __init__(self, folder: Path, removed: BitMap) -> None:
        keys, counts = load(folder, "keys", "<u8"), load(folder, "counts", "<u4")
        ends, filters = load(folder, "ends", "<u8"), load(folder, "filters", "<u8")
        self._data = map_file(folder / posting_lists.LISTS)
        if not len(keys) == len(counts) == len(ends) - 1 or len(filters) != len(FILTERS) + 1:
            raise SnapshotDamaged(f"the keys in {folder.name} do not match their counts")
        if int(filters[-1]) != len(keys) or int(ends[-1]) != len(self._data):
            raise SnapshotDamaged(f"the sets in {folder.name} do not match their file")
        # Memoryviews yield Python integers, several times faster than NumPy's scalars.
        self._keys, self._counts, self._ends = keys.data, counts.data, ends.data
        self._filters: list[int] = filters.tolist()
        self._removed = removed
        self._recent: OrderedDict[int, BitMap] = OrderedDict()

    def matching(self, filters: Sequence[tuple[str, int]]) -> BitMap:
        """Return the ranks of the maps that pass all filters. Callers must not modify it."""
        lists = [self._find(name, key) for name, key in filters]
        shortest_first = sorted((each for each in lists if each), key=lambda each: each.count)
        if len(shortest_first) < len(lists):
            return BitMap()
        ranks = self._read(shortest_first[0])
        for each in shortest_first[1:]:
            ranks = ranks & self._read(each)
        return ranks

    def counts(self, name: str) -> tuple[Array, Array]:
        """Return the keys of a filter, ascending, and their counts, including removed ranks."""
        number = _FILTER_NUMBERS[name]
        part = slice(self._filters[number], self._filters[number + 1])
        return np.asarray(self._keys[part]), np.asarray(self._counts[part])

    def _find(self, name: str, key: int) -> _PostingList | None:
        number = _FILTER_NUMBERS[name]
        end = self._filters[number + 1]
        place = bisect_left(self._keys, key, self._filters[number], end)
        if place == end or self._keys[place] != key:
            return None
        return _PostingList(place, self._counts[place])

    def _read(self, found: _PostingList) -> BitMap:
        ranks = self._recent.get(found.number)
        if ranks is None:
            data = self._data[self._ends[found.number] : self._ends[found.number + 1]]
            short = found.count <= posting_lists.ARRAY_LIMIT
            ranks = BitMap(array("I", data)) if short else BitMap.deserialize(data)
            if self._removed:
                ranks = ranks - self._removed  # four times as fast as in place
            self._recent[found.number] = ranks
            if len(self._recent) > LISTS_IN_MEMORY:
                self._recent.popitem(last=False)
        else:
            # Another thread may have evicted the list in the meantime.
            with suppress(KeyError):
                self._recent.move_to_end(found.number)
        return ranks
