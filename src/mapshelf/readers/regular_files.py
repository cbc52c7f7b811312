"""Open ordinary files: no pipe, no device, and nothing that a link has put in their place.

Whoever can put files into an imported folder must not choose what else is read. When a folder is
scanned, links are left out. But between that and reading, seconds later, a file or a folder can be
exchanged for a link. So no part of the path below the imported folder may be one when it is opened.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

from mapshelf.errors import UnreadableFile

# Without O_NONBLOCK, opening a pipe nobody writes to would wait for ever.
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NO_LINK: Final = _FLAGS | os.O_NOFOLLOW


@contextmanager
def open_regular(path: str, folder: str = "") -> Iterator[tuple[BinaryIO, os.stat_result]]:
    """Open an ordinary file for reading, and nothing else.

    Args:
        path: where it is.
        folder: the imported folder that it is in. Links below it are not followed.

    Raises:
        UnreadableFile: it is a folder, a pipe, a device.
        OSError: it cannot be opened.
    """
    if folder:
        descriptor = _opened_below(folder, os.path.relpath(path, folder).split(os.sep))
    else:
        descriptor = os.open(path, _FLAGS)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableFile("it is not an ordinary file")
        with open(descriptor, "rb", closefd=False) as file:
            yield file, status
    finally:
        os.close(descriptor)


def _opened_below(folder: str, parts: list[str]) -> int:
    """Open a file below ``folder`` part by part, so that no part can be a symbolic link."""
    descriptor = os.open(folder, _NO_LINK | os.O_DIRECTORY)
    for number, part in enumerate(parts, 1):
        outer = descriptor
        try:
            flags = _NO_LINK if number == len(parts) else _NO_LINK | os.O_DIRECTORY
            descriptor = os.open(part, flags, dir_fd=outer)
        finally:
            os.close(outer)
    return descriptor
