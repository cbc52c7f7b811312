"""Publishing and moderation in PostgreSQL: the transactions in which ``store`` writes.

Transactions that change maps first lock the counters, like all other writers of maps, so they run
one after another.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from mapshelf.clock import milliseconds_here
from mapshelf.model import MapDraft
from mapshelf.store.account_queries import AccountQueries
from mapshelf.store.administration_methods import AdministrationMethods
from mapshelf.store.collection_moderation import CollectionModerationMethods
from mapshelf.store.copied_files import CopiedFileMethods
from mapshelf.store.figures import FigureMethods
from mapshelf.store.imports import ImportMethods
from mapshelf.store.long_missing import LongMissingMethods
from mapshelf.store.map_collections import CollectionMethods
from mapshelf.store.pending_audit_entries import PendingAuditEntries
from mapshelf.store.postgres.batch_rows import PostgresBatchRows
from mapshelf.store.postgres.counters import LockedCounters, lock_maps
from mapshelf.store.postgres.database import DatabaseUser
from mapshelf.store.postgres.link import Link, Row, with_placeholders
from mapshelf.store.publishing_methods import PublishingMethods
from mapshelf.store.saved_searches import SavedSearchMethods
from mapshelf.store.tags import TagMethods
from mapshelf.store.transfer_notes import TransferNoteMethods
from mapshelf.store.unpublished_maps import UnpublishedMapMethods


class PostgresPublishing(
    PublishingMethods,
    UnpublishedMapMethods,
    AccountQueries,
    AdministrationMethods,
    ImportMethods,
    CopiedFileMethods,
    LongMissingMethods,
    FigureMethods,
    TagMethods,
    CollectionMethods,
    CollectionModerationMethods,
    SavedSearchMethods,
    TransferNoteMethods,
    DatabaseUser,
):
    """The protocols of ``contract`` that each class above is named after."""

    def clock_difference(self) -> float:
        """See ``Store``."""
        before = milliseconds_here()
        ((theirs,),) = self._rows("SELECT extract(epoch FROM clock_timestamp())::float8")
        return (before + milliseconds_here()) / 2000 - float(theirs)

    def _now(self) -> int:
        return self._clock()

    @contextmanager
    def _changing(self) -> "Iterator[_Transaction]":
        with self._connections.unchecked() as link:
            # Before the user is locked, as everywhere: one order prevents deadlocks.
            counters = LockedCounters(link)
            self._connections.check(link)
            transaction = _Transaction(link, counters, self._audit_entries(), self._clock())
            self._check_map(transaction)  # nobody else changes maps until the end
            yield transaction
            counters.write()

    @contextmanager
    def _adding(self) -> "Iterator[_Transaction]":
        with self._connections.writing() as link:
            yield _Transaction(link, None, self._audit_entries(), self._clock())

    def _audit_entries(self) -> PendingAuditEntries:
        return self._connections.audit_entries

    def _read(self, sql: str, parameters: Row) -> list[Row]:
        return self._rows(with_placeholders(sql), parameters)

    def _read_even_if_away(self, sql: str, parameters: Row) -> list[Row]:
        return self._newest(with_placeholders(sql), parameters)


class _Transaction:
    """See ``publishing.Transaction``."""

    def __init__(
        self,
        link: Link,
        counters: LockedCounters | None,
        audit_entries: PendingAuditEntries,
        now: int,
    ) -> None:
        """Write over ``link``; without ``counters``, no map is changed."""
        self.now = now
        self.audit_entries = audit_entries
        self._link = link
        self._counters = counters

    def rows(self, sql: str, parameters: Row = ()) -> list[Row]:
        """See ``Transaction``."""
        return self._link.shared_rows(sql, parameters)

    def execute(self, sql: str, parameters: Row = ()) -> None:
        """See ``Transaction``."""
        self._link.execute(with_placeholders(sql), parameters)

    @contextmanager
    def batch(self, draft: MapDraft) -> Iterator[PostgresBatchRows]:
        """See ``Transaction``."""
        rows = PostgresBatchRows(self._link, self._locked(), [draft])
        yield rows
        rows.write()

    def next_revision(self) -> int:
        """See ``Transaction``."""
        return self._locked().next_revision()

    def lock_maps(self, file_ids: Collection[int]) -> set[int]:
        """See ``Transaction``."""
        return lock_maps(self._link, file_ids, "KEY SHARE" if self._counters is None else "UPDATE")

    def _locked(self) -> LockedCounters:
        assert self._counters is not None, "this transaction changes no map"
        return self._counters
