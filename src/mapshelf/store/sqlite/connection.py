"""A connection to a SQLite database, with a lock, durable writes and WAL mode."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import apsw

from mapshelf.errors import StoreMissing, StoreUnavailable
from mapshelf.store.sqlite.database_file import (
    give_to_folder_owner,
    make_private,
    require_log,
    require_no_lone_log,
)
from mapshelf.store.sqlite.migrations import migrations_had

BUSY_TIMEOUT: Final = 10_000
"""Milliseconds to wait for another process's write before giving up."""


class Connection:
    """A connection with a lock, because apsw rejects concurrent use by two threads."""

    def __init__(self, path: Path, *, create: bool) -> None:
        """Open the database at ``path``, and create the file if ``create`` is set.

        Raises:
            StoreMissing: there is no catalogue, and ``create`` is not set.
            StoreUnavailable: the file was moved away, but not its log, or the log was.
            StoreDamaged: the file is not a catalogue that this version can use.
        """
        self._lock = threading.Lock()
        if create:
            require_no_lone_log(path)
        require_log(path)
        new = create and not path.exists()
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
        self._database: apsw.Connection | None = apsw.Connection(str(path), flags)
        self._database.set_busy_timeout(BUSY_TIMEOUT)
        with transaction(self._database, "DEFERRED"):
            # Checked before the first write, in case the file is not ours.
            if not migrations_had(self._database) and not create:
                raise StoreMissing(f"there is no catalogue in {path}")
        make_private(path)
        if new:  # before there is a log, which SQLite gives to the owner of the database
            give_to_folder_owner(path)
        _use_wal(self._database)
        # secure_delete erases deleted visitor keys where that costs no extra write.
        for pragma in ("synchronous = FULL", "foreign_keys = ON", "secure_delete = FAST"):
            self._database.execute(f"PRAGMA {pragma}")

    @contextmanager
    def locked(self) -> Iterator[apsw.Connection]:
        """Yield the connection to one thread at a time.

        Raises:
            StoreUnavailable: it has been closed.
        """
        with self._lock:
            if self._database is None:
                raise StoreUnavailable("the store is closed")
            yield self._database

    def require_writable(self) -> None:
        """Check that SQLite did not open the database, or the index of its log, for reading only.

        It does that if it may not write to one of them. It would not notice if that changes.

        Raises:
            apsw.ReadOnlyError: it did.
        """
        with self.locked() as database:
            if database.readonly("main"):
                raise apsw.ReadOnlyError("the file cannot be written")
            database.set_busy_timeout(0)
            try:
                with suppress(apsw.BusyError), transaction(database, "IMMEDIATE"):
                    pass
            finally:
                database.set_busy_timeout(BUSY_TIMEOUT)

    def close(self) -> None:
        """Close the connection; may be called twice."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None


@contextmanager
def transaction(database: apsw.Connection, kind: str) -> Iterator[None]:
    """Start a transaction that is committed on exit, or rolled back on an exception.

    Args:
        database: the connection.
        kind: ``DEFERRED`` for reading, ``IMMEDIATE`` for writing.
    """
    database.execute(f"BEGIN {kind}")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def _use_wal(database: apsw.Connection) -> None:
    """Switch to WAL. Retries while the database is busy, because SQLite itself does not."""
    deadline = time.monotonic() + BUSY_TIMEOUT / 1000
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
