"""Which maps have a filter's value, as sets of ranks: places in one order of the maps.

Few ranks are kept as plain numbers (a posting), many as a roaring bitmap. Sets lie one after the
other in one file and are read when first asked for, so that a worker holds only those in use.

Source: S. Chambi, D. Lemire et al., "Better bitmap performance with Roaring bitmaps" (2016).
"""

from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from pyroaring import BitMap

from mapshelf.errors import SnapshotDamaged
from mapshelf.query import FILTERS
from mapshelf.snapshot.format.columns import Array, Columns, load, map_file, save

POSTING_LIMIT: Final = 1024
"""Sets of up to this many ranks are kept as plain numbers; larger ones as bitmaps."""

SETS_IN_MEMORY: Final = 256
"""Sets a worker keeps at hand; the largest of a million maps takes 125 kB."""

_NUMBERS: Final = {row.name: number for number, row in enumerate(FILTERS)}


class Groups:
    """The slots grouped by the key of one filter, whatever order they are to be ranked in.

    Grouping takes a few times as long as ranking, so the groups are kept, and only slots that came
    since are added.
    """

    def __init__(self) -> None:
        self._keys: Array = np.zeros(0, "<u8")
        self._codes: Array = np.zeros(0, "<u2")

    def extend(self, column: Array) -> None:
        """Take in the slots of ``column`` that are not known yet."""
        found, codes = np.unique(column[len(self._codes) :], return_inverse=True)
        keys = np.union1d(self._keys, found)
        # Codes of 16 bits are sorted by radix, several times faster.
        narrow = "<u2" if len(keys) <= 2**16 else "<u4"
        moved, fresh = (np.searchsorted(keys, each).astype(narrow) for each in (self._keys, found))
        self._codes = np.concatenate((moved[self._codes], fresh[codes]))
        self._keys = keys

    def write(self, write: Callable[[bytes], object], permutation: Array) -> tuple[Array, ...]:
        """Write the set of ranks for each key; return the keys, their counts and sizes in bytes."""
        codes = self._codes[permutation]
        ranks = np.argsort(codes, kind="stable").astype("<u4")
        counts = np.bincount(codes, minlength=len(self._keys))
        present = counts > 0
        keys, counts = self._keys[present], counts[present].astype("<u4")
        sizes = counts.astype("<u8") * 4
        ends = np.cumsum(counts, dtype="<u8").tolist()
        written = 0
        for value in np.flatnonzero(counts > POSTING_LIMIT).tolist():
            first, last = ends[value] - int(counts[value]), ends[value]
            write(ranks[written:first].tobytes())
            bitmap = _bitmap(ranks[first:last].tobytes())
            bitmap.run_optimize()
            serialised = bitmap.serialize()
            write(serialised)
            sizes[value] = len(serialised)
            written = last
        write(ranks[written:].tobytes())
        return keys, counts, sizes


class SetsWriter:
    """Writes the sets of all filters, for one order after the other."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._groups = {row.name: Groups() for row in FILTERS}

    def write(self, folder: Path, permutation: Array) -> None:
        """Write the sets of ranks that the slots have in this permutation."""
        for name, group in self._groups.items():
            group.extend(self._columns[f"filter-{name}"])
        with (folder / "sets.bin").open("wb") as file:
            written = [group.write(file.write, permutation) for group in self._groups.values()]
        keys, counts, sizes = (np.concatenate(each) for each in zip(*written, strict=True))
        save(folder, "keys", keys)
        save(folder, "counts", counts)
        save(folder, "ends", np.cumsum([0, *sizes], dtype="<u8"))
        save(folder, "filters", np.cumsum([0, *(len(each) for each, *_ in written)], dtype="<u8"))


@dataclass(frozen=True, slots=True)
class _Value:
    """A key that maps had when sets were written: its number among all, and how many had it."""

    number: int
    count: int


class Sets:
    """The sets of ranks in one order, without the ranks that are ``gone``.

    Raises:
        SnapshotDamaged: a file is missing or not what it should be.
    """

    def __init__(self, folder: Path, gone: BitMap) -> None:
        keys, counts = load(folder, "keys", "<u8"), load(folder, "counts", "<u4")
        ends, filters = load(folder, "ends", "<u8"), load(folder, "filters", "<u8")
        self._data = map_file(folder / "sets.bin")
        if not len(keys) == len(counts) == len(ends) - 1 or len(filters) != len(FILTERS) + 1:
            raise SnapshotDamaged(f"the keys in {folder.name} do not fit their counts")
        if int(filters[-1]) != len(keys) or int(ends[-1]) != len(self._data):
            raise SnapshotDamaged(f"the sets in {folder.name} do not fit their file")
        # Memoryviews of arrays give Python numbers, several times faster than NumPy's scalars.
        self._keys, self._counts, self._ends = keys.data, counts.data, ends.data
        self._filters: list[int] = filters.tolist()
        self._gone = gone
        self._recent: OrderedDict[int, BitMap] = OrderedDict()

    def matching(self, filters: Sequence[tuple[str, int]]) -> BitMap:
        """Return the ranks of the maps that pass all filters; not to be altered."""
        values = [self._find(name, key) for name, key in filters]
        found = sorted((value for value in values if value), key=lambda value: value.count)
        if len(found) < len(values):
            return BitMap()
        ranks = self._read(found[0])
        for value in found[1:]:
            ranks = ranks & self._read(value)
        return ranks

    def _find(self, name: str, key: int) -> _Value | None:
        number = _NUMBERS[name]
        end = self._filters[number + 1]
        place = bisect_left(self._keys, key, self._filters[number], end)
        if place == end or self._keys[place] != key:
            return None
        return _Value(place, self._counts[place])

    def _read(self, value: _Value) -> BitMap:
        ranks = self._recent.get(value.number)
        if ranks is None:
            data = self._data[self._ends[value.number] : self._ends[value.number + 1]]
            posting = value.count <= POSTING_LIMIT
            ranks = _bitmap(data) if posting else BitMap.deserialize(data)
            if self._gone:
                ranks = ranks - self._gone  # four times as fast as in place
            self._recent[value.number] = ranks
            if len(self._recent) > SETS_IN_MEMORY:
                self._recent.popitem(last=False)
        else:
            # Another thread may have let go of it meanwhile.
            with suppress(KeyError):
                self._recent.move_to_end(value.number)
        return ranks


def _bitmap(ranks: bytes) -> BitMap:
    numbers = array("I")
    numbers.frombytes(ranks)
    return BitMap(numbers)
