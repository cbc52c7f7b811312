"""Verify each snapshot once per node before it is used, and record which ones are verified.

Snapshots are not synced to disk, and files may change while no process runs, because of a power
cut, an incomplete copy or a disk error. So a process does not trust a snapshot that it finds. It
trusts a snapshot that it has verified or built itself, or that another running process has verified
or built. Thanks to that, a restarted worker does not have to read all files again.

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

from mapshelf.snapshot.format.checksums import verify
from mapshelf.snapshot.format.directory import SnapshotDirectory

NAMES_KEPT: Final = 4
"""Number of names kept in the file: those of current, previous and upcoming snapshots."""

LONGEST: Final = 4096
"""Maximum number of bytes read from the file, far more than it contains."""


class VerifiedSnapshots:
    """The verified snapshots of a directory, as recorded by the running processes of this node.

    Only one thread may use it at a time.
    """

    def __init__(self, directory: SnapshotDirectory) -> None:
        self._directory = directory
        self._names_path = directory.path / "sound"
        self._lock_path = directory.path / "verifying"
        self._names_file: FileIO | None = None

    def verify_once(self, name: str) -> None:
        """Verify a snapshot unless it has been verified; wait while another process verifies one.

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

        This does nothing while another process verifies a snapshot. Other processes then verify
        this one themselves.
        """
        with self._locked(wait=False) as shared:
            if shared:
                self._write(name)

    def close(self) -> None:
        """Release the shared lock; this process then trusts no snapshot any more."""
        if self._names_file is not None:
            self._names_file.close()
            self._names_file = None

    def _names(self) -> list[str]:
        if self._names_file is None:
            return []
        return os.pread(self._names_file.fileno(), LONGEST, 0).decode("ascii", "replace").split()

    def _write(self, name: str) -> None:
        """Write a name to the file. All names have one length, so none is read half-written."""
        assert self._names_file is not None
        names = [*(one for one in self._names() if one != name), name][-NAMES_KEPT:]
        data = "".join(f"{one}\n" for one in names).encode("ascii")
        with suppress(OSError):  # then other processes verify it again
            os.pwrite(self._names_file.fileno(), data, 0)

    @contextmanager
    def _locked(self, *, wait: bool) -> Iterator[bool]:
        """Hold the exclusive lock; yield whether it is held and the file of names is open."""
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
        """Open the file of names with a shared lock; empty it if no other process holds a lock."""
        if self._names_file is not None and _is_at(self._names_file, self._names_path):
            return
        self.close()
        with ExitStack() as stack:
            # Not in append mode, in which Linux ignores the offset of pwrite and appends.
            descriptor = os.open(self._names_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            file = stack.enter_context(FileIO(descriptor, "r+"))
            with suppress(BlockingIOError):  # another process holds a lock: keep its names
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                file.truncate(0)
            fcntl.flock(file, fcntl.LOCK_SH)
            stack.pop_all()
        self._names_file = file


def _is_at(file: FileIO, path: os.PathLike[str]) -> bool:
    """Return whether ``path`` is still this file; it may have been deleted or replaced."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except OSError:
        return False
