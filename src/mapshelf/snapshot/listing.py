"""Lists of maps in five orders under any combination of filters, at any offset, at one price.

For each order there is the permutation of slots in that order; a map's place in it is its rank.
For each order and filter value there is the set of ranks of the maps that have it: few of them
as plain numbers (a posting), many as a roaring bitmap. Filters combine by intersecting sets, the
size of the result is the total, and a page is a slice of it. Sets lie in one file for each order
and are read when first asked for, so that a worker holds only those in use.

Source: S. Chambi, D. Lemire et al., "Better bitmap performance with Roaring bitmaps" (2016).
"""

import mmap
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from pyroaring import BitMap

from mapshelf.errors import SnapshotDamaged
from mapshelf.folding import fold
from mapshelf.query import DEFAULT_ORDER, FILTERS, ORDERS, MapQuery
from mapshelf.snapshot.arrays import Array, Columns, load, save

POSTING_LIMIT: Final = 1024
"""Sets of up to this many ranks are kept as plain numbers; larger ones as bitmaps."""

SETS_IN_MEMORY: Final = 256
"""Sets a worker keeps at hand; the largest of a million maps takes 125 kB."""

Titles = Callable[[Sequence[int]], list[str]]
"""Gives the titles of slots."""


class Orders:
    """The five permutations, kept up to date as maps come, change and go.

    Each order ends in the file id, so that it is total: the newest first, ``alpha`` the oldest.
    A few changes are put in place one by one; many are sorted anew.
    """

    def __init__(self, columns: Columns, titles: Titles, permutations: dict[str, Array]) -> None:
        self._columns = columns
        self._titles = titles
        self._permutations = permutations

    def __getitem__(self, order: str) -> Array:
        return self._permutations[order]

    def read_titles_from(self, titles: Titles) -> None:
        """Read titles in another way from now on."""
        self._titles = titles

    def rebuild(self) -> None:
        """Sort all maps anew."""
        slots = np.flatnonzero(self._columns["alive"]).astype("<u4")
        self._permutations = {order: self._sorted(order, slots) for order in ORDERS}

    def update(self, changed: Sequence[int]) -> None:
        """Take the present state of the slots ``changed`` into account."""
        if len(changed) > max(1000, len(self._columns) // 50):
            self.rebuild()
            return
        stale = np.zeros(len(self._columns), "?")
        stale[list(changed)] = True
        alive = [slot for slot in changed if self._columns["alive"][slot]]
        for order in ORDERS:
            old = self._permutations[order]
            kept = old[~stale[old]]
            new = self._sorted(order, np.array(alive, "<u4"))
            key = self._key(order)
            places = [bisect_left(kept, key(slot), key=key) for slot in new.tolist()]
            self._permutations[order] = np.insert(kept, places, new)

    def _sorted(self, order: str, slots: Array) -> Array:
        file_ids = self._columns["file_id"][slots]
        if order == "alpha":
            titles = self._titles(slots.tolist())
            keys = [(fold(title), title) for title in titles]
            ids = file_ids.tolist()
            ranked = sorted(range(len(slots)), key=lambda i: (keys[i], ids[i]))
            return slots[ranked] if ranked else slots
        keys_descending = -self._columns[order][slots]
        ordered: Array = slots[np.lexsort((-file_ids, keys_descending))]
        return ordered

    def _key(self, order: str) -> Callable[[int], Any]:
        file_ids = self._columns["file_id"]
        if order == "alpha":

            def by_title(slot: int) -> tuple[str, str, int]:
                (title,) = self._titles([slot])
                return fold(title), title, int(file_ids[slot])

            return by_title
        column = self._columns[order]
        return lambda slot: (-column[slot], -file_ids[slot])


def write_listing(directory: Path, columns: Columns, orders: Orders) -> None:
    """Write the permutations and the sets of ranks into the folder of a snapshot."""
    groups = [_Groups(columns[f"filter-{row.name}"], columns["alive"]) for row in FILTERS]
    for row, group in zip(FILTERS, groups, strict=True):
        save(directory, f"keys-{row.name}", group.keys)
        save(directory, f"counts-{row.name}", group.counts)
    for order in ORDERS:
        permutation = orders[order]
        save(directory, f"order-{order}", permutation)
        with (directory / f"sets-{order}.bin").open("wb") as file:
            sizes = [group.write(file.write, permutation) for group in groups]
        ends = np.cumsum(np.concatenate(sizes), dtype="<u8")
        save(directory, f"sets-{order}", np.insert(ends, 0, 0))


class _Groups:
    """The maps grouped by one filter's keys, whatever order they are to be ranked in."""

    def __init__(self, column: Array, alive: Array) -> None:
        self.keys, codes, self.counts = np.unique(
            column[alive], return_inverse=True, return_counts=True
        )
        self.counts = self.counts.astype("<u4")
        # Codes of 16 bits are sorted by radix, several times faster.
        narrow = "<u2" if len(self.keys) <= 2**16 else "<u4"
        self._codes = np.zeros(len(column), narrow)
        self._codes[alive] = codes

    def write(self, write: Callable[[bytes], object], permutation: Array) -> Array:
        """Write the set of ranks for each key, in order; return their sizes in bytes."""
        ranks = np.argsort(self._codes[permutation], kind="stable").astype("<u4")
        sizes = self.counts.astype("<u8") * 4
        ends = np.cumsum(self.counts, dtype="<u8").tolist()
        written = 0
        for value in np.flatnonzero(self.counts > POSTING_LIMIT).tolist():
            first, last = ends[value] - int(self.counts[value]), ends[value]
            write(ranks[written:first].tobytes())
            bitmap = _bitmap(ranks[first:last].tobytes())
            bitmap.run_optimize()
            serialised = bitmap.serialize()
            write(serialised)
            sizes[value] = len(serialised)
            written = last
        write(ranks[written:].tobytes())
        return sizes


@dataclass(frozen=True, slots=True)
class Selection:
    """A page of a list: how many maps there are in all, and the slots of these."""

    total: int
    slots: list[int]


class Listing:
    """The lists of one snapshot, read from its folder.

    Raises:
        SnapshotDamaged: a file is missing or not what it should be.
    """

    def __init__(self, directory: Path) -> None:
        self._permutations = {order: load(directory, f"order-{order}") for order in ORDERS}
        self._filters: dict[str, _FilterKeys] = {}
        first = 0
        for row in FILTERS:
            keys = _FilterKeys(directory, row.name, first)
            self._filters[row.name] = keys
            first += len(keys)
        self._sets = {order: _Sets(directory, order, first) for order in ORDERS}
        self._ranks: dict[str, Array] = {}

    def __len__(self) -> int:
        return len(self._permutations[DEFAULT_ORDER])

    def count(self, name: str, key: int) -> int:
        """Return how many maps have ``key`` in the filter ``name``."""
        value = self._filters[name].find(key)
        return 0 if value is None else value.count

    def select(self, query: MapQuery) -> Selection:
        """Return the page that ``query`` asks for, its text left aside."""
        order = query.order or DEFAULT_ORDER
        permutation = self._permutations[order]
        end = query.offset + query.limit
        if not query.filters:
            return Selection(len(permutation), permutation[query.offset : end].tolist())
        ranks = self._matching(order, query.filters)
        page = ranks[query.offset : end]
        return Selection(len(ranks), permutation[list(page)].tolist() if page else [])

    def all_matching(self, query: MapQuery) -> Array:
        """Return the slots of all maps that pass the filters of ``query``, in no order."""
        permutation = self._permutations[DEFAULT_ORDER]
        if not query.filters:
            return permutation
        ranks = self._matching(DEFAULT_ORDER, query.filters)
        found: Array = permutation[np.array(ranks.to_array(), "<u4")]
        return found

    def rank(self, order: str, slots: Array) -> Array:
        """Return ``slots`` in the order given."""
        if order not in self._ranks:
            permutation = self._permutations[order]
            # Slots of removed maps lie between the others: the ranks go up to the highest slot.
            size = int(permutation.max()) + 1 if len(permutation) else 0
            ranks = np.zeros(size, "<u4")
            ranks[permutation] = np.arange(len(permutation), dtype="<u4")
            self._ranks[order] = ranks
        ordered: Array = self._permutations[order][np.sort(self._ranks[order][slots])]
        return ordered

    def _matching(self, order: str, filters: tuple[tuple[str, int], ...]) -> BitMap:
        values = [self._filters[name].find(key) for name, key in filters]
        found = sorted((value for value in values if value), key=lambda value: value.count)
        if len(found) < len(values):
            return BitMap()
        sets = self._sets[order]
        ranks = sets.read(found[0])
        for value in found[1:]:
            ranks = ranks & sets.read(value)
        return ranks


@dataclass(frozen=True, slots=True)
class _Value:
    """A key that maps of the snapshot have: its number among all, and how many have it."""

    number: int
    count: int


class _FilterKeys:
    """The keys of one filter in ascending order, numbered on from ``first``."""

    def __init__(self, directory: Path, name: str, first: int) -> None:
        keys, counts = load(directory, f"keys-{name}"), load(directory, f"counts-{name}")
        if len(keys) != len(counts):
            raise SnapshotDamaged(f"the keys of {name} do not fit their counts")
        # Memoryviews of arrays give Python numbers, several times faster than NumPy's scalars.
        self._keys, self._counts = keys.data, counts.data
        self._first = first

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, key: int) -> _Value | None:
        place = bisect_left(self._keys, key)
        if place == len(self._keys) or self._keys[place] != key:
            return None
        return _Value(self._first + place, self._counts[place])


