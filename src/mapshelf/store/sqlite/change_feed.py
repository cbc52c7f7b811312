"""The change feed in SQLite."""

import heapq
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from mapshelf.errors import StoreError
from mapshelf.model import Change
from mapshelf.store.columns import (
    COUNT_PUBLISHED,
    FROM_MAPS,
    LINEAGE,
    MAP,
    ORIGIN,
    map_of_row,
)
from mapshelf.store.contract.change_feed import MOST_BYTES
from mapshelf.store.sqlite.database import DatabaseUser

LOOK_INTERVAL: Final = 0.1
"""Seconds between polls for writes where the system does not report them."""

LONGEST_WAIT: Final = 1.0
"""The same elsewhere: a process may have been killed before it touched the file."""

GONE: Final = (
    "SELECT revision, {0} FROM deleted WHERE revision > ?1 UNION ALL"
    " SELECT revision, {0} FROM maps WHERE revision > ?1 AND visibility <> 'published'"
    " ORDER BY revision LIMIT ?2"
)
"""Changes that leave no published map; ``{0}`` stands for the selected columns."""

LAST_GONE: Final = (
    "max((SELECT coalesce(max(revision), 0) FROM deleted),"
    " (SELECT coalesce(max(revision), 0) FROM maps WHERE visibility <> 'published'))"
)
"""The revision of the newest of these changes."""


class SQLiteChangeFeed(DatabaseUser):
    """See ``contract.ChangeFeed``."""

    last_withdrawal_age = 0.6

    @property
    def written_file(self) -> Path:
        """See ``Store``."""
        return self._database.path

    def written_stamp(self) -> object:
        """See ``Store``. Transactions are written to the log first, and then to the database."""
        return [_stamp(f"{self._database.path}{suffix}") for suffix in ("", "-wal")]

    def identity(self) -> str:
        """See ``Store``."""
        return str(self._database.row("SELECT identity FROM sequence")[0])

    def lineage(self, revision: int) -> str:
        """See ``Store``."""
        return str(self._database.rows(LINEAGE.format("?"), (revision,))[0][0])

    def revision(self) -> int:
        """See ``Store``."""
        return int(self._database.row("SELECT revision FROM sequence")[0])

    def changes(self, after: int, limit: int, most_bytes: int = MOST_BYTES) -> list[Change]:
        """See ``Store``. There is one writer at a time, so revisions become visible in order."""
        with self._database.reading() as database:
            present = database.execute(
                f"SELECT m.revision, o.outline, {ORIGIN}, {MAP} FROM {FROM_MAPS}"
                " LEFT JOIN outlines AS o ON o.file_id = m.file_id"
                " WHERE m.revision > ? AND m.visibility = 'published'"
                " ORDER BY m.revision LIMIT ?",
                (after, limit),
            )
            gone = database.execute(GONE.format("file_id"), (after, limit))
            both = heapq.merge(
                (Change(row[0], row[4], map_of_row(row[4:]), *row[1:4]) for row in present),
                (Change(row[0], row[1], None, None) for row in gone),
                key=lambda change: change.revision,
            )
            return list(_within(islice(both, limit), most_bytes))

    def wait(self, after: int, seconds: float) -> bool:
        """See ``Store``. Every transaction touches the database file (``Database.writing``)."""
        deadline = time.monotonic() + seconds
        with self._database.watched() as watch:
            while True:
                if watch:
                    watch.clear()
                with suppress(StoreError):
                    if self.revision() != after:
                        return True
                rest = deadline - time.monotonic()
                if rest <= 0:
                    return False
                if watch:
                    watch.wait(min(LONGEST_WAIT, rest))
                else:
                    time.sleep(min(LOOK_INTERVAL, rest))

    def last_withdrawal(self) -> int:
        """See ``Store``."""
        return int(self._database.row(f"SELECT {LAST_GONE}")[0])

    def withdrawn(self, after: int, limit: int) -> list[tuple[int, int, str]]:
        """See ``Store``."""
        rows = self._database.rows(GONE.format("file_id, id"), (after, limit))
        return [(revision, file_id, public_id) for revision, file_id, public_id in rows]

    def map_count(self) -> int:
        """See ``Store``."""
        return int(self._database.row(COUNT_PUBLISHED)[0])


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _within(changes: Iterable[Change], most_bytes: int) -> Iterator[Change]:
    """Yield the first change, and those after it whose outlines have room.

    SQLite reads a row when it is asked for it, so the outlines of the others are never loaded.
    """
    room = most_bytes
    for place, change in enumerate(changes):
        room -= len(change.outline or b"")
        if place and room < 0:
            return
        yield change
