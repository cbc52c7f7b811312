"""What a client asks of ``GET /maps``: parameters, filters and sort orders, as rows of tables."""

from mapshelf.query.map_query import (
    DEFAULT_LIMIT,
    DEFAULT_ORDER,
    FILTERS,
    MAXIMUM_LIMIT,
    MAXIMUM_OFFSET,
    MAXIMUM_QUERY_LENGTH,
    NO_ID,
    PARAMETERS,
    UNKNOWN_ID,
    MapQuery,
    owner_key,
    parse_query,
    read_parameters,
)
from mapshelf.query.sort_orders import ORDERS, SORT_ORDERS, SortOrder

__all__ = [
    "DEFAULT_LIMIT",
    "DEFAULT_ORDER",
    "FILTERS",
    "MAXIMUM_LIMIT",
    "MAXIMUM_OFFSET",
    "MAXIMUM_QUERY_LENGTH",
    "NO_ID",
    "ORDERS",
    "PARAMETERS",
    "SORT_ORDERS",
    "UNKNOWN_ID",
    "MapQuery",
    "SortOrder",
    "owner_key",
    "parse_query",
    "read_parameters",
]