class _Sets:
    """The sets of ranks of one order."""

    def __init__(self, directory: Path, order: str, count: int) -> None:
        offsets = load(directory, f"sets-{order}")
        self._data = map_file(directory / f"sets-{order}.bin")
        if len(offsets) != count + 1 or int(offsets[-1]) != len(self._data):
            raise SnapshotDamaged(f"the sets of order {order} do not fit their file")
        self._offsets = offsets.data
        self._recent: OrderedDict[int, BitMap] = OrderedDict()

    def read(self, value: _Value) -> BitMap:
        """Return the ranks of the maps that have ``value``; not to be altered."""
        ranks = self._recent.get(value.number)
        if ranks is None:
            data = self._data[self._offsets[value.number] : self._offsets[value.number + 1]]
            posting = value.count <= POSTING_LIMIT
            ranks = _bitmap(data) if posting else BitMap.deserialize(data)
            self._recent[value.number] = ranks
            if len(self._recent) > SETS_IN_MEMORY:
                self._recent.popitem(last=False)
        else:
            # Another thread may have let go of it meanwhile.
            with suppress(KeyError):
                self._recent.move_to_end(value.number)
        return ranks


def map_file(path: Path, length: int | None = None) -> mmap.mmap | bytes:
    """Map a file, or its first ``length`` bytes, into memory for reading.

    Raises:
        SnapshotDamaged: it is not there, or shorter than it should be.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if length is None:
                length = size
            if size < length:
                raise SnapshotDamaged(f"{path.name} has {size} bytes instead of {length}")
            return mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ) if length else b""
    except OSError as error:
        raise SnapshotDamaged(f"{path.name} cannot be read") from error


def _bitmap(ranks: bytes) -> BitMap:
    numbers = array("I")
    numbers.frombytes(ranks)
    return BitMap(numbers)
