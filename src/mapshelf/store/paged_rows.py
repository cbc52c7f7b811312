"""All rows of a table of any size: read in pages, so that they need not fit into memory."""

from collections.abc import Iterator
from typing import Final

from mapshelf.store.contract import Store
from mapshelf.store.tables import FILES, IMAGES, OUTLINES, VERSIONS, Row, Table

ROWS_AT_ONCE: Final = 1000
"""Rows read at a time from tables of small rows."""

LARGE_ROWS_AT_ONCE: Final = 100
"""Rows read at a time from tables of outlines, files and pictures."""


def all_rows(store: Store, table: Table) -> Iterator[Row]:
    """Yield all rows that a transfer copies, in ascending order of the key."""
    for some in pages(store, table):
        yield from some


def pages(store: Store, table: Table) -> Iterator[list[Row]]:
    """Yield the same rows as ``all_rows``, many at a time."""
    large = (OUTLINES, FILES, IMAGES, VERSIONS)
    limit = LARGE_ROWS_AT_ONCE if table in large else ROWS_AT_ONCE
    after: Row | None = None
    while some := store.rows(table, after, limit):
        yield some
        after = table.key_of(some[-1])
