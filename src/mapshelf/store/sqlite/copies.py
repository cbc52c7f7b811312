"""Copy a live SQLite database, check the copy, and prepare it to replace the original."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

import apsw

from mapshelf.clock import milliseconds
from mapshelf.errors import CannotWrite, StoreDamaged, StoreUnavailable
from mapshelf.store.all_access import SHORT_LIVED
from mapshelf.store.sqlite.connection import Connection, transaction
from mapshelf.store.sqlite.database import Database
from mapshelf.store.sqlite.database_file import explained, is_log_missing, status_of
from mapshelf.store.sqlite.ended_access import end_what_ended, has_become
from mapshelf.store.sqlite.error_translation import translated
from mapshelf.store.sqlite.migrations import migrations_had
from mapshelf.store.sqlite.regained_access import Regained, regained_access
from mapshelf.store.sqlite.replaced_catalogue import ReplacedCatalogue
from mapshelf.store.sqlite.schema_check import schema_faults
from mapshelf.store.sqlite.withheld_files import withhold_files
from mapshelf.store.tables import Row

HEADER: Final = b"SQLite format 3\0"
"""The first bytes of every SQLite database."""

PAGES_AT_ONCE: Final = 1024
"""Pages copied between two calls of ``progress``: usually 4 MiB."""

STEPS_AT_ONCE: Final = 500_000
"""Steps of SQLite's virtual machine between two calls of ``progress`` during a check."""

OTHERS_AWAITED: Final = 2_000
"""Milliseconds to wait for exclusive access to the database: most commands finish sooner."""

Progress = Callable[[int, int], None]
"""Called repeatedly with the bytes done and the total. Its exceptions propagate."""

_OF_VISITORS: Final = {"visits", "salts"}


@dataclass(frozen=True, slots=True)
class CopyFacts:
    """A summary of a copy.

    Attributes:
        maps: the number of maps, of any visibility.
        revision: the revision of its newest change.
    """

    maps: int
    revision: int


@dataclass(frozen=True, slots=True)
class Replaced:
    """State that a replaced database passes on to its successor.

    Attributes:
        file_id: the highest ``file_id`` that it allocated.
        whole: whether its file is complete without a log; unknown if it is damaged.
        catalogue: reads it, ``None`` if it is damaged or missing.
    """

    whole: bool = False
    file_id: int = 0
    catalogue: ReplacedCatalogue | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """What former catalogues told.

    Attributes:
        regained: who has more access than in the replaced catalogue; ``None`` if that cannot be
            read, and access that ended there is valid again.
        complete: whether one of the catalogues is what became of the copy. Otherwise none of them
            knows all access that has ended since.
        files_known: whether one of them is what became of the copy, as its counters tell, and knows
            which newer files are not to be published.
    """

    regained: Regained | None
    complete: bool
    files_known: bool


def identity_of(database: Path) -> str:
    """Return the identity of the catalogue in a database.

    Raises:
        StoreError: it cannot be read.
    """
    with translated():
        status_of(database)  # there must be one
        with explained(database):
            connection = Connection(database, create=False)
        with closing(connection), connection.locked() as opened:
            return str(opened.execute("SELECT identity FROM sequence").fetchall()[0][0])


def copy_database(source: Path, target: Path, progress: Progress) -> None:
    """Copy a database into the empty file ``target``, while others may write to it.

    The copy is a consistent view from after the call, without visitor keys. Writers need not wait,
    but the log cannot shrink during the copy. The schema is left unchanged, because this may be the
    copy made before an update.

    Raises:
        StoreMissing: there is no catalogue at ``source``.
        StoreDamaged: it is damaged, not ours, or of a newer or a development version.
        StoreUnavailable: it cannot be read.
        CannotWrite: the disk of the copy is full.
    """
    with translated():
        status_of(source)  # there must be one
        with explained(source):
            connection = Connection(source, create=False)
        with (
            closing(connection),
            connection.locked() as database,
            transaction(database, "DEFERRED"),
            closing(_opened(target)) as copy,
        ):
            # This read starts the transaction whose view all steps share; without it, each write
            # of another connection would restart the copy.
            database.execute("SELECT only FROM sequence").fetchall()
            copy.pragma("journal_mode", "OFF")  # the copy is discarded if anything fails
            copy.pragma("synchronous", "OFF")  # and synced by the caller
            _copy_pages(database, copy, progress)
            # Without WAL, the copy can be read from read-only disks.
            copy.pragma("journal_mode", "DELETE")
            copy.pragma("journal_mode", "OFF")
            _forget_visitors(copy)


