"""All rows of a table of any size: read in pages, so that they need not fit into memory."""

from collections.abc import Iterator
from typing import Final

from mapshelf.store.contract import Store
from mapshelf.store.tables import FILES, IMAGES, OUTLINES, VERSIONS, Row, Table

ROWS_AT_ONCE: Final = 1000
"""Rows read at a time from tables of small rows."""

LARGE_ROWS_AT_FIRST: Final = 16
"""Rows read at first from tables of outlines, files and pictures; then as many as ``ENOUGH``."""

LARGE_ROWS_AT_ONCE: Final = 64
"""Most rows read at a time from these tables."""

ENOUGH: Final = 16 << 20
"""Bytes to read at a time from these tables, about."""


def all_rows(store: Store, table: Table) -> Iterator[Row]:
    """Yield all rows that a transfer copies, in ascending order of the key."""
    for some in pages(store, table):
        yield from some


def pages(store: Store, table: Table) -> Iterator[list[Row]]:
    """Yield the same rows as ``all_rows``, many at a time."""
    is_large = table in (OUTLINES, FILES, IMAGES, VERSIONS)
    limit = LARGE_ROWS_AT_FIRST if is_large else ROWS_AT_ONCE
    after: Row | None = None
    while some := store.rows(table, after, limit):
        yield some
        after = table.key_of(some[-1])
        if is_large:
            each = 1 + max(map(_size, some))
            limit = max(1, min(LARGE_ROWS_AT_ONCE, 2 * limit, ENOUGH // each))


def _size(row: Row) -> int:
    """Return the size of the contents in a row, in bytes."""
    return sum(len(value) for value in row if isinstance(value, bytes))
