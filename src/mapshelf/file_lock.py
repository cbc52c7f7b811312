"""Locks files without waiting, so that only one of several processes does some work.

The system releases a lock when its holder ends, however it ends. Some file systems (network drives,
for example) have no locks. There is then no way to know of others, so everybody holds the lock.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file until it is closed; return false if somebody else holds a lock on it.

    Several may hold a ``shared`` lock at the same time.
    """
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        pass
    return True


@contextmanager
def locked_file(path: Path) -> Iterator[bool]:
    """Try to hold the lock of a file, which is created if it is missing; yield whether it is held.

    Raises:
        OSError: the file cannot be opened.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield try_lock(descriptor)
    finally:
        os.close(descriptor)
