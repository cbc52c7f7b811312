"""The data folder as the property of one service: two would end, drain and build over each other.

The lock is held by the process over all others and by none of its children, which may live a
little longer when it is killed: the system takes it back at that moment, and the service can be
started again at once.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from mapshelf.errors import CannotWrite, FolderInUse
from mapshelf.settings import Settings


@contextmanager
def data_folder(settings: Settings) -> Iterator[None]:
    """Have the data folder to oneself while in the context; it is made if need be.

    Raises:
        FolderInUse: another service has it.
        CannotWrite: nothing can be written there.
    """
    try:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(settings.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise CannotWrite(
            f"the data folder {settings.data} cannot be written: {error.strerror}"
        ) from error
    try:
        _take(lock, settings)
        yield
    finally:
        os.close(lock)


def _take(lock: int, settings: Settings) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise FolderInUse(
            f"another mapshelf serve uses the data folder {settings.data}:"
            " end it, or give this one a folder of its own (--data)"
        ) from error
    except OSError:  # a file system without locks: nobody can tell
        pass
