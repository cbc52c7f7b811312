"""Store the names of which a map may have several: the folders that it is in, and its tags.

A name gets the next code when the first map with it is added, and keeps it. The codes of all slots
are in one append-only file (``append_file.py``), one slot after the other. A column says where the
codes of each slot end. In this way, maps can be found by name and names can be counted without
reading records. A name that no map has any more only takes up space: its count is zero, so readers
skip it.

Tags that differ only in case are the same tag, with the same key. Each spelling has its own code,
and readers show the one that most maps have, because tags can be respelled.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mapshelf.errors import SnapshotDamaged
from mapshelf.model import ListedMap
from mapshelf.query import FILTERS, Filter
from mapshelf.snapshot.format.append_file import AppendFile, OpenFile
from mapshelf.snapshot.format.keys import Keys

Array = NDArray[Any]

NAMED: Final = tuple(row for row in FILTERS if row.names is not None)
"""The filters by names."""

NO_NAME: Final = (1 << 32) - 1
"""Used in place of a code: the parent of a top-level name, and the code of an unknown name."""

FILES: Final[dict[str, np.dtype[Any]]] = {
    "codes": np.dtype("<u4"),
    "keys": np.dtype("<u8"),
    "parents": np.dtype("<u4"),
    "ends": np.dtype("<u8"),
    "text": np.dtype("u1"),
}
"""The files of names, with their data types.

