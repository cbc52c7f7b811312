"""The state of an installation at one moment, as operators see it.

Nothing here is about a person or a map: no names, no search texts.
"""

import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from mapshelf.backup_status import BackupStatus, BackupStatusFile
from mapshelf.errors import SnapshotError
from mapshelf.import_status import ImportStatus, StatusFile
from mapshelf.metrics.count_files import read_counts
from mapshelf.metrics.counts import Counts
from mapshelf.model import Figures, RefusalKind
from mapshelf.settings import counts_folder, snapshots_folder
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.format.manifest import read_manifest

PARTS: Final = ("snapshots", "thumbnails", "documents", "exports")
"""Folders in the data folder whose sizes are told apart."""


class WatchedStore(Protocol):
    """What is asked of a store."""

    def revision(self) -> int:
        """See ``contract.ChangeFeed``."""

    def figures(self) -> Figures:
        """See ``contract.StoreFigures``."""

    def count_open_refusals(self) -> dict[RefusalKind, int]:
        """See ``contract.Imports``."""


@dataclass(frozen=True, slots=True)
class StoreState:
    """What a store answered.

    Attributes:
        seconds: how long the shortest question took.
        revision: of the newest change.
        figures: how much is in it.
        refusals: files that imports did not take, without those that were dismissed.
    """

    seconds: float
    revision: int
    figures: Figures
    refusals: Mapping[RefusalKind, int]


@dataclass(frozen=True, slots=True)
class SnapshotState:
    """The snapshot that is answered from.

    Attributes:
        revision: the newest change in it.
        maps: how many maps it has.
        size: bytes of its files.
        published: when it was published, in seconds since 1970-01-01 UTC.
    """

    revision: int
    maps: int
    size: int
    published: float


@dataclass(frozen=True, slots=True)
class DiskUse:
    """The disk of the data folder.

    Attributes:
        parts: bytes of each of ``PARTS``, and of all other files as ``other``, the database among
            them if it is SQLite.
        free: bytes that are free.
    """

    parts: Mapping[str, int] = field(default_factory=dict)
    free: int = 0


@dataclass(frozen=True, slots=True)
class Overview:
    """The state of an installation.

    Attributes:
        counts: what its workers counted.
        store: ``None`` if the store cannot be reached.
        snapshot: ``None`` if there is none yet, or it is damaged.
        disk: its disk.
        importing: how far an import is, if there is one.
        backup: how the last backup went.
    """

    counts: Counts
    store: StoreState | None
    snapshot: SnapshotState | None
    disk: DiskUse
    importing: ImportStatus | None
    backup: BackupStatus

    @property
    def pending(self) -> int | None:
        """How many changes are in the store, and not in the snapshot; ``None`` if unknown."""
        if self.store is None:
            return None
        shown = self.snapshot.revision if self.snapshot else 0
        return max(0, self.store.revision - shown)


def look(data: Path, store: StoreState | None, disk: DiskUse | None = None) -> Overview:
    """Return the state of the installation in a data folder.

    Args:
        data: the data folder.
        store: what the store answered.
        disk: what its disk was like a moment ago, for callers that ask often.
    """
    return Overview(
        counts=read_counts(counts_folder(data)),
        store=store,
        snapshot=_snapshot(data),
        disk=disk or disk_use(data),
        importing=StatusFile(data).read(),
        backup=BackupStatusFile(data).read(),
    )


def ask(store: WatchedStore) -> StoreState:
    """Ask a store how it is.

    Raises:
        StoreError: it does not answer.
    """
    began = time.perf_counter()
    revision = store.revision()
    seconds = time.perf_counter() - began
    return StoreState(seconds, revision, store.figures(), store.count_open_refusals())


def disk_use(data: Path) -> DiskUse:
    """Return what the disk of a data folder is like. It takes a moment if there are many files."""
    # Snapshots share files by hard links: each is counted once.
    seen: set[tuple[int, int]] = set()
    parts = {name: _size(data / name, seen) for name in PARTS}
    parts["other"] = _size(data, seen)
    free = 0
    with suppress(OSError):
        free = shutil.disk_usage(data).free
    return DiskUse(parts, free)


def _size(folder: Path, seen: set[tuple[int, int]]) -> int:
    """Return the bytes that files below a folder take on the disk, but for those ``seen``."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # removed meanwhile
                found = os.lstat(os.path.join(parent, name))
                if (found.st_dev, found.st_ino) not in seen:
                    seen.add((found.st_dev, found.st_ino))
                    total += found.st_blocks * 512
    return total


def _snapshot(data: Path) -> SnapshotState | None:
    directory = SnapshotDirectory(snapshots_folder(data))
    try:
        folder = directory.folder(directory.current())
        manifest = read_manifest(folder)
        published = folder.stat().st_mtime
    except (SnapshotError, OSError):
        return None
    size = sum(int(size) for size, _ in manifest["files"].values())
    return SnapshotState(int(manifest["revision"]), int(manifest["maps"]), size, published)
