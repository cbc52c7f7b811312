"""The file of the database: its folder, its permissions, and why it cannot be opened."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from mapshelf import durable
from mapshelf.errors import StoreMissing, StoreUnavailable


def make_folder(folder: Path) -> None:
    """Make the folder, for its owner only, unless it is there.

    Raises:
        StoreUnavailable: it cannot be made.
    """
    try:
        durable.make_folder(folder)
    except OSError as error:
        raise StoreUnavailable(f"cannot make {folder}: {error.strerror}") from error


def require_file(path: Path) -> None:
    """Make sure that there is a file at ``path``.

    Raises:
        StoreMissing: there is none.
        StoreUnavailable: that cannot be determined.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise StoreMissing(f"there is no catalogue in {path}") from error
    except OSError as error:
        raise StoreUnavailable(f"cannot open {path}: {error.strerror}") from error


@contextmanager
def explained_if_read_only(path: Path) -> Iterator[None]:
    """Name what is read-only if the database cannot be opened: even readers need to write.

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
    """Let only the owner read and write the file.

    Raises:
        StoreUnavailable: its permissions cannot be changed.
    """
    try:
        if stat.S_IMODE(path.stat().st_mode) != 0o600:
            path.chmod(0o600)
    except OSError as error:
        raise StoreUnavailable(f"cannot make {path} private: {error.strerror}") from error
