"""Publishing and moderation in SQLite: the transactions in which ``store`` writes."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

import apsw

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
from mapshelf.store.publishing_methods import PublishingMethods
from mapshelf.store.saved_searches import SavedSearchMethods
from mapshelf.store.sqlite.batch_rows import SQLiteBatchRows
from mapshelf.store.sqlite.database import DatabaseUser
from mapshelf.store.sqlite.map_rows import next_revision
from mapshelf.store.tables import Row
from mapshelf.store.tags import TagMethods
from mapshelf.store.transfer_notes import TransferNoteMethods
from mapshelf.store.unpublished_maps import UnpublishedMapMethods


class SQLitePublishing(
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
        return 0.0

    def _now(self) -> int:
        return self._clock()

    @contextmanager
    def _changing(self) -> "Iterator[_Transaction]":
        with self._database.writing() as database:
            transaction = _Transaction(database, self._audit_entries(), self._clock())
            self._check_map(transaction)  # nobody else writes until the end
            yield transaction

    @contextmanager
    def _adding(self) -> "Iterator[_Transaction]":
        with self._changing() as database:
            yield database

    def _audit_entries(self) -> PendingAuditEntries:
        return self._database.audit_entries

    def _read(self, sql: str, parameters: Row) -> list[Row]:
        return self._database.rows(sql, parameters)


class _Transaction:
    """See ``publishing.Transaction``."""

    def __init__(
        self, database: apsw.Connection, audit_entries: PendingAuditEntries, now: int
    ) -> None:
        self._database = database
        self.audit_entries = audit_entries
        self.now = now

    def rows(self, sql: str, parameters: Row = ()) -> list[Row]:
        """See ``Transaction``."""
        return self._database.execute(sql, parameters).fetchall()

    def execute(self, sql: str, parameters: Row = ()) -> None:
        """See ``Transaction``."""
        self._database.execute(sql, parameters)

    @contextmanager
    def batch(self, draft: MapDraft) -> Iterator[SQLiteBatchRows]:
        """See ``Transaction``."""
        yield SQLiteBatchRows(self._database, [draft])

    def next_revision(self) -> int:
        """See ``Transaction``."""
        return next_revision(self._database)

    def lock_maps(self, file_ids: Collection[int]) -> set[int]:
        """See ``Transaction``. Nobody else writes anyway."""
        given = ", ".join("?" * len(file_ids))
        rows = self.rows(f"SELECT file_id FROM maps WHERE file_id IN ({given})", (*file_ids,))
        return {row[0] for row in rows}
