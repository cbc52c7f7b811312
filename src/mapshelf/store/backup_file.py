"""Backup files: a copy of the SQLite database, followed by a line with its checksum.

The checksum is in the same file so that it cannot get lost. SQLite ignores the extra line, so any
program that reads SQLite databases can read a backup.
"""

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

from mapshelf.durable import sync_folder
from mapshelf.errors import CannotWrite, StoreDamaged, UnusableBackup
from mapshelf.store.sqlite.copies import HEADER, CopyFacts, Progress, check_copy, copy_database
from mapshelf.store.unfinished_file import unfinished_file

_MARK: Final = b"\nmapshelf backup 1, SHA-256 "
_LINE_SIZE: Final = len(_MARK) + 64 + 1
_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class BackupFacts:
    """A verified backup.

    Attributes:
        held: a summary of its contents.
        size: size of the file in bytes.
        digest: SHA-256 of the whole file, in hexadecimal.
    """

    held: CopyFacts
    size: int
    digest: str


def write_backup(database: Path, file: Path, progress: Progress) -> BackupFacts:
    """Back up a SQLite database to the new file ``file``, and verify the result.

    Other connections may write during the backup, which contains everything committed before the
    call. The file gets its final name only after it is complete, verified and synced to disk.

    Raises:
        CannotWrite: the file exists, has a name that is not UTF-8, or cannot be written.
        StoreError: the database cannot be read, or is damaged.
    """
    _refuse_name_for_sqlite(file)
    _refuse_existing(file)
    with _unfinished(file) as unfinished:
        try:
            require_room(file.parent, database_size(database))
            copy_database(database, unfinished, progress)
            _add_line(unfinished, progress)
            facts = verify_backup(unfinished, progress)
            _publish(unfinished, file)
        except UnusableBackup as error:
            raise StoreDamaged(
                f"the backup was deleted, because it could not be restored: {error}"
            ) from error
        except OSError as error:
            raise CannotWrite(f"{file} cannot be written: {error.strerror}") from error
    return facts


def verify_backup(file: Path, progress: Progress) -> BackupFacts:
    """Read a backup from disk, check it, and return its facts.

    Raises:
        UnusableBackup: it is not a backup, is damaged, or comes from a newer version of Mapshelf.
    """
    digest = sha256()
    try:
        with opened_backup(file) as (source, size):
            _forget_what_is_in_memory(source)
            for piece in pieces_of_copy(source, size, progress):
                digest.update(piece)
            check_line(source, digest.hexdigest(), file)
        digest.update(_line(digest.hexdigest()))
        held = check_copy(file, progress)
    except StoreDamaged as error:
        raise UnusableBackup(f"{file} cannot be restored: {error}") from error
    except OSError as error:
        raise UnusableBackup(f"{file} cannot be read: {error.strerror}") from error
    return BackupFacts(held, size + _LINE_SIZE, digest.hexdigest())


@contextmanager
def opened_backup(file: Path) -> Iterator[tuple[BinaryIO, int]]:
    """Open a backup; yield the file and the size of the database copy in it.

    Raises:
        UnusableBackup: it cannot be read, or is not a complete backup.
    """
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise UnusableBackup(f"{file} cannot be restored: it is not a file")
        source = open(descriptor, "rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise UnusableBackup(f"{file} cannot be read: {error.strerror}") from error
    with source:
        yield source, _size_of_copy(source, file)


def _size_of_copy(source: BinaryIO, file: Path) -> int:
    begins = source.read(len(HEADER)) == HEADER
    size = source.seek(0, os.SEEK_END) - _LINE_SIZE
    source.seek(max(0, size))
    if not source.read(_LINE_SIZE).startswith(_MARK):
        reason = "is cut off, or a database and not a backup" if begins else "is not a backup"
        raise UnusableBackup(f"{file} cannot be restored: it {reason}")
    return size


def pieces_of_copy(source: BinaryIO, size: int, progress: Progress) -> Iterator[bytes]:
    """Yield the database copy in a backup in chunks."""
    source.seek(0)
    done = 0
    while done < size and (piece := source.read(min(_PIECE, size - done))):
        yield piece
        done += len(piece)
        progress(done, size)


def check_line(source: BinaryIO, digest: str, file: Path) -> None:
    """Compare the checksum of a database copy with the line that follows it in the file.

    Raises:
        UnusableBackup: the checksums differ.
    """
    if source.read() != _line(digest):
        raise UnusableBackup(f"{file} cannot be restored: it is damaged, its checksum is wrong")


def database_size(database: Path) -> int:
    """Return the size of a database and its write-ahead log in bytes."""
    size = 0
    for path in (database, database.with_name(database.name + "-wal")):
        with suppress(OSError):
            size += path.stat().st_size
    return size


def require_room(folder: Path, needed: int) -> None:
    """Check for free space: a full disk could also stop the catalogue.

    Raises:
        CannotWrite: there are fewer free bytes than needed.
    """
    free = shutil.disk_usage(folder).free
    if free < needed:
        missing = f"{needed / 1e6:,.1f} MB are needed, {free / 1e6:,.1f} MB are free"
        raise CannotWrite(f"the disk of {folder} is too full: {missing}")


def _forget_what_is_in_memory(file: BinaryIO) -> None:
    """Drop a file from the page cache, so that verification reads what is on disk."""
    if hasattr(os, "posix_fadvise"):  # not on macOS
        with suppress(OSError):
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _line(digest: str) -> bytes:
    return _MARK + digest.encode() + b"\n"


def _refuse_name_for_sqlite(file: Path) -> None:
    try:
        str(file.absolute()).encode()
    except UnicodeEncodeError as error:
        raise CannotWrite(f"a backup needs a UTF-8 name, not {str(file)!r}") from error


def _refuse_existing(file: Path) -> None:
    if os.path.lexists(file):
        raise CannotWrite(f"{file} already exists: choose another name")


@contextmanager
def _unfinished(file: Path) -> Iterator[Path]:
    """Yield an empty file for a backup; delete it on exit, with what SQLite creates beside it."""
    with unfinished_file(file, "backup") as (path, _):
        try:
            yield path
        finally:
            for suffix in ("-wal", "-journal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)


def _add_line(path: Path, progress: Progress) -> None:
    """Append the checksum line and sync the file to disk."""
    with path.open("r+b") as file:
        digest, size = sha256(), file.seek(0, os.SEEK_END)
        for piece in pieces_of_copy(file, size, progress):
            digest.update(piece)
        file.write(_line(digest.hexdigest()))
        file.flush()
        os.fsync(file.fileno())


def _publish(unfinished: Path, file: Path) -> None:
    """Give a file its final name; fail if that name now exists."""
    try:
        os.link(unfinished, file)
    except FileExistsError:
        _refuse_existing(file)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
        _refuse_existing(file)  # the file system has no hard links (USB sticks)
        unfinished.rename(file)
    sync_folder(file.parent)
