"""Build snapshots: follow the store's change feed, and publish a snapshot after new changes.

A builder continues from the current snapshot, applies the changes since its revision, and publishes
the next one. Without a usable snapshot it starts empty and applies all changes, so a rebuild and an
update use the same code.

The cost of publishing depends only on what has changed. Records, columns and index segments are
append-only; sort orders are rewritten only rarely, and changes are stored separately until then.
When much of a snapshot belongs to removed or changed maps, the builder compacts it: it fills a new
one from the store, a few changes at a time, and meanwhile keeps the old one up to date.
"""

import logging
import shutil
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

from mapshelf.errors import (
    HistoryLost,
    SnapshotDamaged,
    SnapshotError,
    SnapshotMissing,
    SnapshotUnavailable,
    StoreUnavailable,
)
from mapshelf.snapshot.build.change_applier import Progress, apply_all, apply_new, pieces_of
from mapshelf.snapshot.build.map_preparation import MapPreparation
from mapshelf.snapshot.build.working_snapshot import WorkingSnapshot
from mapshelf.snapshot.format.checksums import verify
from mapshelf.snapshot.format.directory import WORK, SnapshotDirectory
from mapshelf.snapshot.format.manifest import read_manifest, was_built_from
from mapshelf.snapshot.format.verification import VerifiedSnapshots
from mapshelf.snapshot.read.snapshot import Snapshot
from mapshelf.store.contract import ChangeFeed

MANY_MAPS: Final = 10_000
"""Number of maps from which a full build uses helper processes, as it takes longer than to start
them."""

COMPACTION_BATCH: Final = 200
"""Number of changes applied by each step of a compaction. New changes wait at most for one step, a
fraction of a second."""

MOST_BEHIND: Final = 50_000
"""How many revisions behind a snapshot is still compared with the store, which keeps the marks of
100,000."""

log = logging.getLogger(__name__)


