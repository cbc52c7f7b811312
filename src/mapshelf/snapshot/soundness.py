"""Which snapshots are known to be sound: each is read whole once before it is answered from.

Nothing forces a snapshot to disk, and while nobody runs anything may happen to its files: a power
cut, a copy that was cut short, a bad disk. So no process trusts what it finds. It trusts what it
has verified itself, and what another that still runs has verified or made: then the files have been
in good hands all along, and a process that is replaced need not read them again.

The processes of a node share what they know in a file on which each holds a lock. What the file
says counts as long as anybody does; once all have ended, however they did, the next one begins
anew. Nobody has to be told of an end, clean or not.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import FileIO
from typing import Final

from mapshelf.snapshot.directory import SnapshotDirectory, verify

REMEMBERED: Final = 4
"""Names kept in the file: the current snapshot, those about to be, and those just left."""

LONGEST: Final = 4096
"""Bytes read of the file, far more than there are."""


class SoundSnapshots:
    """The sound snapshots of a directory, as the running processes of this machine know them.

    To be used by one thread at a time.
    """

    def __init__(self, directory: SnapshotDirectory) -> None:
        self._directory = directory
        self._path = directory.path / "sound"
        self._turns = directory.path / "verifying"
        self._file: FileIO | None = None

    def ensure(self, name: str) -> None:
        """Verify a snapshot, unless it is known to be sound; wait while another does so.

        Raises:
            SnapshotDamaged: it is not sound.
        """
        if name in self._known():
            return
        with self._turn(wait=True) as shared:
            if name in self._known():
                return
            verify(self._directory.folder(name))
            if shared:
                self._note(name)

    def add(self, name: str) -> None:
        """Tell the others of a snapshot that this process has verified or made.

        While another verifies one, that is left out: then they see for themselves.
        """
        with self._turn(wait=False) as shared:
            if shared:
                self._note(name)

    def close(self) -> None:
        """Know nothing any more."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _known(self) -> list[str]:
        if self._file is None:
            return []
        return os.pread(self._file.fileno(), LONGEST, 0).decode("ascii", "replace").split()

    def _note(self, name: str) -> None:
        """Write a name into the file; all are of one length, so none is ever read in part."""
        assert self._file is not None
        names = [*(one for one in self._known() if one != name), name][-REMEMBERED:]
        with suppress(OSError):  # then the others see for themselves
            os.pwrite(self._file.fileno(), "".join(f"{one}\n" for one in names).encode("ascii"), 0)

    @contextmanager
    def _turn(self, *, wait: bool) -> Iterator[bool]:
        """Do something while no other process does; tell whether they can be told of it."""
        with ExitStack() as stack:
            try:
                turns = stack.enter_context(self._turns.open("w"))
                fcntl.flock(turns, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                self._join()
                shared = True
            except OSError:  # it is not our turn, or this folder cannot be written to
                shared = False
            yield shared

    def _join(self) -> None:
        """Hold the lock on the file; what it says is forgotten if nobody else does."""
        if self._file is not None and _is_at(self._file, self._path):
            return
        self.close()
        with ExitStack() as stack:
            # Not to append: Linux would put every write at the end, wherever it is for.
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            file = stack.enter_context(FileIO(descriptor, "r+"))
            with suppress(BlockingIOError):  # another holds it: what it says counts
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                file.truncate(0)
            fcntl.flock(file, fcntl.LOCK_SH)
            stack.pop_all()
        self._file = file


def _is_at(file: FileIO, path: os.PathLike[str]) -> bool:
    """Tell whether this is the file at ``path`` still: somebody may have deleted it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except OSError:
        return False
