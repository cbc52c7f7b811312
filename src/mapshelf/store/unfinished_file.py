"""Files with the whole catalogue, such as backups, have another name until they are complete.

The folder may be one that others can write to, such as ``/tmp``. So nothing that is already there
under this other name is written to: neither the file that somebody's link points to, nor a file
that somebody else could read.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from mapshelf.errors import CannotWrite
from mapshelf.file_lock import try_lock

UNFINISHED: Final = ".unfinished"
"""The suffix of a file that is still being written."""

_FLAGS: Final = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def unfinished_file(file: Path, kind: str) -> Iterator[tuple[Path, int]]:
    """Yield the path and the descriptor of a new file beside ``file``; delete it on exit.

    Only its owner can read it. The caller renames it, or links it, when it is complete. A file left
    behind by a killed process is replaced.

    Args:
        file: the file to write; nothing happens to it.
        kind: what is in the file, for error messages.

    Raises:
        CannotWrite: it cannot be created, or another process is writing it.
    """
    path = file.with_name(file.name + UNFINISHED)
    try:
        descriptor = _created(path)
    except FileExistsError as error:
        raise CannotWrite(f"another {kind} is being written to {path}") from error
    except OSError as error:
        raise CannotWrite(f"{file} cannot be written: {error.strerror}") from error
    try:
        yield path, descriptor
    finally:
        with suppress(OSError):  # it may have been renamed
            if _is_at(descriptor, path):
                path.unlink()
        os.close(descriptor)


def _created(path: Path) -> int:
    """Return the descriptor of a new file, locked until it is closed.

    Raises:
        FileExistsError: another process is writing the file.
    """
    with suppress(FileExistsError):
        return _locked(path)
    _remove_left_behind(path)
    return _locked(path)


def _locked(path: Path) -> int:
    descriptor = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
    # Another process may take a file that has no lock yet for one left behind.
    if try_lock(descriptor) and _is_at(descriptor, path):
        return descriptor
    os.close(descriptor)
    raise FileExistsError


def _remove_left_behind(path: Path) -> None:
    """Remove the file, unless another process holds its lock or has just finished it."""
    try:
        descriptor = os.open(path, _FLAGS | os.O_NONBLOCK)
    except FileNotFoundError:
        return
    try:
        if try_lock(descriptor) and _is_at(descriptor, path):
            path.unlink()
    finally:
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False
