"""Encode facet values as codes: small whole numbers without gaps (dictionary encoding).

Counting codes takes about a nanosecond per map, while counting values would require sorting them. A
value gets the next code when the first map with it is added, and keeps it. Therefore codes are
stored in append-only columns like all other facts. The values are in append-only files
(``append_file.py``), each at the index of its code.

Most facets have few values, which occur in few combinations. Therefore several facets share one
column, whose codes stand for combinations (groups) of codes. That halves the time for counting.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mapshelf.model import ListedMap
from mapshelf.snapshot.format.append_file import AppendFile, OpenFile
from mapshelf.snapshot.format.keys import Keys
from mapshelf.snapshot.format.names import NAME_FILES, NAMED, Names, NamesWriter, ends_column

UNKNOWN_LICENCE: Final = -1
"""The value of a map without a licence type."""

CODE: Final = np.dtype("<u4")

GROUPS: Final = {
    "category-software": ("category", "software"),
    "licence-year": ("licence", "year"),
    "language-size": ("language", "size", "with_notes", "with_tasks"),
}
"""The facets that share a column, by the name of the column."""

VALUES: Final[dict[str, np.dtype[Any]]] = {
    "category": np.dtype("<u8"),
    "software": np.dtype("<u8"),
    "licence": np.dtype("<i8"),
    "year": np.dtype("<i8"),
    "language": np.dtype("<u8"),
    "size": np.dtype("<u8"),
    "with_notes": np.dtype("<u8"),
    "with_tasks": np.dtype("<u8"),
    "owner": np.dtype("<u8"),
}
"""The data type of each facet's values.

The values are licence ids and years; those of all other facets are filter keys.
"""


def values_file(name: str) -> str:
    """Return the name of the file with the values, or groups, that codes stand for."""
    return f"values-{name}.bin"


DICTIONARIES: Final = (*map(values_file, (*GROUPS, *VALUES)), *NAME_FILES)
"""The files with the values, groups and names that codes stand for."""


@dataclass(frozen=True, slots=True)
class Codes:
    """The codes of one snapshot, for reading.

    Attributes:
        columns: for each name in ``GROUPS``, and for ``owner``, the code of each slot.
        groups: for each name in ``GROUPS``, an array with one row per code: the codes of the single
            facets.
        values: for each facet, the value of each code.
        names: for each filter by names, its names.
    """

    columns: Mapping[str, NDArray[Any]]
    groups: Mapping[str, NDArray[Any]]
    values: Mapping[str, NDArray[Any]]
    names: Mapping[str, Names]


class CodesWriter:
    """The codes while a snapshot is being built, with the files of ``DICTIONARIES``."""

    def __init__(
        self, folder: Path, columns: Mapping[str, NDArray[Any]], open_file: OpenFile
    ) -> None:
        """Continue with the codes in ``columns``, whose dictionaries are in ``folder``."""
        # Codes have no gaps, so the largest tells how many there are.
        self._groups, counts = {}, {"owner": _count(columns["owner"])}
        for name, facets in GROUPS.items():
            path, count = folder / values_file(name), _count(columns[name])
            file = open_file(path, count * len(facets) * CODE.itemsize)
            self._groups[name] = _Dictionary(file, CODE, len(facets))
            known = self._groups[name].known()
            counts.update((facet, _count(known[:, i])) for i, facet in enumerate(facets))
        self._values = {
            name: _Dictionary(
                open_file(folder / values_file(name), counts[name] * dtype.itemsize), dtype
            )
            for name, dtype in VALUES.items()
        }
        self.names = {
            row.name: NamesWriter(folder, row, columns[ends_column(row.name)], open_file)
            for row in NAMED
        }

    def encode(self, maps: Sequence[ListedMap], keys: Sequence[Keys]) -> dict[str, list[int]]:
        """Return the values of ``maps`` for each column of codes, and for each column of ends.

        Facet values and names that occur for the first time get new codes.

        Args:
            maps: the maps to add.
            keys: the keys of each map.
        """
        codes = {
            name: dictionary.encode([(value,) for value in _values_of(name, maps, keys)])
            for name, dictionary in self._values.items()
        }
        columns = {"owner": codes["owner"]}
        for name, facets in GROUPS.items():
            rows = zip(*(codes[facet] for facet in facets), strict=True)
            columns[name] = self._groups[name].encode(list(rows))
        names = {ends_column(name): each.encode(maps, keys) for name, each in self.names.items()}
        return columns | names

    def link_to(self, folder: Path) -> dict[str, tuple[int, str]]:
        """Hard-link the files into a snapshot; return the length and checksum of each."""
        files = [dictionary.file for dictionary in self._dictionaries()]
        linked = {file.path.name: file.link_to(folder / file.path.name) for file in files}
        for names in self.names.values():
            linked |= names.link_to(folder)
        return linked

    def close(self) -> None:
        """Close the files."""
        for dictionary in self._dictionaries():
            dictionary.file.close()
        for names in self.names.values():
            names.close()

    def _dictionaries(self) -> list["_Dictionary"]:
        return [*self._groups.values(), *self._values.values()]


class _Dictionary:
    """An append-only file of rows of numbers; the code of a row is its index."""

    def __init__(self, file: AppendFile, dtype: np.dtype[Any], width: int = 1) -> None:
        self.file = file
        self._dtype, self._width = dtype, width
        rows = map(tuple, self.known().tolist())
        self._codes: dict[tuple[int, ...], int] = {row: code for code, row in enumerate(rows)}

    def known(self) -> NDArray[Any]:
        """Return all rows in the file; call this only before ``encode`` adds more."""
        data = self.file.read(0, len(self.file))
        return np.frombuffer(data, self._dtype).reshape(-1, self._width)

    def encode(self, rows: Sequence[tuple[int, ...]]) -> list[int]:
        """Return the code of each row; new rows get the next codes."""
        codes, fresh = [], []
        for row in rows:
            code = self._codes.get(row)
            if code is None:
                code = self._codes[row] = len(self._codes)
                fresh.append(row)
            codes.append(code)
        if fresh:
            self.file.append(np.array(fresh, self._dtype).tobytes())
        return codes


def _values_of(facet: str, maps: Sequence[ListedMap], keys: Sequence[Keys]) -> list[int]:
    if facet == "licence":
        ids = (found.map.licence_type_id for found in maps)
        return [UNKNOWN_LICENCE if one is None else one for one in ids]
    return [each.of_filter(facet)[0] for each in keys]


def _count(codes: NDArray[Any]) -> int:
    return int(codes.max()) + 1 if len(codes) else 0
