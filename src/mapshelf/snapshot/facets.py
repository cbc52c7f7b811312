"""How a selection of maps divides by category, software, owner, licence and year.

Counting goes over columns of numbers, so it costs a few nanoseconds a map. What a number stands for
is read from the record of one of its maps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import orjson

from mapshelf.snapshot.arrays import UNKNOWN_LICENCE, Array

MOST_VALUES: Final = 50
"""Values of a facet that are told, the most frequent ones."""

SMALL: Final = 1 << 20
"""Numbers below can be counted in a table, which is faster than sorting them."""

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


def count_facets(columns: dict[str, Array], slots: Array, record: Record) -> Facets:
    """Return the facets of the maps in ``slots``."""

    def values(column: str, make: Callable[[dict[str, Any], int], Value]) -> list[Value]:
        keys, counts, places = _most_frequent(columns[column][slots])
        found = []
        for count, place in zip(counts, places, strict=True):
            found.append(make(orjson.loads(record(int(slots[place]))), count))
        return [value for value in found if value.name]

    return Facets(
        len(slots),
        values("filter-category", lambda r, n: Value(int(r["CategoryID"]), r["Category"], n)),
        values("filter-software", lambda r, n: Value(None, r["Software"], n)),
        values("filter-owner", lambda r, n: Value(None, r["Owner"], n)),
        _licences(columns["licence"][slots]),
        _years(columns["date"][slots]),
    )
