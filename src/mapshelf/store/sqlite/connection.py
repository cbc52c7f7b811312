"""One connection to the database: durable, locked, and closed only once."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from mapshelf.errors import StoreMissing, StoreUnavailable
from mapshelf.store.sqlite.database_file import make_private
from mapshelf.store.sqlite.migrations import migrations_had

BUSY_TIMEOUT: Final = 10_000
"""Milliseconds to wait for another process's write before giving up."""


class Connection:
    """A connection with its lock: apsw refuses use from two threads at once."""

    def __init__(self, path: Path, *, create: bool) -> None:
        """Open the database at ``path``, and make the file if ``create`` is set.

        Raises:
            StoreMissing: it holds no catalogue, and ``create`` is not set.
            StoreDamaged: it holds something other than a catalogue of this version.
        """
        self._lock = threading.Lock()
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
        self._database: apsw.Connection | None = apsw.Connection(str(path), flags)
        self._database.set_busy_timeout(BUSY_TIMEOUT)
        with transaction(self._database, "DEFERRED"):
            # Before anything is written, in case the file is not ours.
            if not migrations_had(self._database) and not create:
                raise StoreMissing(f"there is no catalogue in {path}")
        make_private(path)
        _use_wal(self._database)
        # Secure_delete: deleted keys of visitors are erased where that costs no extra write.
        for pragma in ("synchronous = FULL", "foreign_keys = ON", "secure_delete = FAST"):
            self._database.execute(f"PRAGMA {pragma}")

    @contextmanager
    def locked(self) -> Iterator[apsw.Connection]:
        """Give the connection to one thread at a time.

        Raises:
            StoreUnavailable: it has been closed.
        """
        with self._lock:
            if self._database is None:
                raise StoreUnavailable("the store is closed")
            yield self._database

    def close(self) -> None:
        """Close the connection; may be called twice."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None


@contextmanager
def transaction(database: apsw.Connection, kind: str) -> Iterator[None]:
    """Give a transaction that is committed at the end, and rolled back if anything is raised.

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
    """Switch to WAL. SQLite itself does not wait for other processes here, so this does."""
    deadline = time.monotonic() + BUSY_TIMEOUT / 1000
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
