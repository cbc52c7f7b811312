"""Failures that tell nothing about a snapshot: the system was short of something for a moment.

A sound snapshot that cannot be opened because there is no descriptor left, or no memory, must not
be taken for a damaged one and built anew, which takes more of both.
"""

import errno
import re
from typing import Final

from mapshelf.errors import SnapshotDamaged, SnapshotError, SnapshotUnavailable

_SHORTAGES: Final = frozenset(
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
"""What passes, or is mended elsewhere: descriptors, memory, room on the disk, leave to write."""

_CODE: Final = re.compile(r"\bOs \{ code: ([0-9]+),")
"""How Tantivy tells of an error of the system."""


def snapshot_error(message: str, cause: Exception) -> SnapshotError:
    """Return the error for a snapshot that could not be used because of ``cause``."""
    number = cause.errno if isinstance(cause, OSError) else None
    if number is None and (found := _CODE.search(str(cause))):
        number = int(found[1])
    if number in _SHORTAGES or isinstance(cause, MemoryError):
        reason = cause.strerror if isinstance(cause, OSError) else str(cause)
        return SnapshotUnavailable(f"{message}: {reason}")
    return SnapshotDamaged(message)