def _copy_pages(database: apsw.Connection, copy: apsw.Connection, progress: Progress) -> None:
    size = _pragma(database, "page_size")
    try:
        with copy.backup("main", database, "main") as backup:
            while not backup.done:
                backup.step(PAGES_AT_ONCE)
                done = backup.page_count - backup.remaining
                progress(done * size, backup.page_count * size)
    except apsw.FullError as error:
        raise CannotWrite(f"the disk of {copy.filename} is full") from error


def _forget_visitors(copy: apsw.Connection) -> None:
    """Erase visitor keys and salts, which must expire within an hour or a day, unlike copies."""
    copy.pragma("secure_delete", True)
    kept = {name for (name,) in copy.execute("SELECT name FROM sqlite_schema").fetchall()}
    for table in _OF_VISITORS & kept:
        copy.execute(f"DELETE FROM {table}")


def check_copy(path: Path, progress: Progress) -> CopyFacts:
    """Check a copy that has no writers, and return its facts. Trailing data is ignored.

    Raises:
        StoreDamaged: it is damaged, not ours, of a newer or a development version, or has a schema
            that is not that of its version.
        StoreUnavailable: it cannot be read.
    """
    with translated(), closing(_opened_unchanged(path)) as database:

        def go_on() -> bool:
            progress(0, 0)
            return False

        database.set_progress_handler(go_on, STEPS_AT_ONCE)
        if not migrations_had(database):
            raise StoreDamaged("it does not contain a catalogue")
        (fault,) = database.execute("PRAGMA integrity_check(1)").fetchall()[0]
        if fault != "ok" or database.execute("PRAGMA foreign_key_check").fetchone():
            raise StoreDamaged("its tables are damaged")
        for fault in schema_faults(database):
            raise StoreDamaged(fault)
        query = "SELECT (SELECT count(*) FROM maps), revision FROM sequence"
        rows: list[Row] = database.execute(query).fetchall()
        if not rows:  # only in a forged backup, whose checksum may be right
            raise StoreDamaged("its tables are damaged")
        return CopyFacts(*rows[0])


def make_successor(path: Path, replaced: Replaced, kept: Iterable[Path]) -> Compared:
    """Prepare a copy to replace a database, as a single file synced to disk.

    The schema is migrated. The copy gets a new identity, because data derived from the replaced
    database, such as a snapshot, could have the same revision but different maps. It does not reuse
    the ``file_id`` of any map of the replaced database, and access that ended there, or in one of
    the databases that were ``kept`` by former restores, stays ended. It does not publish files that
    are not published there (see ``withheld_files``).

    Raises:
        StoreError: the copy cannot be used.
    """
    with closing(Database(path, milliseconds, create=False)) as store, store.writing() as database:
        for statement in SHORT_LIVED:
            database.execute(statement)
        database.execute("UPDATE sequence SET file_id = max(file_id, ?)", (replaced.file_id,))
        compared = _compare(database, replaced.catalogue, list(kept))
        database.execute("UPDATE token_mark SET mark = lower(hex(randomblob(16)))")
        database.execute("UPDATE sequence SET identity = lower(hex(randomblob(16)))")
    # Closing the last connection merges the log into the file and removes it.
    return compared


