"""The columns of a snapshot: numbers about every map, one array a fact, in slot order.

A slot is the place of one state of one map in the arrays of a snapshot. It is given once and never
written to again: a map that changes gets another slot. So columns only grow, snapshots share their
files, and a change costs a few bytes of each however many maps there are. Files hold the numbers
and nothing else, little end first, and map straight into memory.
"""

import mmap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import xxhash

from mapshelf.errors import SnapshotDamaged
from mapshelf.model import Map
from mapshelf.query import FILTERS
from mapshelf.snapshot.format.append_file import GrowingFile
from mapshelf.snapshot.format.facet_codes import (
    CODE,
    PAIRS,
    VALUES,
    Codes,
    CodesWriter,
    values_file,
)
from mapshelf.snapshot.format.rating import rating
from mapshelf.snapshot.format.shortage import snapshot_error
from mapshelf.text.normalize import normalize

Array = npt.NDArray[Any]

FACTS: Final[dict[str, np.dtype[Any]]] = {
    "start": np.dtype("<u8"),
    "length": np.dtype("<u4"),
    "file_id": np.dtype("<i8"),
    "id": np.dtype("<u8"),
    "alpha": np.dtype("<u8"),
    "downloads": np.dtype("<i8"),
    "views": np.dtype("<i8"),
    "date": np.dtype("<i8"),
    "rating": np.dtype("<f8"),
    **{f"filter-{row.name}": np.dtype("<u8") for row in FILTERS},
}
"""What is known of each slot: where its record lies, its ids, its sort keys, its filter keys."""

COLUMNS: Final[dict[str, np.dtype[Any]]] = {**FACTS, **dict.fromkeys((*PAIRS, "owner"), CODE)}
"""All columns: what is known of each slot, and the codes that facets are counted by."""

READ: Final = (
    *("start", "length", "id", *PAIRS, "owner"),
    *(f"filter-{row.name}" for row in FILTERS),
)
"""The columns that answers are made from; the others only orders are."""


def id_key(public_id: str) -> int:
    """Return the hash by which a map is found, a number of 64 bits."""
    return xxhash.xxh3_64_intdigest(public_id.encode())


def title_beginning(title: str) -> int:
    """Return a number that tells how titles follow each other, but for those that begin alike."""
    # UTF-8 has the order of code points.
    return int.from_bytes(normalize(title).encode()[:8].ljust(8, b"\0"))


@dataclass(frozen=True, slots=True)
class Entry:
    """A map on its way into the columns, with the place of its record."""

    map: Map
    start: int
    length: int

    def row(self) -> tuple[object, ...]:
        """Return the values of this map in the order of ``FACTS``."""
        return (
            self.start,
            self.length,
            self.map.file_id,
            id_key(self.map.id),
            title_beginning(self.map.title),
            self.map.downloads,
            self.map.views,
            self.map.date_added,
            rating(self.map.thumbs_up, self.map.thumbs_down),
            *(row.key(self.map) for row in FILTERS),
        )


