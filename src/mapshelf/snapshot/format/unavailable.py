"""Distinguish a damaged snapshot from one that is temporarily unreadable.

If no file descriptor or memory is left, opening a sound snapshot fails. It must not be rebuilt
then: that would need even more of both.
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
"""Errors that pass, or that rebuilding cannot repair: no descriptors, no memory, disk full or
read-only."""

_TANTIVY_ERRNO: Final = re.compile(r"\bOs \{ code: ([0-9]+),")
"""How messages of Tantivy show the ``errno`` of the operating system."""


def snapshot_error(message: str, cause: Exception) -> SnapshotError:
    """Return ``SnapshotUnavailable`` if ``cause`` is temporary, else ``SnapshotDamaged``."""
    number = cause.errno if isinstance(cause, OSError) else None
    if number is None and (found := _TANTIVY_ERRNO.search(str(cause))):
        number = int(found[1])
    if number in _TEMPORARY or isinstance(cause, MemoryError):
        reason = cause.strerror if isinstance(cause, OSError) else str(cause)
        return SnapshotUnavailable(f"{message}: {reason}")
    return SnapshotDamaged(message)
