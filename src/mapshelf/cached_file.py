"""A file of a disk cache: a checksum, then the content.

Nothing is synced to disk, so a file may be incomplete after a power cut. The checksum tells.
"""

import fcntl
import os
import time
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import xxhash

_DIGEST: Final = 16
"""Bytes of the checksum at the beginning of each file."""

PIECE: Final = 1 << 20
"""Size in bytes of the pieces in which content is written and read."""

SENT_IN_PIECES: Final = 98_304
"""Minimum size in bytes of content that may stay open for long, because it is sent in pieces."""

_ABANDONED_AFTER: Final = 3600.0
"""Age in seconds at which a temporary file must belong to a process that died."""

Piece = bytes | memoryview
"""A part of a result."""


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A verified file of the cache, to be sent in pieces.

    Attributes:
        path: its path; it may be removed at any time to free space.
        digest: the XXH3-128 checksum of its content, in hexadecimal.
        size: size of its content in bytes.
    """

    path: Path
    digest: str
    size: int

    def open(self) -> BinaryIO:
        """Open the file at the beginning of its content, and lock it, as ``is_open`` notices.

        Raises:
            OSError: the file has been removed.
        """
        with ExitStack() as opened:
            file = opened.enter_context(self.path.open("rb", buffering=0))
            with suppress(OSError):  # some network file systems have no locks
                fcntl.flock(file, fcntl.LOCK_SH)
            if not os.fstat(file.fileno()).st_nlink:  # removed before it was locked
                raise FileNotFoundError(self.path)
            file.seek(_DIGEST)
            opened.pop_all()
        return file

    def is_there(self) -> bool:
        """Return whether the file still exists."""
        return self.path.exists()


class StoredFile(NamedTuple):
    """A file of the cache that has not been read.

    Attributes:
        used: when it was stored or last used, in seconds since 1970-01-01 UTC; noted once a day.
        size: its size on disk in bytes.
        path: its path.
    """

    used: float
    size: int
    path: str

    @property
    def name(self) -> str:
        """Its name."""
        return os.path.basename(self.path)


def write_file(path: Path, pieces: Iterable[Piece]) -> CachedFile:
    """Write a cache file and return it: the checksum of its content, then its content."""
    digest, size = xxhash.xxh3_128(), 0
    with path.open("wb") as file:
        file.write(bytes(_DIGEST))
        for piece in pieces:
            digest.update(piece)
            size += len(piece)
            file.write(piece)
        file.seek(0)
        file.write(digest.digest())
    return CachedFile(path, digest.hexdigest(), size)


def verified_content(data: bytes) -> bytes | None:
    """Return the content of a file, given all its bytes, if it matches its checksum."""
    content = data[_DIGEST:]
    return content if data[:_DIGEST] == xxhash.xxh3_128_digest(content) else None


def verified_file(path: Path) -> CachedFile | None:
    """Return a file if its content matches its checksum."""
    digest, size = xxhash.xxh3_128(), 0
    with path.open("rb") as file:
        expected = file.read(_DIGEST)
        while piece := file.read(PIECE):
            digest.update(piece)
            size += len(piece)
    if digest.digest() != expected:
        return None
    return CachedFile(path, digest.hexdigest(), size)


def is_open(path: str) -> bool:
    """Return whether a process has a file open as a ``CachedFile``."""
    with suppress(FileNotFoundError), open(path, "r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def least_recently_used(folder: Path) -> list[StoredFile]:
    """Return the files of a folder, the least recently used first; none if it does not exist."""
    found = []
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # another process removed it
                status = entry.stat()
                size = max(status.st_size, status.st_blocks * 512)
                found.append(StoredFile(status.st_mtime, size, entry.path))
    return sorted(found)


def remove_file(file: StoredFile) -> bool:
    """Remove a file; return whether that frees space, because nobody reads it."""
    with suppress(FileNotFoundError):
        is_read = file.size >= SENT_IN_PIECES and is_open(file.path)
        os.unlink(file.path)
        return not is_read
    return True


def is_part(path: str) -> bool:
    """Return whether a file is, or was, written under a temporary name."""
    return "." in os.path.basename(path)


def is_young(file: StoredFile) -> bool:
    """Return whether a file with a temporary name may still be written."""
    return time.time() - file.used <= _ABANDONED_AFTER
