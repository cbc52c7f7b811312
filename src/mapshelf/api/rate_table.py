"""A table of moments by key, which all workers of a node share, and which never grows.

It is a file of places for a quarter of a million keys. A worker reads it as memory and writes it by
one system call, which takes less than a microsecond each. There is no lock: if two workers write
the same place in the same moment, one of both is lost, which a limit can bear.

Each key has a few places to choose from. If others have all of them, the one with the earliest
moment is forgotten: whoever has used most is remembered longest, whatever strangers come by.

The table is in a file, because workers are started separately. It is not written through memory: if
the disk is full, that would end the worker, and a system call fails.
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
"""Groups of places, if not told otherwise: 4 MiB."""

PLACES: Final = 4
"""Places in a group."""

_SECRET: Final = 64
"""Bytes at the beginning of the file that make the keys of others unpredictable."""

_WORD: Final = 8
_ENTRY: Final = struct.Struct("=QQ")
"""The number of a key, and its moment."""

pack_entry: Final = _ENTRY.pack

log = logging.getLogger(__name__)


class RateTable:
    """Moments in nanoseconds, by key."""

    def __init__(self, path: Path, buckets: int = BUCKETS) -> None:
        """Open the table in a file, which is made if it is not there.

        If that fails, this worker has a table of its own.

        Args:
            path: the file.
            buckets: groups of places, ``PLACES`` each; a key can have a place in one of them.
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
        """Return a key for a name: a number, and where its group of places begins."""
        digest = blake2b(name, key=self._secret, digest_size=12).digest()
        bucket = int.from_bytes(digest[8:], "big") % self._buckets
        return int.from_bytes(digest[:8], "big") | 1, _SECRET // _WORD + bucket * PLACES * 2

    def find(self, key: tuple[int, int]) -> tuple[int, int]:
        """Return the place of a key, and what was set last for it, 0 if that is not known.

        If it has no place, it is the one that it may take from another.
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
        """Set the moment of a key, for which this place was found; not if the disk is full."""
        try:  # not "suppress", which takes as long as the rest
            pwrite(self._file, pack_entry(key[0], moment), place * _WORD)
        except OSError:
            return

    def close(self) -> None:
        """Let go of the file."""
        self._words.release()
        self._map.close()
        os.close(self._file)


def _opened(path: Path, size: int) -> int:
    """Open the file; make it if need be.

    Raises:
        OSError: that is not possible.
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
        # Another worker may have been faster; then this does nothing.
        with suppress(FileExistsError):
            os.link(made, path)
    finally:
        made.unlink(missing_ok=True)
    return os.open(path, os.O_RDWR | os.O_CLOEXEC)


def _unnamed() -> int:
    """Return a file without a name, in memory if the system can do that."""
    if sys.platform == "linux":
        return os.memfd_create("rates")
    with TemporaryFile() as file:
        return os.dup(file.fileno())


def _fill(file: int, size: int) -> None:
    """Give a new file its secret and its places."""
    content = secrets.token_bytes(_SECRET) + bytes(size - _SECRET)
    written = 0
    while written < size:
        written += os.pwrite(file, content[written:], written)
