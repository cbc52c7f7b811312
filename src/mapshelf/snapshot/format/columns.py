"""Write and read the columns of a snapshot: arrays of numbers in slot order, one per fact.

A slot is the index of one version of one map in these arrays. It is never reused: a map that
changes gets a new slot. Therefore columns are append-only, snapshots share their files, and a
change costs a few bytes per column however many maps there are. The files hold only little-endian
numbers, and are memory-mapped without conversion.
"""

import mmap
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import xxhash

from mapshelf.comparison.fingerprint import Fingerprint
from mapshelf.errors import SnapshotDamaged
from mapshelf.model import ListedMap
from mapshelf.plurals import noun
from mapshelf.query import FILTERS, SORT_ORDERS
from mapshelf.snapshot.format.append_file import AppendFile, closed_on_failure
from mapshelf.snapshot.format.facet_codes import (
    CODE,
    GROUPS,
    VALUES,
    Codes,
    CodesWriter,
    values_file,
)
from mapshelf.snapshot.format.fingerprints import DTYPE, FINGERPRINT
from mapshelf.snapshot.format.fingerprints import row as fingerprint_row
from mapshelf.snapshot.format.keys import Keys
from mapshelf.snapshot.format.names import (
    FILES,
    NAMED,
    Names,
    NamesWriter,
    ends_column,
    names_file,
)
from mapshelf.snapshot.format.unavailable import snapshot_error

Array = npt.NDArray[Any]

FACTS: Final[dict[str, np.dtype[Any]]] = {
    "start": np.dtype("<u8"),
    "length": np.dtype("<u4"),
    "details": np.dtype("<u4"),
    "file_id": np.dtype("<i8"),
    "id": np.dtype("<u8"),
    "words": np.dtype("<u4"),
    FINGERPRINT: DTYPE,
    **{row.name: np.dtype(row.dtype) for row in SORT_ORDERS},
    **{f"filter-{row.name}": np.dtype("<u8") for row in FILTERS if row not in NAMED},
}
"""The columns of facts: offset and lengths of a slot's record and details, its ids, how many
words of the dictionary came with it, its fingerprint, its sort keys and its filter keys."""

ENDS: Final = {ends_column(row.name): np.dtype("<u8") for row in NAMED}
"""For each filter by names, the column of where the codes of each slot end (``names.py``)."""

COLUMNS: Final[dict[str, np.dtype[Any]]] = {
    **FACTS,
    **dict.fromkeys((*GROUPS, "owner"), CODE),
    **ENDS,
}
"""All columns: the facts, the codes by which facets are counted, and the ends of name codes."""

READ: Final = (
    *("start", "length", "details", "id", "alpha", FINGERPRINT, *GROUPS, "owner", *ENDS),
    *(f"filter-{row.name}" for row in FILTERS if row not in NAMED),
)
"""The columns that readers use; only the builder uses the others."""


NO_FINGERPRINT: Final = Fingerprint()

_UNNAMED: Final = tuple(place for place, row in enumerate(FILTERS) if row not in NAMED)


def id_key(public_id: str) -> int:
    """Return the 64-bit hash of a public id, by which ``IdIndex`` finds a map."""
    return xxhash.xxh3_64_intdigest(public_id.encode())


@dataclass(frozen=True, slots=True)
class Entry:
    """A map to append to the columns, with the position of its record.

    Attributes:
        listed: the map.
        keys: its keys.
        start: the offset of its record in the file of records, in bytes.
        length: the length of its record in bytes.
        details: the length in bytes of its details, which follow the record (see
            ``records.encode_details``).
        fingerprint: its fingerprint, by which similar maps are found.
        words: how many words of the dictionary of words (``term_dictionary.py``) came with it.
    """

    listed: ListedMap
    keys: Keys
    start: int
    length: int
    details: int = 0
    fingerprint: Fingerprint = NO_FINGERPRINT
    words: int = 0

    def row(self) -> tuple[object, ...]:
        """Return the values of this map for the columns ``FACTS``, in that order."""
        return (
            self.start,
            self.length,
            self.details,
            self.listed.map.file_id,
            id_key(self.listed.map.id),
            self.words,
            fingerprint_row(self.fingerprint),
            *self.keys.orders,
            *[keys[0] for keys in map(self.keys.filters.__getitem__, _UNNAMED)],
        )


