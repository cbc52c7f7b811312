"""Write append-only files, which successive snapshots share as hard links.

A snapshot covers the bytes that were in such a file when it was published. The manifest records
their number and checksum. Each checksum continues that of the previous snapshot, so only new bytes
have to be hashed. Bytes after the published length are left over from a crash; the file is
truncated to that length when it is opened.
"""

import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO, Final

import xxhash

_READ_SIZE: Final = 1 << 20

OpenFile = Callable[[Path, int], "AppendFile"]
"""Opens a file of which so many bytes have been published."""


class AppendFile:
    """An append-only file whose first ``length`` bytes have been published.

    Raises:
        OSError: the file cannot be opened or read.
    """

    def __init__(self, path: Path, length: int = 0) -> None:
        self.path = path
        self._file: BinaryIO = path.open("ab+")
        self._length = length
        self._digest = xxhash.xxh3_64()
        try:
            self._file.truncate(length)
            for start in range(0, length, _READ_SIZE):
                self._digest.update(self.read(start, min(_READ_SIZE, length - start)))
        except OSError:
            self._file.close()
            raise

    def __len__(self) -> int:
        return self._length

    def append(self, data: bytes) -> int:
        """Append bytes; return their offset."""
        start = self._length
        self._file.write(data)
        self._digest.update(data)
        self._length += len(data)
        return start

    def read(self, start: int, length: int) -> bytes:
        """Return ``length`` bytes from offset ``start``, appended before the last ``flush``."""
        return os.pread(self._file.fileno(), length, start)

    def flush(self) -> None:
        """Make everything appended so far readable."""
        self._file.flush()

    def link_to(self, path: Path) -> tuple[int, str]:
        """Hard-link the file into a snapshot; return its length and checksum there."""
        self.flush()
        path.hardlink_to(self.path)
        return self._length, self._digest.hexdigest()

    def close(self) -> None:
        """Close the file.

        Errors are ignored: bytes that were not flushed belong to no snapshot, and the caller must
        be able to close its other files.
        """
        with suppress(OSError):
            self._file.close()


def closed_on_failure(opened: ExitStack) -> OpenFile:
    """Return a function that opens files, which ``opened`` closes unless its callbacks are dropped.

    So objects that need many files leave none open if one of them cannot be opened.
    """

    def open_file(path: Path, length: int) -> AppendFile:
        file = AppendFile(path, length)
        opened.callback(file.close)
        return file

    return open_file
