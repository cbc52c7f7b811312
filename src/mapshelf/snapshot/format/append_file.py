"""Files of a snapshot that only grow, and are shared by all snapshots until they are written anew.

A snapshot shows the part of such a file that was there when it was published; its length and
checksum stand in the manifest. The checksum goes on from that of the snapshot before, so that
publishing costs what is new. What lies beyond was never published, so it is cut off.
"""

import os
from pathlib import Path
from typing import BinaryIO, Final

import xxhash

_PIECE: Final = 1 << 20


class GrowingFile:
    """A file that bytes are added to, of which the first ``length`` have been published."""

    def __init__(self, path: Path, length: int = 0) -> None:
        self.path = path
        self._file: BinaryIO = path.open("ab+")
        self._file.truncate(length)
        self._length = length
        self._digest = xxhash.xxh3_64()
        for start in range(0, length, _PIECE):
            self._digest.update(self.read(start, min(_PIECE, length - start)))

    def __len__(self) -> int:
        return self._length

    def append(self, data: bytes) -> int:
        """Add bytes; return where they begin."""
        start = self._length
        self._file.write(data)
        self._digest.update(data)
        self._length += len(data)
        return start

    def read(self, start: int, length: int) -> bytes:
        """Return bytes that were added before the last ``flush``."""
        return os.pread(self._file.fileno(), length, start)

    def flush(self) -> None:
        """Make all that was added readable."""
        self._file.flush()

    def link_to(self, path: Path) -> tuple[int, str]:
        """Give the file its name in a snapshot; return its length there and its checksum."""
        self.flush()
        path.hardlink_to(self.path)
        return self._length, self._digest.hexdigest()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
