"""Write the posting lists of all filters, for one order after the other."""

from array import array
from collections.abc import Callable
from pathlib import Path

import numpy as np
from pyroaring import BitMap

from mapshelf.query import FILTERS
from mapshelf.snapshot.format import posting_lists
from mapshelf.snapshot.format.columns import Array, Columns, save
from mapshelf.snapshot.format.names import NAMED, NamesWriter, ends_column
from mapshelf.snapshot.format.stored_order import NO_RANK


class FilterPostingsWriter:
    """Writes the posting lists of one filter, for any order.

    It keeps the slots grouped by filter key. Grouping takes a few times as long as ranking, so each
    call adds only the new slots.
    """

    def __init__(self) -> None:
        self._keys: Array = np.zeros(0, "<u8")
        self._codes: Array = np.zeros(0, "<u2")  # for each slot, the index of its key

    def extend(self, column: Array) -> None:
        """Add the new slots at the end of ``column``."""
        if len(column) == len(self._codes):
            return
        found, codes = np.unique(column[len(self._codes) :], return_inverse=True)
        keys = np.union1d(self._keys, found)
        # NumPy sorts 16-bit codes by radix sort, several times faster.
        narrow = "<u2" if len(keys) <= 2**16 else "<u4"
        moved, added = (np.searchsorted(keys, each).astype(narrow) for each in (self._keys, found))
        self._codes = np.concatenate((moved[self._codes], added[codes]))
        self._keys = keys

    def write(self, write: Callable[[bytes], object], permutation: Array) -> tuple[Array, ...]:
        """Write the posting list of each key; return keys, counts, and sizes in bytes.

        Args:
            write: writes bytes.
            permutation: the slot at each rank of the order.
        """
        codes = self._codes[permutation]
        ranks = np.argsort(codes, kind="stable").astype("<u4")
        counts = np.bincount(codes, minlength=len(self._keys))
        return _write_lists(write, self._keys, counts, ranks)


class NamePostingsWriter:
    """Writes the posting lists of a filter by names, for any order.

    It keeps every slot with the code of each of its names.
    """

    def __init__(self) -> None:
        self._seen = self._end = 0
        self._slots: Array = np.zeros(0, "<u4")
        self._codes: Array = np.zeros(0, "<u4")

    def extend(self, ends: Array, names: NamesWriter) -> None:
        """Add the new slots.

        Args:
            ends: the column of where the codes of each slot end.
            names: the names of the filter, with the codes.
        """
        if len(ends) == self._seen:
            return
        counts = np.diff(ends[self._seen :].astype("<i8"), prepend=self._end)
        slots = np.repeat(np.arange(self._seen, len(ends), dtype="<u4"), counts)
        codes = names.codes(self._end, int(ends[-1]))
        self._slots = np.concatenate((self._slots, slots))
        self._codes = np.concatenate((self._codes, codes))
        self._seen, self._end = len(ends), int(ends[-1])

    def write(
        self, write: Callable[[bytes], object], ranks: Array, keys: Array
    ) -> tuple[Array, ...]:
        """Write the posting list of each key; return keys, counts, and sizes in bytes.

        Args:
            write: writes bytes.
            ranks: the rank of each slot, ``NO_RANK`` for a slot without a map.
            keys: the key of each code.
        """
        keys, places = np.unique(keys, return_inverse=True)  # several codes may have the same
        places = places.astype("<u8")
        found = ranks[self._slots]
        live = found != NO_RANK
        # Place and rank are joined into one number: sorting by two keys takes several times longer.
        joined = places[self._codes[live]] << np.uint64(32) | found[live]
        joined.sort()
        counts = np.bincount((joined >> np.uint64(32)).astype("<i8"), minlength=len(keys))
        return _write_lists(write, keys, counts, joined.astype("<u4"))


def _write_lists(
    write: Callable[[bytes], object], keys: Array, counts: Array, ranks: Array
) -> tuple[Array, ...]:
    """Write a list of ranks for each key that has any; return keys, counts, and sizes in bytes.

    ``ranks`` has the ranks of all keys, one key after the other; ``counts`` has their number for
    each key.
    """
    present = counts > 0
    keys, counts = keys[present], counts[present].astype("<u4")
    sizes = counts.astype("<u8") * 4
    ends = np.cumsum(counts, dtype="<u8").tolist()
    written = 0
    for value in np.flatnonzero(counts > posting_lists.ARRAY_LIMIT).tolist():
        first, last = ends[value] - int(counts[value]), ends[value]
        write(ranks[written:first].tobytes())
        bitmap = BitMap(array("I", ranks[first:last].tobytes()))
        bitmap.run_optimize()
        serialised = bitmap.serialize()
        write(serialised)
        sizes[value] = len(serialised)
        written = last
    write(ranks[written:].tobytes())
    return keys, counts, sizes


class PostingListsWriter:
    """Writes the posting lists of all filters, for one order at a time."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._filters = {row.name: FilterPostingsWriter() for row in FILTERS if row not in NAMED}
        self._named = {row.name: NamePostingsWriter() for row in NAMED}

    def write(self, folder: Path, permutation: Array, ranks: Array) -> None:
        """Write the posting lists of an order into its folder.

        Args:
            folder: the folder of the stored order.
            permutation: the slot at each rank.
            ranks: the rank of each slot, the inverse of ``permutation``.
        """
        for name, postings in self._filters.items():
            postings.extend(self._columns[f"filter-{name}"])
        for name, named in self._named.items():
            named.extend(self._columns[ends_column(name)], self._columns.names(name))
        written = []
        with (folder / posting_lists.LISTS).open("wb") as file:
            for row in FILTERS:
                if row in NAMED:
                    keys = self._columns.names(row.name).keys()
                    written.append(self._named[row.name].write(file.write, ranks, keys))
                else:
                    written.append(self._filters[row.name].write(file.write, permutation))
        keys, counts, sizes = (np.concatenate(each) for each in zip(*written, strict=True))
        save(folder, "keys", keys)
        save(folder, "counts", counts)
        save(folder, "ends", np.cumsum([0, *sizes], dtype="<u8"))
        save(folder, "filters", np.cumsum([0, *(len(each) for each, *_ in written)], dtype="<u8"))
