"""Compute the keys of a map: the numbers by which it is sorted and filtered.

They are computed once, and used for columns, facets and the search index.
"""

from dataclasses import dataclass
from typing import Final

from mapshelf.model import ListedMap
from mapshelf.query import FILTERS, SORT_ORDERS


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a map.

    Attributes:
        orders: the column key for each of ``SORT_ORDERS``.
        searches: the search key for each of ``SORT_ORDERS``.
        filters: the keys for each of ``FILTERS``: one, or any number for a filter by names.
    """

    orders: tuple[float, ...]
    searches: tuple[int, ...]
    filters: tuple[tuple[int, ...], ...]

    def of_filter(self, name: str) -> tuple[int, ...]:
        """Return the keys of the filter with this name."""
        return self.filters[_PLACES[name]]


def keys_of(found: ListedMap) -> Keys:
    """Return the keys of a map."""
    orders = [row.key(found) for row in SORT_ORDERS]
    return Keys(
        tuple(orders),
        tuple(
            [
                int(key) if row.search_key is row.key else row.search_key(found)
                for row, key in zip(SORT_ORDERS, orders, strict=True)
            ]
        ),
        tuple([row.keys(found) for row in FILTERS]),
    )


_PLACES: Final = {row.name: place for place, row in enumerate(FILTERS)}
