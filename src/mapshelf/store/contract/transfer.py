"""Rows as they are kept: what it takes to transfer a catalogue from one store to another."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from mapshelf.store.tables import CatalogueCounters, Row, Table


class CatalogueRows(Protocol):
    """Reads and writes the rows of ``store.tables``, for ``store.transfer``."""

    def rows(self, table: Table, after: Row | None, limit: int) -> list[Row]:
        """Return up to ``limit`` rows with a key above ``after``, in ascending order of the key.

        ``after`` is a key as ``Table.key_of`` gives it; ``None`` comes before every key. Tables,
        columns and types are the same in every store: text, bytes, integers (also for booleans)
        and ``None``.
        """

    def rows_of(self, table: Table, file_ids: Sequence[int]) -> list[Row]:
        """Return the rows that belong to these maps, in ascending order of the key."""

    def write_rows(self, rows: Mapping[Table, Sequence[Row]], counters: CatalogueCounters) -> None:
        """Write rows as they are, in one transaction. Rows with the same key are replaced.

        Nobody else may write to the store meanwhile. If ``rows`` has a map, or its deletion, the
        outline, links, file, sources and pictures that the map had are deleted: the new ones have
        to be among ``rows``.
        """

    def delete_rows(self, table: Table, keys: Sequence[Row]) -> None:
        """Delete the rows with these keys, in one transaction, with what refers to them.

        The table is one whose rows nothing but other such rows refers to for good. Nobody else may
        write to the store meanwhile.
        """

    def catalogue_counters(self) -> CatalogueCounters:
        """Return the identity of the catalogue and the last numbers that it gave."""
