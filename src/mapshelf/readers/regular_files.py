"""Open regular files safely: no pipes, no devices, and no symbolic links.

A user with write access to an imported folder must not gain read access to other files. The scan of
a folder skips symbolic links, but a file or folder can be replaced by a link between the scan and
the read (a TOCTOU race). So no part of the path below the imported folder may be a link when the
file is opened.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

from mapshelf.errors import UnreadableFile

# Without O_NONBLOCK, opening a pipe without a writer would block for ever.
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NO_LINK: Final = _FLAGS | os.O_NOFOLLOW


@contextmanager
def open_regular(path: str, folder: str = "") -> Iterator[tuple[BinaryIO, os.stat_result]]:
    """Open a regular file for reading.

    Args:
        path: path of the file.
        folder: the imported folder that contains it. Links below it are not followed.

    Raises:
        UnreadableFile: it is a folder, pipe or device.
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
    """Open a file below ``folder`` component by component, without following symbolic links."""
    descriptor = os.open(folder, _NO_LINK | os.O_DIRECTORY)
    for number, part in enumerate(parts, 1):
        outer = descriptor
        try:
            flags = _NO_LINK if number == len(parts) else _NO_LINK | os.O_DIRECTORY
            descriptor = os.open(part, flags, dir_fd=outer)
        finally:
            os.close(outer)
    return descriptor
