"""What a client asks of ``GET /maps``: parameters, filters and sort orders, as rows of tables."""

from mapshelf.query.map_query import (
    DEFAULT_LIMIT,
    DEFAULT_ORDER,
    FILTERS,
    ID_SCHEMA,
    MAXIMUM_LIMIT,
    MAXIMUM_OFFSET,
    MAXIMUM_QUERY_LENGTH,
    NO_ID,
    PARAMETERS,
    TEXT_SCHEMA,
    UNKNOWN_ID,
    Filter,
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
    "ID_SCHEMA",
    "MAXIMUM_LIMIT",
    "MAXIMUM_OFFSET",
    "MAXIMUM_QUERY_LENGTH",
    "NO_ID",
    "ORDERS",
    "PARAMETERS",
    "SORT_ORDERS",
    "TEXT_SCHEMA",
    "UNKNOWN_ID",
    "Filter",
    "MapQuery",
    "SortOrder",
    "owner_key",
    "parse_query",
    "read_parameters",
]
