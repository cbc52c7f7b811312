"""Verifies each snapshot once per node before it is used, and remembers which ones are verified.

Snapshots are not synced to disk, and files may change while no process runs: after a power cut, an
incomplete copy, a disk error. So a process does not trust a snapshot that it finds. It trusts one
that it has verified or built itself, or that another running process has: as long as one runs, it
has kept watch, and a replaced worker need not read all files again.

The processes of a node share the names of verified snapshots in one file, and each holds a shared
lock on it. The file counts as long as any process holds the lock. When all have ended, cleanly or
not, the next process starts with an empty file.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import FileIO
from typing import Final

from mapshelf.snapshot.format.directory import SnapshotDirectory
from mapshelf.snapshot.format.manifest import verify

NAMES_KEPT: Final = 4
"""Names kept in the file: current, previous and upcoming snapshots."""

LONGEST: Final = 4096
"""Most bytes read of the file, far more than it has."""


class VerifiedSnapshots:
    """The verified snapshots of a directory, as the running processes of this node know them.

    Only one thread may use it at a time.
    """

    def __init__(self, directory: SnapshotDirectory) -> None:
        self._directory = directory
        self._names_path = directory.path / "sound"
        self._lock_path = directory.path / "verifying"
        self._names_file: FileIO | None = None

    def verify_once(self, name: str) -> None:
        """Verify a snapshot, unless that was done; wait while another process does it.

        Raises:
            SnapshotDamaged: its checksums are wrong.
        """
        if name in self._names():
            return
        with self._locked(wait=True) as shared:
            if name in self._names():
                return
            verify(self._directory.folder(name))
            if shared:
                self._write(name)

    def add(self, name: str) -> None:
        """Record a snapshot that this process has verified or built.

        If another process is verifying one, this does nothing: the others then verify it again.
        """
        with self._locked(wait=False) as shared:
            if shared:
                self._write(name)

    def close(self) -> None:
        """Release the lock and forget all names."""
        if self._names_file is not None:
            self._names_file.close()
            self._names_file = None

    def _names(self) -> list[str]:
        if self._names_file is None:
            return []
        return os.pread(self._names_file.fileno(), LONGEST, 0).decode("ascii", "replace").split()

    def _write(self, name: str) -> None:
        """Write a name to the file. All names have one length, so none is ever read in part."""
        assert self._names_file is not None
        names = [*(one for one in self._names() if one != name), name][-NAMES_KEPT:]
        data = "".join(f"{one}\n" for one in names).encode("ascii")
        with suppress(OSError):  # other processes then verify it again
            os.pwrite(self._names_file.fileno(), data, 0)

    @contextmanager
    def _locked(self, *, wait: bool) -> Iterator[bool]:
        """Hold the exclusive lock; yield whether names can be shared with other processes."""
        with ExitStack() as stack:
            try:
                lock = stack.enter_context(self._lock_path.open("w"))
                fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                self._open_names()
                shared = True
            except OSError:  # another process holds the lock, or the folder is not writable
                shared = False
            yield shared

    def _open_names(self) -> None:
        """Open the file and hold a shared lock on it; empty it if no other process holds one."""
        if self._names_file is not None and _is_at(self._names_file, self._names_path):
            return
        self.close()
        with ExitStack() as stack:
            # Not in append mode: Linux would then append every pwrite, whatever its offset.
            descriptor = os.open(self._names_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            file = stack.enter_context(FileIO(descriptor, "r+"))
            with suppress(BlockingIOError):  # another process holds a lock: its names count
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                file.truncate(0)
            fcntl.flock(file, fcntl.LOCK_SH)
            stack.pop_all()
        self._names_file = file


def _is_at(file: FileIO, path: os.PathLike[str]) -> bool:
    """Return whether ``path`` still is this file, which somebody may have deleted or replaced."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except OSError:
        return False
