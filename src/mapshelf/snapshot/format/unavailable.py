"""Distinguish a damaged snapshot from one that is temporarily unreadable.

Opening a sound snapshot fails if no file descriptor or memory is left. Then it must not be rebuilt,
because that would need even more of both.
"""

import errno
import re
from typing import Final

from mapshelf.errors import SnapshotDamaged, SnapshotError, SnapshotUnavailable

_TEMPORARY: Final = frozenset(
    {
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.EAGAIN,
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EROFS,
    }
)
"""Errors that are temporary or that rebuilding cannot repair: no file descriptors or memory left,
disk full, or file system read-only."""

_TANTIVY_ERRNO: Final = re.compile(r"\bOs \{ code: ([0-9]+),")
"""Finds the ``errno`` of the operating system in messages of Tantivy."""


def snapshot_error(message: str, cause: Exception) -> SnapshotError:
    """Return ``SnapshotUnavailable`` if ``cause`` is temporary, else ``SnapshotDamaged``."""
    number = cause.errno if isinstance(cause, OSError) else None
    if number is None and (found := _TANTIVY_ERRNO.search(str(cause))):
        number = int(found[1])
    if number in _TEMPORARY or isinstance(cause, MemoryError):
        reason = cause.strerror if isinstance(cause, OSError) else str(cause)
        return SnapshotUnavailable(f"{message}: {reason}")
    return SnapshotDamaged(message)
