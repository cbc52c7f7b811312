"""What methods need that are written once for both databases: transactions, a clock, reading."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager

from mapshelf.store.pending_audit_entries import PendingAuditEntries
from mapshelf.store.publishing import Transaction
from mapshelf.store.tables import Row


class SharedMethods(ABC):
    """What a database gives."""

    @abstractmethod
    def _now(self) -> int:
        """Return the time in milliseconds since 1970-01-01 UTC."""

    @abstractmethod
    def _changing(self) -> AbstractContextManager[Transaction]:
        """Give a transaction that is durable at the end, and undone if anything is raised."""

    @abstractmethod
    def _adding(self) -> AbstractContextManager[Transaction]:
        """Give one that changes no map: no other writer waits for it."""

    @abstractmethod
    def _read(self, sql: str, parameters: Row) -> list[Row]:
        """Return the rows of a statement with ``?`` for each parameter, up to date."""

    @abstractmethod
    def _audit_entries(self) -> PendingAuditEntries:
        """Return what threads are about to note."""

    def _read_even_if_away(self, sql: str, parameters: Row) -> list[Row]:
        """Do as ``_read``; if the database that is written to is away, ask a copy."""
        return self._read(sql, parameters)
