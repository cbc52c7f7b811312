"""Collects the state of an installation for operators: store, snapshot, disk, and backups.

It contains no data about people or maps: no names, no search texts.
"""

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from mapshelf.backup_status import BackupStatus, BackupStatusFile
from mapshelf.disk_space import disk_space
from mapshelf.errors import SnapshotError
from mapshelf.import_status import ImportStatus, StatusFile
from mapshelf.metrics.count_files import read_counts
from mapshelf.metrics.counts import Counts
from mapshelf.model import Figures, RefusalKind
from mapshelf.settings import counts_folder, snapshots_folder
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.format.manifest import read_manifest

PARTS: Final = ("snapshots", "thumbnails", "documents", "exports")
"""Folders in the data folder whose sizes are reported separately."""


class WatchedStore(Protocol):
    """The parts of the store that an overview needs."""

    def revision(self) -> int:
        """See ``contract.ChangeFeed``."""

    def figures(self) -> Figures:
        """See ``contract.StoreFigures``."""

    def clock_difference(self) -> float:
        """See ``contract.StoreFigures``."""

    def count_open_refusals(self) -> dict[RefusalKind, int]:
        """See ``contract.Imports``."""


@dataclass(frozen=True, slots=True)
class StoreState:
    """The state of the store.

    Attributes:
        seconds: the duration of the shortest query.
        revision: the revision of the newest change.
        figures: the number of its objects.
        refusals: files that imports refused, except dismissed ones.
        clock_difference: see ``contract.StoreFigures``.
    """

    seconds: float
    revision: int
    figures: Figures
    refusals: Mapping[RefusalKind, int]
    clock_difference: float = 0.0


@dataclass(frozen=True, slots=True)
class SnapshotState:
    """The current snapshot.

    Attributes:
        revision: the newest change in it.
        maps: the number of its maps.
        size: the size of its files in bytes.
        published: when it was published, in seconds since 1970-01-01 UTC.
    """

    revision: int
    maps: int
    size: int
    published: float


@dataclass(frozen=True, slots=True)
class DiskUse:
    """The disk usage of the data folder.

    Attributes:
        parts: bytes by folder in ``PARTS``; ``other`` is all other files, including a SQLite
            database.
        free: free bytes on the disk.
        free_files: how many more files there can be on it, ``None`` if that is unlimited.
    """

    parts: Mapping[str, int] = field(default_factory=dict)
    free: int = 0
    free_files: int | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """The state of an installation.

    Attributes:
        counts: the counters of its workers.
        store: ``None`` if the store cannot be reached.
        snapshot: ``None`` if there is none yet, or it is damaged.
        disk: its disk usage.
        importing: the progress of an import, if one is running.
        backup: the result of the last backup.
    """

    counts: Counts
    store: StoreState | None
    snapshot: SnapshotState | None
    disk: DiskUse
    importing: ImportStatus | None
    backup: BackupStatus

    @property
    def pending(self) -> int | None:
        """The number of changes in the store, but not yet in the snapshot; ``None`` if unknown."""
        if self.store is None:
            return None
        shown = self.snapshot.revision if self.snapshot else 0
        return max(0, self.store.revision - shown)


def look(data: Path, store: StoreState | None, disk: DiskUse | None = None) -> Overview:
    """Return the state of the installation in a data folder.

    Args:
        data: the data folder.
        store: the state of the store.
        disk: recent disk usage, for callers that need overviews often; measured by default.
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
    """Query the state of a store.

    Raises:
        StoreError: the store does not respond.
    """
    began = time.perf_counter()
    revision = store.revision()
    seconds = time.perf_counter() - began
    return StoreState(
        seconds,
        revision,
        store.figures(),
        store.count_open_refusals(),
        store.clock_difference(),
    )


def disk_use(data: Path) -> DiskUse:
    """Return the disk usage of a data folder. This is slow if there are many files."""
    # Snapshots share files by hard links: each is counted once.
    seen: set[tuple[int, int]] = set()
    parts = {name: _size(data / name, seen) for name in PARTS}
    parts["other"] = _size(data, seen)
    with suppress(OSError):
        disk = disk_space(data)
        return DiskUse(parts, disk.free, disk.free_files if disk.files else None)
    return DiskUse(parts)


def _size(folder: Path, seen: set[tuple[int, int]]) -> int:
    """Return the disk usage in bytes of the files below a folder, except those ``seen``."""
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
