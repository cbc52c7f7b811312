"""How a selection of maps divides by category, software, owner, licence and year.

Counting goes over columns of numbers, so it costs a few nanoseconds a map. Numbers that are ids are
told as such; what an owner's number stands for is read from the record of one of the maps.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from mapshelf.query import NO_ID
from mapshelf.snapshot.arrays import UNKNOWN_LICENCE, Array
from mapshelf.snapshot.records import record_owner

MOST_VALUES: Final = 50
"""Values of a facet that are told, the most frequent ones."""

Columns = Mapping[str, Array]
"""The columns of a snapshot by their names (``arrays.COLUMNS``)."""

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


def count_facets(columns: Columns, slots: Array, record: Record) -> Facets:
    """Return the facets of the maps in ``slots``."""
    software, licences = columns["filter-software"][slots], columns["licence"][slots]
    owners = _most_frequent(columns["filter-owner"][slots])
    return Facets(
        total=len(slots),
        category=_counts(columns["filter-category"][slots]),
        software=_counts(software[software != NO_ID]),
        licence=_counts(licences[licences != UNKNOWN_LICENCE]),
        owner=[(record_owner(record(int(slots[place]))), count) for _, count, place in owners],
        year=_years(columns["date"][slots]),
    )


def _counts(ids: Array) -> Counts:
    return [(number, count) for number, count, _ in _most_frequent(ids)]


def _years(dates: Array) -> NamedCounts:
    years = dates.astype("datetime64[ms]").astype("datetime64[Y]").astype("i8") + 1970
    return [(f"{year:04d}", count) for year, count in sorted(_counts(years), reverse=True)]


def _most_frequent(numbers: Array) -> list[tuple[int, int, int]]:
    """Return the most frequent numbers, with how often and at which place each occurs."""
    keys, places, counts = np.unique(numbers, return_index=True, return_counts=True)
    first = np.argsort(-counts, kind="stable")[:MOST_VALUES]
    return list(zip(*(each[first].tolist() for each in (keys, counts, places)), strict=True))
