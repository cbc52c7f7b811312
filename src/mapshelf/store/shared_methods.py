"""Base class of store methods shared by both databases: transactions, clock, reading."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from copy import copy
from typing import Self

from mapshelf.store.contract.publishing import CheckMap
from mapshelf.store.pending_audit_entries import PendingAuditEntries
from mapshelf.store.publishing import Transaction
from mapshelf.store.publishing_queries import find_map
from mapshelf.store.tables import Row


class SharedMethods(ABC):
    """The operations that each database provides."""

    _map_check: tuple[int, CheckMap] | None = None

    def acting_on(self, file_id: int, check: CheckMap) -> Self:
        """See ``Store``."""
        store = copy(self)
        store._map_check = file_id, check
        return store

    def _check_map(self, database: Transaction) -> None:
        """Run the check of ``acting_on``, if there is one, in a transaction that changes maps."""
        if self._map_check is not None:
            file_id, check = self._map_check
            check(find_map(database.rows, "m.file_id", file_id))

    @abstractmethod
    def _now(self) -> int:
        """Return the time in milliseconds since 1970-01-01 UTC."""

    @abstractmethod
    def _changing(self) -> AbstractContextManager[Transaction]:
        """Start a transaction that is committed durably on exit, or rolled back on an exception."""

    @abstractmethod
    def _adding(self) -> AbstractContextManager[Transaction]:
        """Start a transaction that changes no maps, so that other writers need not wait."""

    @abstractmethod
    def _read(self, sql: str, parameters: Row) -> list[Row]:
        """Return the rows of a statement with ``?`` for each parameter, up to date."""

    @abstractmethod
    def _audit_entries(self) -> PendingAuditEntries:
        """Return the pending audit entries of all threads."""

    def _read_even_if_away(self, sql: str, parameters: Row) -> list[Row]:
        """Like ``_read``, but fall back to a replica if the primary is down.

        The replica may lag. What it says of maps is not older than what was read before. Of what
        is hidden without a change in the feed, such as collections, this must not be used.
        """
        return self._read(sql, parameters)
