"""How a selection of maps divides by category, software, owner, licence and year.

Counting goes over columns of numbers, so it costs a few nanoseconds a map. What a number stands for
is read from the record of one of its maps.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import orjson

from mapshelf.snapshot.arrays import UNKNOWN_LICENCE, Array
from mapshelf.snapshot.records import with_base_url

MOST_VALUES: Final = 50
"""Values of a facet that are told, the most frequent ones."""

Columns = Mapping[str, Array]
"""The columns of a snapshot by their names (``arrays.COLUMNS``)."""

Record = Callable[[int], bytes]
"""Gives the record of a slot."""


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a facet: its id where it has one, its name, and how many maps have it."""

    id: int | None
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Facets:
    """A selection of ``total`` maps, divided in each of these ways; the frequent values first."""

    total: int
    category: list[Value]
    software: list[Value]
    owner: list[Value]
    licence: list[Value]
    year: list[Value]


def count_facets(columns: Columns, slots: Array, record: Record) -> Facets:
    """Return the facets of the maps in ``slots``."""

    def named(column: str, name: str, number: str = "") -> list[Value]:
        values = []
        for _, count, place in _most_frequent(columns[column][slots]):
            found = orjson.loads(with_base_url(record(int(slots[place])), b""))
            if found[name]:
                values.append(Value(int(found[number]) if number else None, found[name], count))
        return values

    return Facets(
        len(slots),
        named("filter-category", "Category", "CategoryID"),
        named("filter-software", "Software"),
        named("filter-owner", "Owner"),
        _licences(columns["licence"][slots]),
        _years(columns["date"][slots]),
    )


def _licences(types: Array) -> list[Value]:
    found = _most_frequent(types[types != UNKNOWN_LICENCE])
    return [Value(number, "", count) for number, count, _ in found]


def _years(dates: Array) -> list[Value]:
    years = dates.astype("datetime64[ms]").astype("datetime64[Y]").astype("i8") + 1970
    found = [Value(None, f"{year:04d}", count) for year, count, _ in _most_frequent(years)]
    return sorted(found, key=lambda value: value.name, reverse=True)


def _most_frequent(numbers: Array) -> list[tuple[int, int, int]]:
    """Return the most frequent numbers, with how often and at which place each occurs."""
    keys, places, counts = np.unique(numbers, return_index=True, return_counts=True)
    first = np.argsort(-counts, kind="stable")[:MOST_VALUES]
    return list(zip(*(each[first].tolist() for each in (keys, counts, places)), strict=True))