class Builder:
    """Builds snapshots of ``store`` in ``directory``, which may have one builder at a time.

    Raises:
        SnapshotUnavailable: the current snapshot cannot be opened at the moment.
    """

    def __init__(self, store: ChangeFeed, directory: SnapshotDirectory, helpers: int = 0) -> None:
        """Open the current snapshot, or begin a new one.

        Args:
            store: what to follow.
            directory: where to publish.
            helpers: number of helper processes for full builds of large catalogues.
        """
        self._store = store
        self._directory = directory
        self._work = directory.path / WORK
        self._folder_numbers = count()
        self._preparation = MapPreparation(helpers)
        self._verified = VerifiedSnapshots(directory)
        self._clear_work()
        self._working = self._resume() or self._create()
        self._compacted: WorkingSnapshot | None = None

    @property
    def revision(self) -> int:
        """The store revision that the last published snapshot shows."""
        return self._working.published_revision

    @property
    def map_count(self) -> int:
        """Number of maps of the last snapshot."""
        return len(self._working.slots)

    @property
    def is_merging(self) -> bool:
        """Whether segments of a new index are being merged; ``compact`` publishes the result."""
        return self._working.is_published and self._working.text.is_merging

    def advance(self, progress: Progress | None = None) -> bool:
        """Publish a snapshot if the store has changed since the last one; return whether it had.

        If the store fails during the call, the next call continues where this one stopped.

        It may leave changes of large maps for the next call.

        Raises:
            SnapshotDamaged: the last snapshot is lost, or a worker refused it. The caller must
                create a new builder.
        """
        self.check()
        revision = self._store.revision()
        if revision < max(self._working.revision, self._working.highest):
            self._rebuild("the store is older than it")
        try:
            if self._working.is_published and revision == self._working.published_revision:
                with suppress(StoreUnavailable):  # the next call compares them
                    self._check_lineage(revision)
                return False
            self._apply_changes(revision, progress)
            self._check_lineage(revision)
        except HistoryLost as error:
            self._rebuild(str(error))
            self._apply_changes(revision, progress)
        if not self._working.is_published:
            self._working.text.end_first_build()
        self._publish()
        return True

    def compact(self) -> bool:
        """Perform one step of compaction if the snapshot needs it; return whether there are more.

        It also publishes an index again whose segments were merged in the background.

        The old snapshot is kept up to date until the compacted one replaces it. Each step applies
        only a few changes, so that new changes do not wait long.
        """
        self._working.text.make_room()
        if self.is_merging and self._working.text.end_merging():
            self._publish()
        if self._compacted is None:
            if not self._working.needs_compaction():
                return False
            log.info("compacting the snapshot: much of it belongs to removed or changed maps")
            self._compacted = self._create()
        try:
            changes = self._store.changes(self._compacted.revision, COMPACTION_BATCH)
        except HistoryLost:  # the store no longer has the next changes: start over
            self._use(self._working)
            return True
        if changes:
            changes = next(pieces_of(changes))
            self._compacted.apply(changes)
            self._compacted.revision = changes[-1].revision
            if self._compacted.revision < self._working.revision:
                return True
        if self._working.ahead:  # it shows more, and will soon have caught up
            return True
        # The last changes may have been removals, which the feed leaves out if read from the start.
        self._compacted.revision = max(self._compacted.revision, self._working.revision)
        self._compacted.number = self._working.number
        self._compacted.text.end_first_build()
        self._use(self._compacted)
        self._publish()
        return False

    def check(self) -> None:
        """Check that the last snapshot is still there and was not refused.

        Raises:
            SnapshotDamaged: the snapshot is lost, or a worker refused it.
        """
        name = self._working.published_name
        if name and self._directory.is_lost(name):
            raise SnapshotDamaged(f"the snapshot {name} is lost or damaged")

    def close(self) -> None:
        """Close all files."""
        self._working.close()
        if self._compacted:
            self._compacted.close()
        self._verified.close()

    def _apply_changes(self, target: int, progress: Progress | None) -> None:
        """Apply new changes to the working snapshot: all if none has been published yet."""
        if self._working.is_published:
            apply_new(self._store, self._working, target, progress)
        elif self._store.map_count() < MANY_MAPS:
            apply_all(self._store, self._working, progress)
        else:
            with self._preparation.for_large_build():
                apply_all(self._store, self._working, progress)

    def _check_lineage(self, revision: int) -> None:
        """Check that the store has not been replaced by a copy that has reached ``revision``, too.

        A backup may have been restored, and so much written since that its revision is not lower.

        Raises:
            HistoryLost: it has been.
        """
        working = self._working
        if not working.is_published or revision - working.published_revision > MOST_BEHIND:
            return
        if self._store.lineage(working.published_revision) != working.published_lineage:
            raise HistoryLost("the store was replaced by an earlier copy")

    def _publish(self) -> None:
        working = self._working
        lineages = self._store.lineage(working.revision), self._store.lineage(working.highest)
        working.update_orders()
        working.number += 1
        folder = self._directory.new_folder(working.number)
        previous = working.published_name
        working.write(folder, lineages, self._directory.folder(previous) if previous else None)
        self._verified.add(folder.name)
        self._directory.publish(folder)
        working.published_revision, working.published_name = working.revision, folder.name
        working.published_lineage = lineages[0]
        working.applied = 0

    def _rebuild(self, reason: str) -> None:
        """Start again with an empty snapshot."""
        log.info("rebuilding the snapshot: %s", reason)
        self._use(self._create())

    def _use(self, working: WorkingSnapshot) -> None:
        """Continue with ``working``, and delete the other working snapshots."""
        for other in (self._working, self._compacted):
            if other and other is not working:
                other.close()
                shutil.rmtree(other.folder)
        self._working, self._compacted = working, None

    def _create(self) -> WorkingSnapshot:
        number, expected = self._last_number(), self._store.map_count()
        return WorkingSnapshot.create(self._new_folder(), number, expected, self._preparation)

    def _resume(self) -> WorkingSnapshot | None:
        """Continue from the current snapshot; return ``None`` if it is missing or damaged."""
        try:
            snapshot = self._directory.folder(self._directory.current())
            verify(snapshot)
            Snapshot(snapshot)  # as workers open it: the checksums may match files that do not work
            working = self._resume_from(snapshot)
            self._verified.add(snapshot.name)
            self._directory.clear_refused()
            return working
        except SnapshotUnavailable:  # the snapshot may be sound: the caller tries again
            raise
        except SnapshotError as error:
            if not isinstance(error, SnapshotMissing):  # otherwise it is the first
                log.info("rebuilding the snapshot: %s", error)
            self._clear_work()
            return None

    def _resume_from(self, snapshot: Path) -> WorkingSnapshot:
        manifest = read_manifest(snapshot)
        if not was_built_from(manifest, self._store):
            raise SnapshotDamaged(
                "the snapshot was built from another store, or from another copy of it"
            )
        return WorkingSnapshot.resume(self._new_folder(), snapshot, manifest, self._preparation)

    def _last_number(self) -> int:
        names = [path.name for path in self._directory.path.iterdir()]
        with suppress(SnapshotMissing):
            names.append(self._directory.current())
        # Workers identify snapshots by name, so numbers must not repeat, even after some or all
        # folders were deleted.
        return max([int(time.time()), *(int(name) for name in names if name.isdigit())])

    def _new_folder(self) -> Path:
        """Create a folder for a working snapshot; during a compaction there are two."""
        folder = self._work / str(next(self._folder_numbers))
        folder.mkdir()
        return folder

    def _clear_work(self) -> None:
        with suppress(FileNotFoundError):
            shutil.rmtree(self._work)
        self._work.mkdir(parents=True)
