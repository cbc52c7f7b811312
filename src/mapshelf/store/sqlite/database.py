"""The SQLite database of a store: a connection for writing and one for reading, each locked."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path
from threading import Lock
from typing import Final, Self

import apsw

from mapshelf.errors import InvalidSetting, StoreMissing, StoreUnavailable
from mapshelf.file_watch import FileWatch
from mapshelf.model import Credential
from mapshelf.store.credential_check import CredentialCheck
from mapshelf.store.pending_audit_entries import PendingAuditEntries
from mapshelf.store.sqlite.connection import Connection, transaction
from mapshelf.store.sqlite.database_file import (
    LOG,
    beside,
    explained,
    make_folder,
    status_of,
)
from mapshelf.store.sqlite.error_translation import translated
from mapshelf.store.sqlite.migrations import is_up_to_date, migrate
from mapshelf.store.tables import Row

SAFE_VERSION: Final = (3, 51, 3)
"""The first SQLite without the WAL-reset corruption bug."""


class Database:
    """The database at ``path``, migrated if outdated; created if missing and ``create`` is set.

    Attributes:
        path: the file.
        writer: the connection for writing.
        reader: the connection for reading.
        audit_entries: the audit entries that the next transaction of each thread will write.

    Raises:
        InvalidSetting: the SQLite library is too old to be trusted with a WAL database.
        StoreMissing: there is no catalogue, and ``create`` is not set.
        StoreUnavailable: the file cannot be opened.
        StoreDamaged: the file is not a catalogue, or one of a newer or a development version.
    """

    def __init__(self, path: Path, clock: Callable[[], int], *, create: bool) -> None:
        self.audit_entries = PendingAuditEntries(clock)
        self.path = path
        self._check: CredentialCheck | None = None
        self._watch = FileWatch(path)
        self._watching = Lock()
        self._closed = False
        version = apsw.sqlite_lib_version()
        if tuple(map(int, version.split("."))) < SAFE_VERSION:
            raise InvalidSetting(f"SQLite {version} is too old; 3.51.3 or newer is needed")
        with translated():
            if create:
                make_folder(path.parent)
            else:
                status_of(path)
            with explained(path):
                self.writer = Connection(path, create=create)
                self.writer.require_writable()
                self.reader = Connection(path, create=create)
        with self.reading() as database:
            current = is_up_to_date(database)
            self._opened = [(file, status_of(file)) for file in (path, beside(path, LOG))]
        if not current:
            with self.writing() as database:
                migrate(database, clock())

    def close(self) -> None:
        """Close both connections; may be called twice."""
        self.writer.close()
        self.reader.close()
        self._closed = True
        self._close_watch()

    def checking(self, check: CredentialCheck | None) -> "Database":
        """Return this database such that each write transaction begins with ``check``, if any."""
        changed = copy(self)
        changed._check = check
        return changed

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Start a read transaction: one consistent view of the database."""
        with self.reader.locked() as database, translated(), transaction(database, "DEFERRED"):
            yield database

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """Start a transaction that is committed durably on exit, or rolled back on an exception.

        After the commit, the file is touched, which wakes up the processes that wait for changes.

        Raises:
            InvalidToken: the check of a credential failed.
            StoreUnavailable: somebody has deleted, moved or replaced the file or its log. SQLite
                would go on writing to the former one, and what is written could be lost.
        """
        with self.writer.locked() as database, translated(), transaction(database, "IMMEDIATE"):

            def read(sql: str, given: Row) -> list[Row]:
                return database.execute(sql, given).fetchall()

            if self._check is not None:
                self._check.require_valid(read)  # nobody else writes until the end
            yield database
            self.audit_entries.write(read)
            self._require_opened_files()
        with suppress(OSError):  # others then notice the change a little later
            os.utime(self.path)

    def _require_opened_files(self) -> None:
        for file, opened in self._opened:
            with suppress(StoreMissing):
                if os.path.samestat(opened, status_of(file)):
                    continue
            raise StoreUnavailable(
                f"{file} was deleted, moved or replaced while it was in use: put it back"
            )

    @contextmanager
    def watched(self) -> Iterator[FileWatch | None]:
        """Return what reports writes; ``None`` if another thread waits, or nothing reports them."""
        if not self._watching.acquire(blocking=False):
            yield None
            return
        try:
            yield self._watch if self._watch.begin() else None
        finally:
            self._watching.release()
            if self._closed:
                self._close_watch()

    def _close_watch(self) -> None:
        """Close the watch, unless a thread uses it, which then does it."""
        if self._watching.acquire(blocking=False):
            self._watch.close()
            self._watching.release()

    def rows(self, sql: str, bindings: Row = ()) -> list[Row]:
        """Return the rows of a read-only statement, which is a transaction of its own."""
        with self.reader.locked() as database, translated():
            return database.execute(sql, bindings).fetchall()

    def row(self, sql: str) -> Row:
        """Return the first row of a read-only statement."""
        return self.rows(sql)[0]


class DatabaseUser:
    """Base class of all parts of the store: the database and a clock."""

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._database = database
        self._clock = clock

    def acting_as(self, credential: Credential | None) -> Self:
        """See ``Store``."""
        store = copy(self)
        check = CredentialCheck(credential, self._clock) if credential else None
        store._database = self._database.checking(check)
        return store
