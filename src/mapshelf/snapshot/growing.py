"""Files of a snapshot that only grow, and are shared by all snapshots until they are written anew.

A snapshot shows the part of such a file that was there when it was published. What is added for
each is a chunk, whose length and checksum stand in the manifest: checking what is new is cheap,
and what lies beyond the last chunk was never published, so it is cut off.
"""

import os
from pathlib import Path
from typing import BinaryIO, Final

import xxhash

Chunks = list[tuple[int, str]]
"""Length and checksum of what was added for each snapshot."""

MOST_CHUNKS: Final = 1000
"""Chunks up to which a manifest stays short."""


class GrowingFile:
    """A file that bytes are added to, of which ``chunks`` have been published."""

    def __init__(self, path: Path, chunks: Chunks) -> None:
        self.path = path
        self.chunks = chunks
        self._file: BinaryIO = path.open("ab+")
        self._length = sum(length for length, _ in chunks)
        self._file.truncate(self._length)
        self._begin_chunk()

    def __len__(self) -> int:
        return self._length

    def append(self, data: bytes) -> int:
        """Add bytes; return where they begin."""
        start = self._length
        self._file.write(data)
        self._chunk.update(data)
        self._chunk_length += len(data)
        self._length += len(data)
        return start

    def read(self, start: int, length: int) -> bytes:
        """Return bytes that were added before the last ``flush``."""
        return os.pread(self._file.fileno(), length, start)

    def flush(self) -> None:
        """Make all that was added readable."""
        self._file.flush()

    def link_to(self, path: Path) -> None:
        """Finish a chunk and give the file its name in a snapshot."""
        self.flush()
        if self._chunk_length:
            self.chunks.append((self._chunk_length, self._chunk.hexdigest()))
            self._begin_chunk()
        path.hardlink_to(self.path)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _begin_chunk(self) -> None:
        self._chunk = xxhash.xxh3_64()
        self._chunk_length = 0
