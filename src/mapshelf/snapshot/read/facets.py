"""How a selection of maps divides by category, software, owner, licence and year.

Counting goes over columns of codes (``facet_codes.py``): a nanosecond or two a map. Numbers
that are ids are told as such; what an owner's number stands for is read from the record of one of
the maps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from mapshelf.query import NO_ID
from mapshelf.snapshot.format.columns import Array
from mapshelf.snapshot.format.facet_codes import PAIRS, UNKNOWN_LICENCE, Codes
from mapshelf.snapshot.format.records import record_owner

MOST_VALUES: Final = 50
"""Values of a facet that are told, the most frequent ones."""

SMALL: Final = 8
"""A selection with fewer maps than a share of the codes there are, one in so many, is sorted: that
takes less than going through all codes."""

FIRST_PIECE: Final = 1024
"""Maps that are looked through first for one of each owner; then twice as many, and so on."""

_NONE: Final = {"software": NO_ID, "licence": UNKNOWN_LICENCE}
"""What stands for no value, which is not counted."""

Record = Callable[[int], bytes]
"""Gives the record of a slot."""

Counts = list[tuple[int, int]]
"""Ids, each with how many maps have it."""

NamedCounts = list[tuple[str, int]]
"""Names, likewise."""


@dataclass(frozen=True, slots=True)
class Facets:
    """A selection of ``total`` maps, divided in each of these ways.

    Frequent values come first, but the latest years do.
    """

    total: int
    category: Counts
    software: Counts
    licence: Counts
    owner: NamedCounts
    year: NamedCounts


def count_facets(codes: Codes, slots: Array, record: Record) -> Facets:
    """Return the facets of the maps in ``slots``."""
    counts = _in_pairs(codes, slots)
    return Facets(
        total=len(slots),
        category=counts["category"],
        software=counts["software"],
        licence=counts["licence"],
        owner=_owners(codes, slots, record),
        year=[(f"{year:04d}", count) for year, count in sorted(counts["year"], reverse=True)],
    )


def _in_pairs(codes: Codes, slots: Array) -> dict[str, Counts]:
    """Return the most frequent values of each facet of ``PAIRS``."""
    counted = {}
    for name, facets in PAIRS.items():
        found, counts = _tally(codes.columns[name], slots, len(codes.pairs[name]))
        pairs = codes.pairs[name][found]
        for place, facet in enumerate(facets):
            values, none = codes.values[facet], _NONE.get(facet)
            counted[facet] = _counts(values, pairs[:, place], counts, none)
    return counted


def _counts(values: Array, codes: Array, weights: Array, none: int | None) -> Counts:
    """Return the most frequent values, where each of ``codes`` counts as often as it weighs."""
    # Floating point adds whole numbers without error up to 2**53.
    counts = np.bincount(codes, weights, len(values)).astype("<i8")
    present = np.flatnonzero(counts if none is None else (counts > 0) & (values != none))
    values, counts = values[present], counts[present]
    first = _most_frequent(values, counts)
    return list(zip(values[first].tolist(), counts[first].tolist(), strict=True))


def _owners(codes: Codes, slots: Array, record: Record) -> NamedCounts:
    owners, counts = _tally(codes.columns["owner"], slots, len(codes.values["owner"]))
    first = _most_frequent(codes.values["owner"][owners], counts)
    owners, counts = owners[first], counts[first]
    places = _first_places(codes.columns["owner"], slots, owners, len(codes.values["owner"]))
    return [
        (record_owner(record(int(slots[places[owner]]))), count)
        for owner, count in zip(owners.tolist(), counts.tolist(), strict=True)
    ]


def _tally(column: Array, slots: Array, size: int) -> tuple[Array, Array]:
    """Return which codes slots have, ascending, of ``size`` that there may be, and how often."""
    # Where there is nothing but the slots of a selection, they need not be picked out.
    codes = column if len(slots) == len(column) else column.take(slots)
    if len(codes) < size // SMALL:
        return np.unique(codes, return_counts=True)
    counts = np.bincount(codes, minlength=size)
    present = np.flatnonzero(counts)
    return present, counts[present]


def _most_frequent(values: Array, counts: Array) -> Array:
    """Return the places of the most frequent values; of equally frequent ones, the least first."""
    places = np.arange(len(values))
    if len(values) > MOST_VALUES:
        least = np.partition(counts, -MOST_VALUES)[-MOST_VALUES]
        above, tied = np.flatnonzero(counts > least), np.flatnonzero(counts == least)
        room = MOST_VALUES - len(above)
        places = np.append(above, tied[np.argpartition(values[tied], room - 1)[:room]])
    return places[np.lexsort((values[places], -counts[places]))]


def _first_places(column: Array, slots: Array, wanted: Array, size: int) -> dict[int, int]:
    """Return the first place among ``slots`` of each code that is wanted; all of them are there."""
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
