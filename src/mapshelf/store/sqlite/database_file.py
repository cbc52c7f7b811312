"""The file of a SQLite database: its folder, its permissions, and errors on opening it."""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from mapshelf import durable
from mapshelf.disk_space import disk_space
from mapshelf.errors import StoreMissing, StoreUnavailable

LOG: Final = "-wal"
_INDEX: Final = "-shm"
"""The suffixes of the write-ahead log, and of its index, beside a database."""

_LOOKS: Final = 3
_BETWEEN_LOOKS: Final = 0.05
"""How often to look for a log that is missing, and the seconds in between."""


def make_folder(folder: Path) -> None:
    """Create the folder, accessible only to its owner, unless it exists.

    Raises:
        StoreUnavailable: it cannot be created.
    """
    try:
        durable.make_folder(folder)
    except OSError as error:
        raise StoreUnavailable(f"cannot make {folder}: {error.strerror}") from error


def status_of(path: Path) -> os.stat_result:
    """Return the status of the file at ``path``, which tells it from another one.

    Raises:
        StoreMissing: there is none.
        StoreUnavailable: its existence cannot be determined.
    """
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise StoreMissing(f"there is no catalogue in {path}") from error
    except OSError as error:
        raise StoreUnavailable(f"cannot open {path}: {error.strerror}") from error


def beside(path: Path, suffix: str) -> Path:
    """Return the path of a file that SQLite has beside a database, such as its log (``LOG``)."""
    real = Path(os.path.realpath(path))  # it may be a link to another disk
    return real.with_name(real.name + suffix)


def require_no_lone_log(path: Path) -> None:
    """Check that there is no log whose database is missing, before one is created at ``path``.

    If somebody has moved the database away, its last transactions may be only in this log. SQLite
    would delete it, or apply it to the new database.

    Raises:
        StoreUnavailable: there is one.
    """
    logs = [beside(path, suffix) for suffix in (LOG, _INDEX)]
    # Looked for first: another process may be creating both, and the database comes first.
    found = [str(log) for log in logs if os.path.lexists(log)]
    if found and not path.exists():
        raise StoreUnavailable(
            f"{path} is missing, but its last changes may be in {found[0]}: put it back, or delete"
            f" {' and '.join(found)} and start again, for a new catalogue"
        )


def require_log(path: Path) -> None:
    """Check that the log of the database at ``path`` is there if the index of it is.

    SQLite creates the log first, and deletes it last. So if only the index is there, somebody has
    moved the log away, perhaps after the service was killed, and with it the last transactions.
    What is written without it is lost once it is put back.

    Raises:
        StoreUnavailable: it is missing.
    """
    if is_log_missing(path):
        raise StoreUnavailable(
            f"{beside(path, LOG)} is missing, and the last changes may be in it: stop mapshelf if"
            " it runs, which saves them. If it does not run, put the file back, or delete"
            f" {beside(path, _INDEX)} to go on without them"
        )


def is_log_missing(path: Path) -> bool:
    """Return whether the index of the log of a database is there, but not the log."""
    for _ in range(_LOOKS):
        # Looked for first: another process may be deleting both, and the index goes first.
        if not (os.path.lexists(beside(path, _INDEX)) and not os.path.lexists(beside(path, LOG))):
            return False
        time.sleep(_BETWEEN_LOOKS)  # others may have deleted, and created, both in this moment
    return True


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Explain errors of opening a database that SQLite cannot write, which it must even to read.

    Raises:
        StoreUnavailable: the file or its folder is read-only, or their disk is full.
    """
    try:
        yield
    except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
        for needed in (path.parent, path):
            if needed.exists() and not os.access(needed, os.W_OK):
                raise StoreUnavailable(f"cannot open {path}: {needed} is read-only") from error
        raise
    except apsw.IOError as error:
        # SQLite says that about the file that its processes share if there is no space for it.
        folder = Path(os.path.realpath(path)).parent  # it may be a link to another disk
        if folder.exists() and (problem := disk_space(folder).problem):
            raise StoreUnavailable(f"cannot open {path}: the disk of {folder} {problem}") from error
        raise


def make_private(path: Path) -> None:
    """Restrict access to the file to its owner.

    Raises:
        StoreUnavailable: its permissions cannot be changed.
    """
    try:
        if stat.S_IMODE(path.stat().st_mode) != 0o600:
            path.chmod(0o600)
    except OSError as error:
        raise StoreUnavailable(f"cannot make {path} private: {error.strerror}") from error


def give_to_folder_owner(path: Path) -> None:
    """Give a database that root has created to the owner of its folder, whose service opens it."""
    real = Path(os.path.realpath(path))  # it may be a link to another disk
    durable.give_to_owner(real, real.parent)
