"""The file of a SQLite database: its folder, its permissions, and errors on opening it."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from mapshelf import durable
from mapshelf.errors import StoreMissing, StoreUnavailable


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


@contextmanager
def explained_if_read_only(path: Path) -> Iterator[None]:
    """Explain errors caused by read-only files: SQLite needs to write even for reading.

    Raises:
        StoreUnavailable: the file or its folder is read-only.
    """
    try:
        yield
    except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
        for needed in (path.parent, path):
            if needed.exists() and not os.access(needed, os.W_OK):
                raise StoreUnavailable(f"cannot open {path}: {needed} is read-only") from error
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