def _compare(
    copy: apsw.Connection, replaced: ReplacedCatalogue | None, kept: Iterable[Path]
) -> Compared:
    regained, complete, follow = None, False, False
    if replaced is not None:
        with suppress(StoreDamaged):
            complete = end_what_ended(copy, replaced)
            regained = regained_access(copy, replaced)
            follow = has_become(copy, replaced)
    # The replaced catalogue may come from an older backup, and know nothing of what ended since.
    latest = None
    for path, former in _former(kept):
        with suppress(StoreDamaged):
            complete = end_what_ended(copy, former) or complete
            latest = path if has_become(copy, former) else latest
    # What has become of the copy can no longer be told once maps have been added.
    if latest and not follow:
        for _, former in _former([latest]):
            withhold_files(copy, former, follow=True)
    if replaced is not None:
        withhold_files(copy, replaced, follow=follow)
    for _, former in _former(kept):
        withhold_files(copy, former)
    return Compared(regained, complete, follow or latest is not None)


def _former(kept: Iterable[Path]) -> Iterator[tuple[Path, ReplacedCatalogue]]:
    """Yield the databases that can be read at all, each until the next one, oldest first."""
    for path in kept:
        with suppress(apsw.CantOpenError), closing(_opened_unchanged(path)) as database:
            if former := _handed_on(database).catalogue:
                yield path, former


@contextmanager
def closed_to_others(path: Path) -> Iterator[Replaced]:
    """Hold an exclusive lock on a database, with an empty write-ahead log, within the context.

    A damaged or missing database needs no lock, since no process can use it.

    Raises:
        StoreUnavailable: another process is using it.
    """
    with closing(_taken(path)) as database:
        yield _handed_on(database)


def _taken(path: Path) -> apsw.Connection:
    """Return an exclusive connection, to an empty database in memory if this one is damaged.

    Without its log, it may lack the last changes.
    """
    if not _begins_as_database(path) or is_log_missing(path):
        return apsw.Connection(":memory:")
    database = apsw.Connection(":memory:")
    try:
        database = apsw.Connection(str(path), apsw.SQLITE_OPEN_READWRITE)
        database.set_busy_timeout(OTHERS_AWAITED)
        database.pragma("locking_mode", "EXCLUSIVE")
        # Leaving WAL mode merges the log into the database and deletes it.
        database.pragma("journal_mode", "DELETE")
        database.pragma("journal_mode", "MEMORY")
        database.execute("BEGIN EXCLUSIVE")
    except (apsw.BusyError, apsw.LockedError) as error:
        database.close()
        raise StoreUnavailable(
            "another command, or a service with another data folder, uses the catalogue:"
            " wait until it has ended"
        ) from error
    except apsw.Error:
        database.close()
        return apsw.Connection(":memory:")
    return database


def _begins_as_database(path: Path) -> bool:
    """Return whether SQLite would accept the file as a database; otherwise it deletes its log."""
    try:
        with path.open("rb") as file:
            return file.read(len(HEADER)) == HEADER
    except OSError:
        return False


def _handed_on(database: apsw.Connection) -> Replaced:
    try:
        rows: list[Row] = database.execute("SELECT file_id FROM sequence").fetchall()
        ((file_id,),) = rows
    except (apsw.Error, UnicodeDecodeError, ValueError):
        return Replaced()
    if not isinstance(file_id, int):
        return Replaced()
    return Replaced(True, file_id, ReplacedCatalogue(database))


def _opened(path: Path) -> apsw.Connection:
    path = path.parent.resolve() / path.name  # SQLite refuses links to the folder, too
    return apsw.Connection(str(path), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)


def _opened_unchanged(path: Path) -> apsw.Connection:
    """Open a database that has no writers, and no log beside it."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    # Immutable: SQLite then creates no files next to it.
    url = f"file:{quote(os.fsencode(path.absolute()))}?immutable=1"
    return apsw.Connection(url, flags)


def _pragma(database: apsw.Connection, name: str) -> int:
    rows: list[Row] = database.execute(f"PRAGMA {name}").fetchall()
    return int(rows[0][0])
