"""Manage the folder of all snapshots: which one is current, publishing, refusing and locking.

    snapshots/
      current            the name of the snapshot to read, replaced by a rename
      lock               held by the one process that builds
      refused            the name of a snapshot that a worker could not use
      sound              the names of verified snapshots; every running process that has verified
                         one holds a lock on it (``verification.py``)
      verifying          held by the one process that is verifying a snapshot
      work/              the builder's files: append-only files, orders and the search index
      000000000042/      a snapshot: hard links to files that other snapshots share, the changes
                         since those were written, and manifest.json

The folder of a snapshot is complete before ``current`` names it, and nothing is written to it
afterwards. Nothing is synced to disk: if a power cut leaves a snapshot half written, its checksums
are wrong. They are verified before the first answer, and a damaged snapshot is rebuilt.

This module imports neither NumPy nor Tantivy, so that ``mapshelf serve`` can quickly check whether
there is a snapshot.
"""

import contextlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from mapshelf.durable import replace_file
from mapshelf.errors import SnapshotMissing, SnapshotUnavailable
from mapshelf.file_lock import locked_file
from mapshelf.snapshot.format.unavailable import snapshot_error

CURRENT: Final = "current"
WORK: Final = "work"


class SnapshotDirectory:
    """The folder of all snapshots of one catalogue."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._current = path / CURRENT
        self._refused = path / "refused"

    def has_current(self) -> bool:
        """Return whether a snapshot was published before; it may be damaged."""
        return self._current.exists()

    def current(self) -> str:
        """Return the name of the current snapshot.

        Raises:
            SnapshotMissing: none has been published.
            SnapshotUnavailable: the name cannot be read at the moment.
        """
        try:
            name = self._current.read_bytes()
        except OSError as error:
            found = snapshot_error("the name of the current snapshot cannot be read", error)
            if isinstance(found, SnapshotUnavailable):
                raise found from error
            raise SnapshotMissing("no snapshot has been published yet") from error
        # After a power cut the file may hold NULs, which no path may contain.
        if not name.isdigit():
            raise SnapshotMissing("the name of the current snapshot is damaged")
        return name.decode("ascii")

    def stamp(self) -> tuple[int, int] | None:
        """Return a value that changes whenever a snapshot is published, ``None`` without any.

        This is much cheaper than reading the name, so it may be called ten times a second.
        """
        try:
            status = self._current.stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns

    def forget(self) -> None:
        """Unset the current snapshot, because it belongs to another store.

        Raises:
            OSError: the file ``current`` cannot be deleted.
        """
        self._current.unlink(missing_ok=True)

    def refuse(self, name: str) -> None:
        """Record that a worker could not use this snapshot, so that the builder replaces it."""
        with contextlib.suppress(OSError):  # the folder is lost: the builder notices that itself
            self._refused.write_text(name, "ascii")

    def is_refused(self, name: str) -> bool:
        """Return whether a worker has refused this snapshot (``refuse``)."""
        try:
            return self._refused.read_bytes() == name.encode()
        except OSError:
            return False

    def is_lost(self, name: str) -> bool:
        """Return whether this snapshot is deleted, no longer the current one, or was refused.

        Raises:
            SnapshotUnavailable: that cannot be found out at the moment.
        """
        try:
            is_current = self.current() == name and self.folder(name).exists()
            return not is_current or self.is_refused(name)
        except SnapshotMissing:
            return True

    def clear_refused(self) -> None:
        """Delete the record of a refused snapshot."""
        self._refused.unlink(missing_ok=True)

    def folder(self, name: str) -> Path:
        """Return the folder of the snapshot with this name."""
        return self.path / name

    @contextmanager
    def building(self) -> Iterator[bool]:
        """Try to take the builder's lock without waiting; yield whether this process holds it."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked_file(self.path / "lock") as alone:
            yield alone

    def new_folder(self, number: int) -> Path:
        """Create an empty folder for the snapshot with this number; delete a leftover one first."""
        folder = self.path / name_of(number)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def remove_unfinished(self) -> None:
        """Remove the working files, and all snapshots after the current one.

        They are left over from a builder that failed before it published them.
        """
        published = ""
        with contextlib.suppress(SnapshotMissing):
            published = self.current()
        shutil.rmtree(self.path / WORK, ignore_errors=True)
        for other in self.path.glob("[0-9]*"):
            if other.name > published:
                shutil.rmtree(other, ignore_errors=True)

    def publish(self, folder: Path) -> None:
        """Make ``folder`` the current snapshot, and delete all others except the previous one.

        Workers may still be using the previous one.
        """
        try:
            previous = self.current()
        except SnapshotMissing:
            previous = folder.name
        replace_file(self._current, folder.name)
        for other in self.path.iterdir():
            if other.name.isdigit() and other.name not in (folder.name, previous):
                shutil.rmtree(other, ignore_errors=True)


def name_of(number: int) -> str:
    """Return the name of the snapshot with this number."""
    return f"{number:012d}"