class Columns:
    """The columns while a snapshot is being built, in memory and in files that grow in ``folder``.

    The first ``count`` slots of what the files hold are taken up; which of them are alive has to be
    told (``revive``).
    """

    def __init__(self, folder: Path, count: int = 0) -> None:
        self._files = {
            name: GrowingFile(folder / column_file(name), count * dtype.itemsize)
            for name, dtype in COLUMNS.items()
        }
        self._arrays = {
            name: np.fromfile(folder / column_file(name), dtype, count)
            for name, dtype in COLUMNS.items()
        }
        self._codes = CodesWriter(folder, self._arrays)
        self._alive = np.zeros(count, "?")
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name][: self._count]

    @property
    def alive(self) -> Array:
        """Whether each slot holds the present state of a map."""
        return self._alive[: self._count]

    def append(self, entries: Sequence[Entry]) -> None:
        """Give each entry the next slot."""
        rows = zip(*(entry.row() for entry in entries), strict=True)
        columns: dict[str, Sequence[object]] = dict(zip(FACTS, rows, strict=False))
        columns.update(self._codes.encode([entry.map for entry in entries]))
        end = self._count + len(entries)
        self._make_room(end)
        for name, values in columns.items():
            array = np.array(values, COLUMNS[name])
            self._arrays[name][self._count : end] = array
            self._files[name].append(array.tobytes())
        self._alive[self._count : end] = True
        self._count = end

    def revive(self, slots: Array) -> None:
        """Note that these slots hold the present state of a map."""
        self._alive[slots] = True

    def remove(self, slot: int) -> None:
        """Note that what a slot holds is gone or has changed."""
        self._alive[slot] = False

    def rewrite(self, name: str, values: Array) -> None:
        """Give a whole column other values, in a file of its own."""
        path = self._files[name].path
        self._files[name].close()
        path.unlink()
        self._files[name] = GrowingFile(path)
        self._files[name].append(values.tobytes())
        self[name][:] = values

    def link_to(self, folder: Path) -> dict[str, tuple[int, str]]:
        """Make the files part of a snapshot; return the length and checksum of each."""
        columns = {
            file.path.name: file.link_to(folder / file.path.name) for file in self._files.values()
        }
        return columns | self._codes.link_to(folder)

    def close(self) -> None:
        """Let go of the files."""
        for file in self._files.values():
            file.close()
        self._codes.close()

    def _make_room(self, count: int) -> None:
        room = len(self._alive)
        if count > room:
            grown = max(count, room + room // 8)
            self._alive = self._enlarged(self._alive, grown)
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

    Raises:
        SnapshotDamaged: one is missing or cut short.
    """
    return {
        name: map_array(folder / column_file(name), slots * COLUMNS[name].itemsize, COLUMNS[name])
        for name in READ
    }


def load_codes(folder: Path, columns: Mapping[str, Array], lengths: Mapping[str, int]) -> Codes:
    """Map the codes of a snapshot into memory, read-only.

    Args:
        folder: the snapshot.
        columns: its columns.
        lengths: of each file of ``DICTIONARIES``, the bytes that are part of the snapshot.

    Raises:
        SnapshotDamaged: a file is missing or cut short, or does not hold whole numbers.
    """
    found = {
        name: map_array(folder / values_file(name), lengths[values_file(name)], dtype)
        for name, dtype in {**dict.fromkeys(PAIRS, CODE), **VALUES}.items()
    }
    try:
        pairs = {name: found[name].reshape(-1, len(facets)) for name, facets in PAIRS.items()}
    except ValueError as error:
        raise SnapshotDamaged("a pair of values is cut short") from error
    return Codes(columns, pairs, found)


def save(folder: Path, name: str, array: Array) -> None:
    """Write an array into a folder."""
    (folder / f"{name}.bin").write_bytes(array.data)


def load(folder: Path, name: str, dtype: str) -> Array:
    """Map an array of this type into memory, read-only.

    Raises:
        SnapshotDamaged: it is missing or does not hold whole numbers.
    """
    return map_array(folder / f"{name}.bin", None, np.dtype(dtype))


def map_array(path: Path, length: int | None, dtype: np.dtype[Any]) -> Array:
    """Map an array, the first ``length`` bytes of a file or all of it, into memory, read-only.

    Raises:
        SnapshotDamaged: it is missing or cut short, or does not hold whole numbers.
    """
    try:
        return np.frombuffer(map_file(path, length), dtype)
    except ValueError as error:
        raise SnapshotDamaged(f"{path.name} does not hold whole numbers") from error


def map_file(path: Path, length: int | None = None) -> mmap.mmap | bytes:
    """Map a file, or its first ``length`` bytes, into memory for reading.

    Raises:
        SnapshotDamaged: it is not there, or shorter than it should be.
        SnapshotUnavailable: the system is short of what that takes.
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
        raise snapshot_error(f"{path.name} cannot be read", error) from error
