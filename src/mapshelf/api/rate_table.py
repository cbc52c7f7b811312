"""A table of timestamps by key, of fixed size, that all workers of a node share.

It is a file with slots for a quarter of a million keys. A worker reads it as mapped memory and
writes it by a system call, each in less than a microsecond. There is no lock: if two workers write
the same slot at the same moment, one write is lost, which a rate limit tolerates.

Each key may use a few slots. If other keys occupy all of them, the one with the earliest timestamp
is evicted, so the clients that have sent most requests are remembered longest.

The table is in a file, because workers are started separately. It is not written through mapped
memory: on a full disk, that would kill the process, while a system call fails.
"""

import logging
import mmap
import os
import secrets
import struct
import sys
from contextlib import suppress
from hashlib import blake2b
from os import pwrite
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

BUCKETS: Final = 65_536
"""Default number of buckets: 4 MiB."""

PLACES: Final = 4
"""Slots in a bucket."""

_SECRET: Final = 64
"""Random bytes at the beginning of the file that make keys unpredictable."""

_WORD: Final = 8
_ENTRY: Final = struct.Struct("=QQ")
"""The number of a key, and its timestamp."""

pack_entry: Final = _ENTRY.pack

log = logging.getLogger(__name__)


class RateTable:
    """Timestamps in nanoseconds, by key."""

    def __init__(self, path: Path, buckets: int = BUCKETS) -> None:
        """Open the table in a file, which is created if it does not exist.

        If that fails, this worker uses a table of its own.

        Args:
            path: the file.
            buckets: the number of buckets, with ``PLACES`` slots each; a key belongs to one bucket.
        """
        size = _SECRET + buckets * PLACES * _ENTRY.size
        try:
            self._file = _opened(path, size)
        except OSError as error:
            log.warning("each worker counts requests for itself: %s", error)
            self._file = _unnamed()
            _fill(self._file, size)
        self._buckets = buckets
        self._map = mmap.mmap(self._file, size, prot=mmap.PROT_READ)
        self._secret = self._map[:_SECRET]
        self._words = memoryview(self._map).cast("Q")

    def key(self, name: bytes) -> tuple[int, int]:
        """Return the key for a name: a number, and the offset of its bucket."""
        digest = blake2b(name, key=self._secret, digest_size=12).digest()
        bucket = int.from_bytes(digest[8:], "big") % self._buckets
        return int.from_bytes(digest[:8], "big") | 1, _SECRET // _WORD + bucket * PLACES * 2

    def find(self, key: tuple[int, int]) -> tuple[int, int]:
        """Return the slot of a key and its last timestamp, 0 if that is unknown.

        If it has no slot, this is the slot to take over from another key.
        """
        number, first = key
        words = self._words
        if words[first] == number:
            return first, words[first + 1]
        places = range(first, first + 2 * PLACES, 2)
        for place in places:
            if words[place] == number:
                return place, words[place + 1]
        return min(places, key=lambda one: words[one + 1]), 0

    def set(self, key: tuple[int, int], place: int, moment: int) -> None:
        """Set the timestamp of a key in the slot that ``find`` returned; no-op on a full disk."""
        try:  # not "suppress", which would double the time
            pwrite(self._file, pack_entry(key[0], moment), place * _WORD)
        except OSError:
            return

    def close(self) -> None:
        """Close the file."""
        self._words.release()
        self._map.close()
        os.close(self._file)


def _opened(path: Path, size: int) -> int:
    """Open the file; create it if it does not exist.

    Raises:
        OSError: that failed.
    """
    with suppress(FileNotFoundError):
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        if os.fstat(file).st_size == size:
            return file
        os.close(file)  # of another version
        path.unlink(missing_ok=True)
    made = path.with_name(f"{path.name}.{secrets.token_hex(6)}")
    try:
        file = os.open(made, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            _fill(file, size)
        finally:
            os.close(file)
        # Another worker may have done this already; then this does nothing.
        with suppress(FileExistsError):
            os.link(made, path)
    finally:
        made.unlink(missing_ok=True)
    return os.open(path, os.O_RDWR | os.O_CLOEXEC)


def _unnamed() -> int:
    """Return an unnamed file, in memory if the system supports that."""
    if sys.platform == "linux":
        return os.memfd_create("rates")
    with TemporaryFile() as file:
        return os.dup(file.fileno())


def _fill(file: int, size: int) -> None:
    """Write the secret and the empty slots of a new file."""
    content = secrets.token_bytes(_SECRET) + bytes(size - _SECRET)
    written = 0
    while written < size:
        written += os.pwrite(file, content[written:], written)
