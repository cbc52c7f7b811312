"""Counts maps by category, software, owner, year and so on.

It counts columns of codes (``facet_codes.py``), which takes a nanosecond or two a map. Category,
software and licence are returned as ids. The name of an owner is read from the record of one of the
maps; those of folders and tags are known (``names.py``).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from mapshelf.query import NO_ID, SIZES, language_of
from mapshelf.snapshot.format.columns import Array
from mapshelf.snapshot.format.facet_codes import GROUPS, UNKNOWN_LICENCE, Codes
from mapshelf.snapshot.format.names import NO_NAME, Names
from mapshelf.snapshot.format.records import record_owner

MOST_VALUES: Final = 50
"""Most values returned of a facet, the most frequent ones."""

SMALL: Final = 8
"""If a selection has less than one map for this many codes, its codes are sorted. That is faster
than an array of counts for all codes."""

FIRST_PIECE: Final = 1024
"""Maps searched first for one map of each owner; then twice as many, and so on."""

_SIZES: Final = tuple(SIZES)

_NONE: Final = {
    "software": NO_ID,
    "licence": UNKNOWN_LICENCE,
    "language": NO_ID,
    "size": NO_ID,
}
"""The values that mean "none", which are not counted."""

Record = Callable[[int], bytes]
"""Returns the record of a slot."""

Counts = list[tuple[int, int]]
"""Ids, each with its number of maps."""

NamedCounts = list[tuple[str, int]]
"""Names, each with its number of maps."""


@dataclass(frozen=True, slots=True)
class Facets:
    """The facets of a selection of ``total`` maps.

    The most frequent values come first, and for years the latest. Folders are given by their paths,
    sizes and truths as parameters say them.
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


def count_facets(codes: Codes, slots: Array, record: Record, folder: int = NO_NAME) -> Facets:
    """Return the facets of the maps in ``slots``; of folders those right in the one with a code."""
    counts = _count_groups(codes, slots)
    return Facets(
        total=len(slots),
        category=counts["category"],
        software=counts["software"],
        licence=counts["licence"],
        owner=_owners(codes, slots, record),
        year=[(f"{year:04d}", count) for year, count in sorted(counts["year"], reverse=True)],
        language=[(language_of(key), count) for key, count in counts["language"]],
        size=[(_SIZES[place], count) for place, count in sorted(counts["size"])],
        with_notes=[("true", count) for key, count in counts["with_notes"] if key],
        with_tasks=[("true", count) for key, count in counts["with_tasks"] if key],
        folder=_names(codes.names["folder"], slots, folder),
        tag=_names(codes.names["tag"], slots, NO_NAME),
    )


def _names(names: Names, slots: Array, within: int) -> NamedCounts:
    """Return the most frequent names right within one; equally frequent ones by name."""
    found, counts = names.within(within), names.counts(slots)
    found = found[counts[found] > 0]
    found = found[_most_frequent(names.parts["keys"][found], counts[found])]
    named = [(names.name(code), int(counts[code])) for code in found.tolist()]
    return sorted(named, key=lambda one: (-one[1], one[0]))


def _count_groups(codes: Codes, slots: Array) -> dict[str, Counts]:
    """Return the most frequent values of each facet of ``GROUPS``."""
    counted = {}
    for name, facets in GROUPS.items():
        found, counts = _count_codes(codes.columns[name], slots, len(codes.groups[name]))
        groups = codes.groups[name][found]
        for place, facet in enumerate(facets):
            values, none = codes.values[facet], _NONE.get(facet)
            counted[facet] = _counts(values, groups[:, place], counts, none)
    return counted


def _counts(values: Array, codes: Array, weights: Array, none: int | None) -> Counts:
    """Return the most frequent values, counting each of ``codes`` as often as its weight."""
    # Floating point is exact for whole numbers up to 2**53.
    counts = np.bincount(codes, weights, len(values)).astype("<i8")
    present = np.flatnonzero(counts if none is None else (counts > 0) & (values != none))
    values, counts = values[present], counts[present]
    first = _most_frequent(values, counts)
    return list(zip(values[first].tolist(), counts[first].tolist(), strict=True))


def _owners(codes: Codes, slots: Array, record: Record) -> NamedCounts:
    owners, counts = _count_codes(codes.columns["owner"], slots, len(codes.values["owner"]))
    first = _most_frequent(codes.values["owner"][owners], counts)
    owners, counts = owners[first], counts[first]
    places = _first_places(codes.columns["owner"], slots, owners, len(codes.values["owner"]))
    return [
        (record_owner(record(int(slots[places[owner]]))), count)
        for owner, count in zip(owners.tolist(), counts.tolist(), strict=True)
    ]


def _count_codes(column: Array, slots: Array, size: int) -> tuple[Array, Array]:
    """Return the distinct codes of slots, ascending and below ``size``, and their counts."""
    # If all slots are selected, none has to be picked out.
    codes = column if len(slots) == len(column) else column.take(slots)
    if len(codes) < size // SMALL:
        return np.unique(codes, return_counts=True)
    counts = np.bincount(codes, minlength=size)
    present = np.flatnonzero(counts)
    return present, counts[present]


def _most_frequent(values: Array, counts: Array) -> Array:
    """Return the indexes of the most frequent values; of equal ones, the lowest first."""
    places = np.arange(len(values))
    if len(values) > MOST_VALUES:
        least = np.partition(counts, -MOST_VALUES)[-MOST_VALUES]
        above, tied = np.flatnonzero(counts > least), np.flatnonzero(counts == least)
        room = MOST_VALUES - len(above)
        places = np.append(above, tied[np.argpartition(values[tied], room - 1)[:room]])
    return places[np.lexsort((values[places], -counts[places]))]


def _first_places(column: Array, slots: Array, wanted: Array, size: int) -> dict[int, int]:
    """Return the first index in ``slots`` of each wanted code, which all occur."""
    missing = np.zeros(size, "?")
    missing[wanted] = True
    places: dict[int, int] = {}
    start, length = 0, FIRST_PIECE
    while len(places) < len(wanted):
        piece = column.take(slots[start : start + length])
        hits = np.flatnonzero(missing.take(piece))
        found, first = np.unique(piece[hits], return_index=True)
        places.update(zip(found.tolist(), (start + hits[first]).tolist(), strict=True))
        missing[found] = False
        start, length = start + length, 2 * length
    return places