class Columns:
    """The columns while a snapshot is built, in memory and in append-only files in ``folder``.

    The first ``count`` slots of the files are read. The caller says which of them are live
    (``mark_live``).
    """

    def __init__(self, folder: Path, count: int = 0) -> None:
        self._files: dict[str, AppendFile] = {}
        with ExitStack() as opened:
            open_file = closed_on_failure(opened)
            for name, dtype in COLUMNS.items():
                path = folder / column_file(name)
                self._files[name] = open_file(path, count * dtype.itemsize)
            self._arrays = {
                name: np.fromfile(folder / column_file(name), dtype, count)
                for name, dtype in COLUMNS.items()
            }
            self._codes = CodesWriter(folder, self._arrays, open_file)
            opened.pop_all()
        self._live = np.zeros(count, "?")
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name][: self._count]

    @property
    def live(self) -> Array:
        """For each slot, whether it holds the current version of a map."""
        return self._live[: self._count]

    def names(self, name: str) -> NamesWriter:
        """Return the names of a filter by names, such as ``folder``."""
        return self._codes.names[name]

    def append(self, entries: Sequence[Entry]) -> None:
        """Give each entry the next slot."""
        rows = zip(*(entry.row() for entry in entries), strict=True)
        columns: dict[str, Sequence[object]] = dict(zip(FACTS, rows, strict=False))
        columns.update(
            self._codes.encode(
                [entry.listed for entry in entries], [entry.keys for entry in entries]
            )
        )
        end = self._count + len(entries)
        self._make_room(end)
        for name, values in columns.items():
            array = np.array(list(values), COLUMNS[name])
            self._arrays[name][self._count : end] = array
            self._files[name].append(array.tobytes())
        self._live[self._count : end] = True
        self._count = end

    def mark_live(self, slots: Array) -> None:
        """Mark slots that hold the current version of a map."""
        self._live[slots] = True

    def remove(self, slot: int) -> None:
        """Mark a slot whose map has been removed or changed."""
        self._live[slot] = False

    def rewrite(self, name: str, values: Array) -> None:
        """Replace all values of a column, writing them to a new file."""
        path = self._files[name].path
        self._files[name].close()
        path.unlink()
        self._files[name] = AppendFile(path)
        self._files[name].append(values.tobytes())
        self[name][:] = values

    def link_to(self, folder: Path) -> dict[str, tuple[int, str]]:
        """Hard-link the files into a snapshot; return the length and checksum of each."""
        columns = {
            file.path.name: file.link_to(folder / file.path.name) for file in self._files.values()
        }
        return columns | self._codes.link_to(folder)

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()
        self._codes.close()

    def _make_room(self, count: int) -> None:
        room = len(self._live)
        if count > room:
            grown = max(count, room + room // 8)
            self._live = self._enlarged(self._live, grown)
            for name, array in self._arrays.items():
                self._arrays[name] = self._enlarged(array, grown)

    def _enlarged(self, array: Array, size: int) -> Array:
        larger = np.zeros(size, array.dtype)
        larger[: self._count] = array[: self._count]
        return larger


def column_file(name: str) -> str:
    """Return the name of the file of a column."""
    return f"column-{name}.bin"


def load_columns(folder: Path, slots: int) -> dict[str, Array]:
    """Map the columns ``READ`` of a snapshot into memory, read-only.

    The result also has the codes of names (such as ``folder-codes``) and the key of each code
    (such as ``folder-keys``). The builder may already have appended keys that no map in this
    snapshot has.

    Raises:
        SnapshotDamaged: a file is missing or cut short.
    """
    columns = {
        name: map_array(folder / column_file(name), slots * COLUMNS[name].itemsize, COLUMNS[name])
        for name in READ
    }
    for row in NAMED:
        ends = columns[ends_column(row.name)]
        codes, keys = (folder / names_file(row.name, part) for part in ("codes", "keys"))
        size = int(ends[-1]) * FILES["codes"].itemsize if slots else 0
        columns[f"{row.name}-codes"] = map_array(codes, size, FILES["codes"])
        columns[f"{row.name}-keys"] = _map_whole_numbers(keys, FILES["keys"])
    return columns


def load_codes(folder: Path, columns: Mapping[str, Array], lengths: Mapping[str, int]) -> Codes:
    """Map the codes of a snapshot and their dictionaries into memory, read-only.

    Args:
        folder: the folder of the snapshot.
        columns: its columns.
        lengths: for each file of ``DICTIONARIES``, the number of bytes that belong to the snapshot.

    Raises:
        SnapshotDamaged: a file is missing or cut short, or its size does not fit the data type.
    """
    found = {
        name: map_array(folder / values_file(name), lengths[values_file(name)], dtype)
        for name, dtype in {**dict.fromkeys(GROUPS, CODE), **VALUES}.items()
    }
    try:
        groups = {name: found[name].reshape(-1, len(facets)) for name, facets in GROUPS.items()}
    except ValueError as error:
        raise SnapshotDamaged("a group of values is truncated") from error
    names = {}
    for row in NAMED:
        parts = {
            part: map_array(folder / file, lengths[file], dtype)
            for part, dtype in FILES.items()
            if (file := names_file(row.name, part))
        }
        names[row.name] = Names(columns[ends_column(row.name)], parts)
    return Codes(columns, groups, found, names)


def save(folder: Path, name: str, array: Array) -> None:
    """Write an array to the file ``name`` (with extension ``.bin``) in a folder."""
    (folder / f"{name}.bin").write_bytes(array.data)


def load(folder: Path, name: str, dtype: str) -> Array:
    """Map an array that was written with ``save`` into memory, read-only.

    Raises:
        SnapshotDamaged: the file is missing, or its size does not fit the data type.
    """
    return map_array(folder / f"{name}.bin", None, np.dtype(dtype))


def map_array(path: Path, length: int | None, dtype: np.dtype[Any]) -> Array:
    """Map the first ``length`` bytes of a file, or all of it, into memory as a read-only array.

    Raises:
        SnapshotDamaged: the file is missing or cut short, or its size does not fit the data type.
    """
    try:
        return np.frombuffer(map_file(path, length), dtype)
    except ValueError as error:
        raise SnapshotDamaged(f"{path.name} has an incomplete number at its end") from error


def _map_whole_numbers(path: Path, dtype: np.dtype[Any]) -> Array:
    """Map all complete numbers in a file; the builder may be appending to it right now."""
    data = map_file(path)
    return np.frombuffer(data, dtype, len(data) // dtype.itemsize)


def map_file(path: Path, length: int | None = None) -> mmap.mmap | bytes:
    """Map a file, or its first ``length`` bytes, into memory for reading.

    Raises:
        SnapshotDamaged: the file is missing or cut short.
        SnapshotUnavailable: the file cannot be read at the moment.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if length is None:
                length = size
            if size < length:
                raise SnapshotDamaged(
                    f"{path.name} has {size} {noun(size, 'byte')} instead of {length}"
                )
            return mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ) if length else b""
    except OSError as error:
        raise snapshot_error(f"{path.name} cannot be read", error) from error
