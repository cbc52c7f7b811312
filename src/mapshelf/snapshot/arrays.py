"""The columns of a snapshot: numbers about every map, one array a fact, in slot order.

A slot is a map's place in the arrays of a snapshot: given once, kept while the map lives, empty
after. Files are NumPy's own format, which is documented and maps straight into memory.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import xxhash

from mapshelf.errors import SnapshotDamaged
from mapshelf.model import Map
from mapshelf.query import FILTERS
from mapshelf.snapshot.rating import rating

Array = npt.NDArray[Any]

UNKNOWN_LICENCE: Final = -1
"""Stands in the column for no licence type."""

COLUMNS: Final[dict[str, np.dtype[Any]]] = {
    "start": np.dtype("<u8"),
    "length": np.dtype("<u4"),
    "alive": np.dtype("?"),
    "file_id": np.dtype("<i8"),
    "id": np.dtype("<u8"),
    "downloads": np.dtype("<i8"),
    "views": np.dtype("<i8"),
    "date": np.dtype("<i8"),
    "rating": np.dtype("<f8"),
    "licence": np.dtype("<i8"),
    **{f"filter-{row.name}": np.dtype("<u8") for row in FILTERS},
}
"""What is known of each slot: where its record lies, its ids, its sort keys, its filter keys."""


def id_key(public_id: str) -> int:
    """Return the hash by which a map is found, a number of 64 bits."""
    return xxhash.xxh3_64_intdigest(public_id.encode())


@dataclass(frozen=True, slots=True)
class Entry:
    """A map on its way into the columns, with the place of its record."""

    map: Map
    start: int
    length: int

    def row(self) -> tuple[object, ...]:
        """Return the values of this map in the order of ``COLUMNS``."""
        return (
            self.start,
            self.length,
            True,
            self.map.file_id,
            id_key(self.map.id),
            self.map.downloads,
            self.map.views,
            self.map.date_added,
            rating(self.map.thumbs_up, self.map.thumbs_down),
            UNKNOWN_LICENCE if self.map.licence_type_id is None else self.map.licence_type_id,
            *(row.key(self.map) for row in FILTERS),
        )


class Columns:
    """The columns while a snapshot is being built; room for more slots is kept at the end."""

    def __init__(self, arrays: dict[str, Array]) -> None:
        self._arrays = arrays
        self._count = len(arrays["file_id"])

    @classmethod
    def empty(cls) -> "Columns":
        """Return columns of no slot."""
        return cls({name: np.zeros(0, dtype) for name, dtype in COLUMNS.items()})

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name][: self._count]

    def append(self, entries: Iterable[Entry]) -> None:
        """Give each entry the next slot."""
        rows = [entry.row() for entry in entries]
        self._make_room(self._count + len(rows))
        end = self._count + len(rows)
        for (name, dtype), values in zip(COLUMNS.items(), zip(*rows, strict=True), strict=False):
            self._arrays[name][self._count : end] = np.array(values, dtype)
        self._count = end

    def replace(self, slot: int, entry: Entry) -> None:
        """Put another state of its map into a slot."""
        for name, value in zip(COLUMNS, entry.row(), strict=True):
            self._arrays[name][slot] = value

    def remove(self, slot: int) -> None:
        """Empty a slot."""
        self._arrays["alive"][slot] = False

    def _make_room(self, count: int) -> None:
        room = len(self._arrays["file_id"])
        if count > room:
            grown = max(count, room + room // 8)
            for name, array in self._arrays.items():
                larger = np.zeros(grown, array.dtype)
                larger[: self._count] = array[: self._count]
                self._arrays[name] = larger


def save(directory: Path, name: str, array: Array) -> None:
    """Write an array into the folder of a snapshot."""
    np.save(directory / f"{name}.npy", array, allow_pickle=False)


def load(directory: Path, name: str) -> Array:
    """Map an array of a snapshot into memory, read-only.

    Raises:
        SnapshotDamaged: it is missing or not an array.
    """
    try:
        array: Array = np.load(directory / f"{name}.npy", mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise SnapshotDamaged(f"{name}.npy cannot be read") from error
    return np.asarray(array)