``codes`` holds the codes of all slots. Three files have one value per code: ``keys`` its key,
``parents`` the code of its parent folder, and ``ends`` the end of its name in ``text``, which holds
all names as UTF-8.
"""


def ends_column(name: str) -> str:
    """Return the name of the column that says where the codes of each slot end."""
    return f"ends-{name}"


def names_file(name: str, part: str) -> str:
    """Return the file name of one of ``FILES`` for the filter ``name``."""
    return f"names-{name}-{part}.bin"


NAME_FILES: Final = tuple(names_file(row.name, part) for row in NAMED for part in FILES)


class NamesWriter:
    """The names of one filter while a snapshot is being built."""

    def __init__(self, folder: Path, row: Filter, ends: Array, open_file: OpenFile) -> None:
        """Continue with the names in ``folder``.

        Args:
            folder: the folder of the files.
            row: the filter.
            ends: for each slot added so far, where its codes end.
            open_file: opens each file.
        """
        self._row = row
        self._open_file = open_file
        self._end = int(ends[-1]) if len(ends) else 0
        codes = self._open(folder, "codes", self._end)
        # Codes have no gaps, so the largest tells how many there are.
        count = int(codes[1].max()) + 1 if self._end else 0
        keys, parents = self._open(folder, "keys", count), self._open(folder, "parents", count)
        written = self._open(folder, "ends", count)
        self._text_end = int(written[1][-1]) if count else 0
        text = self._open(folder, "text", self._text_end)
        parts = (codes, keys, parents, written, text)
        self._files = {name: part[0] for name, part in zip(FILES, parts, strict=True)}
        known: Iterable[int | bytes] = keys[1].tolist()
        if not row.nested:
            ends_of_names = written[1].tolist()
            content = text[1].tobytes()
            known = (content[a:b] for a, b in zip([0, *ends_of_names], ends_of_names, strict=False))
        # Folders are known by their keys, and tags by their spellings.
        self._codes: dict[int | bytes, int] = {name: code for code, name in enumerate(known)}

    def encode(self, maps: Sequence[ListedMap], keys: Sequence[Keys]) -> list[int]:
        """Append the codes of ``maps`` to the file; return where the codes of each map end.

        Args:
            maps: the maps to add.
            keys: the keys of each map.
        """
        ends: list[int] = []
        codes: list[int] = []
        for found, own in zip(maps, keys, strict=True):
            codes += dict.fromkeys(self._codes_of(found, own.of_filter(self._row.name)))
            ends.append(self._end + len(codes))
        self._files["codes"].append(np.array(codes, FILES["codes"]).tobytes())
        self._end += len(codes)
        return ends

    def codes(self, start: int, end: int) -> Array:
        """Return the codes from index ``start`` to ``end`` of the file of codes."""
        return self._read("codes", start, end)

    def keys(self) -> Array:
        """Return the key of each code."""
        return self._read("keys", 0, len(self._codes))

    def link_to(self, folder: Path) -> dict[str, tuple[int, str]]:
        """Hard-link the files into a snapshot; return the length and checksum of each."""
        files = self._files.values()
        return {file.path.name: file.link_to(folder / file.path.name) for file in files}

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()

    def _codes_of(self, found: ListedMap, keys: Sequence[int]) -> Iterable[int]:
        assert self._row.names is not None
        if not self._row.nested:
            spellings: dict[int, bytes] = {}
            for name, key in zip(self._row.names(found), keys, strict=True):
                spellings.setdefault(key, _encoded(name))
            return [self._code(name, key, NO_NAME) for key, name in spellings.items()]
        known = [self._codes.get(key) for key in keys]
        codes = [code for code in known if code is not None]
        if len(codes) == len(keys):
            return codes
        codes = []
        for name, key in zip(self._row.names(found), keys, strict=True):
            codes.append(self._code(_encoded(name), key, codes[-1] if codes else NO_NAME))
        return codes

    def _code(self, name: bytes, key: int, above: int) -> int:
        """Return the code of a name, a new one if it has none."""
        known = key if self._row.nested else name
        code = self._codes.get(known)
        if code is None:
            code = self._codes[known] = len(self._codes)
            self._text_end += len(name)
            self._files["text"].append(name)
            for part, value in (("keys", key), ("parents", above), ("ends", self._text_end)):
                self._files[part].append(np.array([value], FILES[part]).tobytes())
        return code

    def _open(self, folder: Path, part: str, count: int) -> tuple[AppendFile, Array]:
        size = FILES[part].itemsize
        file = self._open_file(folder / names_file(self._row.name, part), count * size)
        return file, np.frombuffer(file.read(0, count * size), FILES[part])

    def _read(self, part: str, start: int, end: int) -> Array:
        file, size = self._files[part], FILES[part].itemsize
        file.flush()
        return np.frombuffer(file.read(start * size, (end - start) * size), FILES[part])


@dataclass(frozen=True)
class Names:
    """The names of one filter in one snapshot, for reading.

    Attributes:
        slot_ends: for each slot, where its codes end.
        parts: the content of each of ``FILES``.

    Raises:
        SnapshotDamaged: a file does not fit the others.
    """

    slot_ends: Array
    parts: Mapping[str, Array]

    def __post_init__(self) -> None:
        count, ends = len(self), self.parts["ends"]
        codes = int(self.slot_ends[-1]) if len(self.slot_ends) else 0
        if not count == len(self.parts["parents"]) == len(ends):
            raise SnapshotDamaged("the names do not match their keys")
        if len(self.parts["codes"]) != codes:
            raise SnapshotDamaged("the codes of names do not match the maps")
        if len(self.parts["text"]) != (int(ends[-1]) if count else 0):
            raise SnapshotDamaged("the names do not match their text")

    def __len__(self) -> int:
        return len(self.parts["keys"])

    def name(self, code: int) -> str:
        """Return the name that a code stands for."""
        ends = self.parts["ends"]
        start = int(ends[code - 1]) if code else 0
        # Only damage can make bytes that are not UTF-8.
        return bytes(self.parts["text"][start : int(ends[code])]).decode(errors="replace")

    def names(self, codes: Array) -> list[str]:
        """Return the names that many codes stand for, several times faster than one by one."""
        ends = self.parts["ends"]
        starts = np.where(codes > 0, ends[codes - 1], 0).tolist()
        text = self.parts["text"].data
        return [
            str(text[start:end], "utf-8", "replace")
            for start, end in zip(starts, ends[codes].tolist(), strict=True)
        ]

    def code(self, key: int) -> int:
        """Return the code of a name by its key, ``NO_NAME`` if there is none."""
        found = np.flatnonzero(self.parts["keys"] == np.uint64(key))
        return int(found[0]) if len(found) else NO_NAME

    def within(self, code: int) -> Array:
        """Return the codes of a name's direct children; for ``NO_NAME``, of top-level names."""
        return np.flatnonzero(self.parts["parents"] == np.uint32(code))

    @cached_property
    def spellings(self) -> Array:
        """The codes whose keys have several, sorted by key and then by age."""
        keys = self.parts["keys"]
        by_key = np.argsort(keys, kind="stable")
        same = np.diff(keys[by_key]) == 0
        return by_key[np.append(same, False) | np.insert(same, 0, False)] if len(keys) else by_key

    def counts(self, slots: Array) -> Array:
        """Return, for each code, how many of the slots have its name. No slot may be repeated.

        Those with any spelling count for the most frequent one, the oldest of several.
        """
        if len(slots) < len(self.slot_ends):  # otherwise all slots are selected
            counts = self.counts_of(slots)
        else:
            counts = np.bincount(self.parts["codes"], minlength=len(self))
        codes = self.spellings
        if len(codes):
            keys, of_codes = self.parts["keys"][codes], counts[codes]
            first = np.flatnonzero(np.insert(np.diff(keys) != 0, 0, True))
            last = np.append(first[1:], len(codes)) - 1
            counts[codes] = 0
            best = codes[np.lexsort((-codes, of_codes, keys))[last]]
            counts[best] = np.add.reduceat(of_codes, first)
        return counts

    def counts_of(self, slots: Array) -> Array:
        """Return, for each code, how many of the slots have it. They may be repeated."""
        codes = codes_of_slots(self.parts["codes"], self.slot_ends, slots)[0]
        return np.bincount(codes, minlength=len(self))


def _encoded(name: str) -> bytes:
    return name.encode(errors="replace")


def codes_of_slots(codes: Array, slot_ends: Array, slots: Array) -> tuple[Array, Array]:
    """Return the codes of some slots, one slot after the other, and the number of codes of each.

    Args:
        codes: the codes of all slots.
        slot_ends: for each slot, where its codes end in ``codes``.
        slots: the slots.
    """
    slots = slots.astype("<i8")
    ends = slot_ends[slots].astype("<i8")
    starts = np.where(slots > 0, slot_ends[slots - 1].astype("<i8"), 0) if len(slots) else ends
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths
    places = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
    return codes[places], lengths
