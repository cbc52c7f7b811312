"""Compute facets: count maps by category, software, owner, year and so on.

For a selection of maps, facets are counted from columns of codes (``facet_codes.py``), which takes
one or two nanoseconds per map. For all maps, the counts are stored with the posting lists.
Category, software and licence are returned as ids. The name of an owner is read from the record of
their first map. The names of folders and tags come from ``names.py``.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from mapshelf.query import NO_ID, SIZES, MapQuery, language_of
from mapshelf.snapshot.format.columns import Array
from mapshelf.snapshot.format.facet_codes import GROUPS, UNKNOWN_LICENCE, Codes
from mapshelf.snapshot.format.names import NO_NAME, Names
from mapshelf.snapshot.format.records import record_owner
from mapshelf.snapshot.read.listing import Listing

MOST_VALUES: Final = 50
"""Maximum number of values returned per facet: the most frequent ones."""

SMALL: Final = 8
"""With fewer than one selected map per this many codes, sorting the codes of the selection is
faster than counting into an array of all codes."""

FIRST_PIECE: Final = 1024
"""Number of maps examined in the first step to find one map of each owner. The number doubles with
each step."""

_SIZES: Final = tuple(SIZES)

_GROUP_OF: Final = {
    facet: (name, place) for name, facets in GROUPS.items() for place, facet in enumerate(facets)
}
"""The column that holds a facet, and the position of its code in a group."""

_NONE: Final = {
    "software": NO_ID,
    "licence": UNKNOWN_LICENCE,
    "language": NO_ID,
    "size": NO_ID,
}
"""For some facets, the value that means "none", which is not counted."""

Record = Callable[[int], bytes]
"""A function that returns the record of a slot."""

Counts = list[tuple[int, int]]
"""Values (ids, years or keys), each with its number of maps."""

NamedCounts = list[tuple[str, int]]
"""Names, each with its number of maps."""


@dataclass(frozen=True, slots=True)
class Facets:
    """The facets of a selection of ``total`` maps.

    The most frequent values come first; years are sorted from the latest. Folders are paths; sizes
    and booleans are spelled as in query parameters.
    """

    total: int
    category: Counts
    software: Counts
    licence: Counts
    owner: NamedCounts
    year: NamedCounts
    language: NamedCounts
    size: NamedCounts
    with_notes: NamedCounts
    with_tasks: NamedCounts
    folder: NamedCounts
    tag: NamedCounts


FACET_NAMES: Final = tuple(name for name in Facets.__dataclass_fields__ if name != "total")
"""The names of all facets."""

_OF_NAMES: Final = ("folder", "tag")


class Counted(Protocol):
    """Maps whose values are counted."""

    def __len__(self) -> int:
        """Return the number of maps."""

    def values(self, facet: str) -> tuple[Array, Array]:
        """Return the values of a facet that occur, and the number of maps with each."""

    def names(self, name: str) -> Array:
        """Return the number of maps with each name of a filter, indexed by code."""

    def slots(self, start: int, end: int) -> Array:
        """Return the slots of the maps from index ``start`` to ``end``, in a fixed order."""


class SelectedMaps:
    """Some maps of a snapshot, given by their slots."""

    def __init__(self, codes: Codes, slots: Array) -> None:
        self._codes = codes
        self._slots = slots
        self._groups: dict[str, tuple[Array, Array]] = {}

    def __len__(self) -> int:
        return len(self._slots)

    def values(self, facet: str) -> tuple[Array, Array]:
        """See ``Counted``."""
        values = self._codes.values[facet]
        if facet not in _GROUP_OF:
            found, counts = _count_codes(self._codes.columns[facet], self._slots, len(values))
            return values[found], counts
        name, place = _GROUP_OF[facet]
        groups, weights = self._counted_groups(name)
        # bincount adds weights as floating-point numbers, exact for whole numbers up to 2**53.
        counts = np.bincount(groups[:, place], weights, len(values)).astype("<i8")
        present = np.flatnonzero(counts)
        return values[present], counts[present]

    def names(self, name: str) -> Array:
        """See ``Counted``."""
        return self._codes.names[name].counts(self._slots)

    def slots(self, start: int, end: int) -> Array:
        """See ``Counted``."""
        return self._slots[start:end]

    def _counted_groups(self, name: str) -> tuple[Array, Array]:
        """Return the groups of codes that occur in a column, and the number of maps with each."""
        counted = self._groups.get(name)
        if counted is None:
            groups = self._codes.groups[name]
            found, counts = _count_codes(self._codes.columns[name], self._slots, len(groups))
            counted = self._groups[name] = groups[found], counts
        return counted


class AllMaps:
    """All maps of a snapshot, counted by means of its posting lists."""

    def __init__(self, codes: Codes, listing: Listing) -> None:
        self._codes = codes
        self._listing = listing

    def __len__(self) -> int:
        return len(self._listing)

    def values(self, facet: str) -> tuple[Array, Array]:
        """See ``Counted``."""
        if facet == "licence":  # not a filter, so it has no posting lists
            every = self._listing.all_matching(MapQuery())
            return SelectedMaps(self._codes, every).values(facet)
        return self._listing.value_counts(facet)

    def names(self, name: str) -> Array:
        """See ``Counted``."""
        return self._listing.name_counts(name, self._codes.names[name])

    def slots(self, start: int, end: int) -> Array:
        """See ``Counted``."""
        query = MapQuery(offset=start, limit=end - start)
        return np.array(self._listing.select(query).slots, "<u4")


def count_facets(
    maps: Counted,
    codes: Codes,
    record: Record,
    folder: int = NO_NAME,
    names: Collection[str] = FACET_NAMES,
) -> Facets:
    """Count the facets of maps.

    Args:
        maps: the maps.
        codes: the codes of their snapshot.
        record: returns the record of a slot.
        folder: the code of the folder whose direct subfolders are counted, ``NO_NAME`` for the
            top-level folders.
        names: the facets to count; all others stay empty.
    """
    found = {
        name: _facet(name, maps, codes, record, folder) if name in names else []
        for name in FACET_NAMES
    }
    return Facets(total=len(maps), **found)


def _facet(name: str, maps: Counted, codes: Codes, record: Record, folder: int) -> Any:
    if name in _OF_NAMES:
        within = folder if name == "folder" else NO_NAME
        return _names(codes.names[name], maps.names(name), within)
    values, counts = maps.values(name)
    if name in _NONE:
        known = values != _NONE[name]
        values, counts = values[known], counts[known]
    first = _most_frequent(values, counts)
    values, counts = values[first], counts[first]
    if name == "owner":
        return _owners(codes, maps, values, counts, record)
    return _SPELLED_BY[name](list(zip(values.tolist(), counts.tolist(), strict=True)))


def _years(found: Counts) -> NamedCounts:
    return [(f"{year:04d}", count) for year, count in sorted(found, reverse=True)]


def _languages(found: Counts) -> NamedCounts:
    return [(language_of(key), count) for key, count in found]


def _sizes(found: Counts) -> NamedCounts:
    return [(_SIZES[place], count) for place, count in sorted(found)]


def _truths(found: Counts) -> NamedCounts:
    return [("true", count) for key, count in found if key]


_SPELLED_BY: Final[dict[str, Callable[[Counts], Any]]] = {
    **dict.fromkeys(("category", "software", "licence"), list),
    "year": _years,
    "language": _languages,
    "size": _sizes,
    **dict.fromkeys(("with_notes", "with_tasks"), _truths),
}
"""For each facet, the function that converts its values to the spelling in ``Facets``."""


def _names(names: Names, counts: Array, within: int) -> NamedCounts:
    """Return the most frequent names whose parent is ``within``, ties sorted by name."""
    found = names.within(within)
    found = found[counts[found] > 0]
    found = found[_most_frequent(names.parts["keys"][found], counts[found])]
    named = [(names.name(code), int(counts[code])) for code in found.tolist()]
    return sorted(named, key=lambda one: (-one[1], one[0]))


def _owners(codes: Codes, maps: Counted, keys: Array, counts: Array, record: Record) -> NamedCounts:
    """Return the names of owners, each as spelled in one of their maps."""
    known = codes.values["owner"]
    by_key = np.sort(keys)
    places = np.minimum(np.searchsorted(by_key, known), max(0, len(keys) - 1))
    wanted = np.flatnonzero(by_key[places] == known) if len(keys) else np.zeros(0, "<i8")
    slots = _first_slots(codes.columns["owner"], maps, wanted, len(known))
    names = {int(known[code]): record_owner(record(slot)) for code, slot in slots.items()}
    return [(names[key], count) for key, count in zip(keys.tolist(), counts.tolist(), strict=True)]


def _count_codes(column: Array, slots: Array, size: int) -> tuple[Array, Array]:
    """Return the distinct codes of slots, ascending and below ``size``, and their counts."""
    # If all slots are selected, the whole column can be counted without indexing.
    codes = column if len(slots) == len(column) else column.take(slots)
    if len(codes) < size // SMALL:
        return np.unique(codes, return_counts=True)
    counts = np.bincount(codes, minlength=size)
    present = np.flatnonzero(counts)
    return present, counts[present]


def _most_frequent(values: Array, counts: Array) -> Array:
    """Return the indexes of the most frequent values, ties sorted by value."""
    places = np.arange(len(values))
    if len(values) > MOST_VALUES:
        least = np.partition(counts, -MOST_VALUES)[-MOST_VALUES]
        above, tied = np.flatnonzero(counts > least), np.flatnonzero(counts == least)
        room = MOST_VALUES - len(above)
        places = np.append(above, tied[np.argpartition(values[tied], room - 1)[:room]])
    return places[np.lexsort((values[places], -counts[places]))]


def _first_slots(column: Array, maps: Counted, wanted: Array, size: int) -> dict[int, int]:
    """Return the slot of the first map with each wanted code. All of these codes must occur.

    Args:
        column: the code of each slot.
        maps: the maps to search.
        wanted: the codes.
        size: the number of codes that there are.
    """
    missing = np.zeros(size, "?")
    missing[wanted] = True
    found: dict[int, int] = {}
    start, length = 0, FIRST_PIECE
    while len(found) < len(wanted):
        slots = maps.slots(start, start + length)
        piece = column.take(slots)
        hits = np.flatnonzero(missing.take(piece))
        codes, first = np.unique(piece[hits], return_index=True)
        found.update(zip(codes.tolist(), slots[hits[first]].tolist(), strict=True))
        missing[codes] = False
        start, length = start + length, 2 * length
    return found
