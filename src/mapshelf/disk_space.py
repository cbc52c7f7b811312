"""How much space a disk has left, and can have: bytes, and files.

Many file systems, for instance ext4, have a fixed number of inodes, one for each file. So a disk
may be full of small files although most of its bytes are free.
"""

import os
from contextlib import suppress
from math import inf
from pathlib import Path
from time import monotonic
from typing import Final, NamedTuple

_FULL: Final = 1 << 20
_FULL_OF_FILES: Final = 64

BYTES_PER_FILE: Final = 1 << 14
"""Bytes for which a file system has an inode: what ``mkfs.ext4`` chooses by default."""


KNOWN_FOR: Final = 30.0
"""Seconds for which a note of ``RemovableSpace`` is used."""


class DiskSpace(NamedTuple):
    """The space of a disk that a program may use.

    Attributes:
        size: all bytes.
        free: free bytes.
        files: how many files there can be, 0 if that is unlimited.
        free_files: how many more there can be.
    """

    size: int
    free: int
    files: int = 0
    free_files: int = 0

    @property
    def problem(self) -> str | None:
        """Why it has no room for a database or an index, if it has none."""
        if self.free < _FULL:
            return "is full"
        if self.files and self.free_files < _FULL_OF_FILES:
            return "has no inodes left for more files"
        return None


class Reserve(NamedTuple):
    """Free space to leave on a disk, in bytes and the corresponding number of files.

    Attributes:
        size: bytes.
        share: the share of the disk, if that is less.
    """

    size: int
    share: float

    def missing(self, disk: DiskSpace, size: int) -> tuple[float, float]:
        """Return how many free bytes, and free files, a disk has too few for a new file.

        Args:
            disk: the disk.
            size: the size of the new file in bytes.
        """
        free_bytes = min(self.size, disk.size * self.share) + size
        free_files = min(self.size / BYTES_PER_FILE, disk.files * self.share) + 1
        missing_files = free_files - disk.free_files if disk.files else 0.0
        return max(0.0, free_bytes - disk.free), max(0.0, missing_files)


class RemovableSpace:
    """A note of how many bytes the removal of all files of a kind would free, if too few.

    Finding that out takes half a second with 100,000 files. So processes tell each other.
    """

    def __init__(self, file: Path) -> None:
        """Use this file for the note."""
        self._file = file

    def note(self, size: int) -> None:
        """Note how many bytes it would free."""
        with suppress(OSError):  # a full disk: then each process finds it out
            self._file.write_text(f"{size} {monotonic() + KNOWN_FOR}", "ascii")

    def noted(self) -> float:
        """Return how many bytes it would free at most."""
        try:
            size, until = map(float, self._file.read_text("ascii").split())
        except (OSError, ValueError):  # there is no note, or it is just being written
            return inf
        # The clock starts again with the machine.
        return size if 0 < until - monotonic() <= KNOWN_FOR else inf


def disk_space(place: Path | int) -> DiskSpace:
    """Return the space of the disk with a file or folder, given its path or descriptor.

    Raises:
        OSError: there is no such file.
    """
    found = os.statvfs(place)
    size, free = found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize
    return DiskSpace(size, free, found.f_files, found.f_favail)
