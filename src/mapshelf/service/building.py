"""The process that builds: it follows the store and publishes a snapshot after every change."""

import logging
import os
import shutil
import threading
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mapshelf.errors import MapshelfError, StoreError, StoreUnavailable
from mapshelf.service.process import end_with_parent, set_up_logging, stop_event
from mapshelf.service.retrying import Retrying
from mapshelf.settings import Settings
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.store import open_store
from mapshelf.store.contract import ChangeFeed, VisitCounts

LOOK_INTERVAL: Final = 0.1
"""Least seconds between looks at what the store has that is new."""

LISTEN_INTERVAL: Final = 0.5
"""Seconds of listening to the store between looks at everything else."""

COMPACTION_INTERVAL: Final = 0.2
"""The same during a compaction, which rests for about as long as it works."""

REST_SHARE: Final = 1.0
"""Seconds of rest for each second of building, so that requests get their share of the machine."""

LONGEST_REST: Final = 0.5
"""Seconds of rest at most: in a very large catalogue a change waits long enough for a snapshot."""

GATHERED: Final = 60.0
"""Seconds for which visits come together before maps have them: each time costs a snapshot."""

GATHERED_SHARE: Final = 50.0
"""The same for each second of building, so that counting takes little of a large machine, too."""

LONGEST_GATHERED: Final = 600.0
"""Seconds at most, for a rebuild takes far longer than an update."""

APPLY_INTERVAL: Final = 5.0
"""Seconds between looks at whether any have come together."""

NICENESS: Final = 2
"""How far builders stand back where there is less of the machine than is asked for."""

RETRY_INTERVAL: Final = 1.0
"""Seconds before another try when the store cannot be reached, or somebody else builds."""

FULL: Final = 1 << 20
"""Bytes of room with which a disk counts as full."""

PROGRESS_STEP: Final = 50_000
"""Changes between lines in the log while a large catalogue is being built."""

log = logging.getLogger(__name__)


def build(settings: Settings) -> None:
    """Keep the snapshots of an installation up to date until asked to end."""
    set_up_logging()
    end_with_parent()
    os.nice(NICENESS)
    stop = stop_event()
    directory, retrying = SnapshotDirectory(settings.snapshots), Retrying("building")
    while not stop.is_set():
        pause = RETRY_INTERVAL
        try:
            with directory.building() as alone:
                if alone:
                    _follow(settings, directory, stop, retrying)
        except (MapshelfError, OSError) as error:
            pause = retrying.failed(_reason(error, settings.data))
            directory.remove_unfinished()  # others need the room meanwhile
        stop.wait(pause)


def _reason(error: Exception, folder: Path) -> str:
    """Return why building failed, in a line."""
    with suppress(OSError):
        # What the search engine says of a full disk is not clear, and differs from time to time.
        if shutil.disk_usage(folder).free < FULL:
            return f"the disk of {folder} is full"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _follow(
    settings: Settings, directory: SnapshotDirectory, stop: threading.Event, retrying: Retrying
) -> None:
    with closing(open_store(settings.database)) as store:
        builder, pending = Builder(store, directory), PendingCounts(store)
        with closing(builder):
            while not stop.is_set():
                stop.wait(_advance(builder, pending, retrying))
                _await_news(store, builder, pending, stop)


@dataclass(slots=True)
class PendingCounts:
    """Lets maps have what was counted, seldom enough.

    A change of a count is a change of its map: the index has to be told, since lists of what is
    found are put in the order of counts, and a snapshot published. So counts come together first.
    """

    store: VisitCounts
    gathered: float = GATHERED
    due: float = 0.0

    def heed(self, took: float) -> None:
        """Heed how many seconds building takes."""
        self.gathered = min(LONGEST_GATHERED, max(GATHERED, GATHERED_SHARE * took))

    def look(self) -> None:
        """Let maps have what has come together, if it is time."""
        if time.monotonic() < self.due:
            return
        self.due = time.monotonic() + APPLY_INTERVAL
        try:
            self.store.apply_visit_counts(int((time.time() - self.gathered) * 1000))
        except StoreError as error:
            log.warning("what was counted waits: %s", error)
            self.due += self.gathered


def _await_news(
    store: ChangeFeed, builder: Builder, pending: PendingCounts, stop: threading.Event
) -> None:
    """Wait until there may be something new, the snapshot is lost, or this is to end.

    Meanwhile a snapshot that needs it is compacted.
    """
    pending.look()
    interval = _compact(builder)
    while not stop.is_set() and not store.wait(builder.revision, interval):
        builder.check()
        pending.look()
        interval = _compact(builder)


def _compact(builder: Builder) -> float:
    """Take one step of compacting the snapshot if it needs that; return how long to listen then."""
    try:
        return COMPACTION_INTERVAL if builder.compact() else LISTEN_INTERVAL
    except StoreUnavailable as error:
        log.warning("the snapshot is compacted later: %s", error)
        return LISTEN_INTERVAL


def _advance(builder: Builder, pending: PendingCounts, retrying: Retrying) -> float:
    """Publish what is new; return how many seconds to rest."""
    began = time.monotonic()
    try:
        fresh = builder.advance(_tell)
    except StoreUnavailable as error:
        # It comes back at any moment, and then shows what was written as soon as ever.
        return min(RETRY_INTERVAL, retrying.failed(str(error)))
    retrying.worked()
    took = time.monotonic() - began
    if fresh:
        pending.heed(took)
    rest = min(LONGEST_REST, REST_SHARE * took) if fresh else 0.0
    return max(LOOK_INTERVAL, rest)


def _tell(applied: int) -> None:
    if applied % PROGRESS_STEP == 0:
        log.info("building the snapshot: %d maps so far", applied)
