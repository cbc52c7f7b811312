"""The builder: the process that follows the store and publishes a snapshot after each change."""

import gc
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from mapshelf.errors import MapshelfError, StoreUnavailable
from mapshelf.service.backoff import LoggedBackoff
from mapshelf.service.cleanup_scheduler import CleanupScheduler
from mapshelf.service.clock_check import ClockCheck
from mapshelf.service.heap import HeapTrimmer
from mapshelf.service.process_setup import exit_with_parent, set_up_logging, stop_event
from mapshelf.service.removal_scheduler import RemovalScheduler
from mapshelf.service.visit_count_scheduler import VisitCountScheduler
from mapshelf.service.worker_count import default_helpers
from mapshelf.settings import Settings
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import GC_THRESHOLDS, Builder, Progress
from mapshelf.store import open_store
from mapshelf.store.contract import ChangeFeed

MIN_BUILD_INTERVAL: Final = 0.1
"""Seconds between builds at least."""

LISTEN_INTERVAL: Final = 1.0
"""Seconds of waiting for the store between checks for other work."""

COMPACTION_INTERVAL: Final = 0.2
"""The same while a snapshot is compacted: it pauses for about as long as it works."""

PAUSE_SHARE: Final = 1.0
"""Seconds of pause for each second of building, which leaves processor time for requests."""

MAX_PAUSE: Final = 0.5
"""Maximum pause in seconds: in a very large catalogue, changes appear slowly enough as it is."""

NICENESS: Final = 2
"""Priority below the workers' when there is too little processor time for all."""

RETRY_INTERVAL: Final = 1.0
"""Seconds before a retry when the store cannot be reached, or another process is building."""

DISK_FULL: Final = 1 << 20
"""Free bytes below which a disk counts as full."""

PROGRESS_STEP: Final = 50_000
"""Changes between log lines while a large catalogue is built."""

log = logging.getLogger(__name__)


def run_build_process(settings: Settings) -> None:
    """Keep the snapshots of an installation up to date until asked to stop."""
    set_up_logging(settings.log_format)
    exit_with_parent()
    os.nice(NICENESS)
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    stop = stop_event()
    directory, backoff = SnapshotDirectory(settings.snapshots), LoggedBackoff("building")
    while not stop.is_set():
        pause = RETRY_INTERVAL
        try:
            with directory.building() as alone:
                if alone:
                    _follow_store(settings, directory, stop, backoff)
        except (MapshelfError, OSError) as error:
            pause = backoff.record_failure(_reason(error, settings.data))
            directory.remove_unfinished()  # other processes need the space
        stop.wait(pause)


def _reason(error: Exception, folder: Path) -> str:
    """Return a one-line reason why building failed."""
    with suppress(OSError):
        # The search engine's message about a full disk is unclear, and varies.
        if shutil.disk_usage(folder).free < DISK_FULL:
            return f"the disk of {folder} is full"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _follow_store(
    settings: Settings, directory: SnapshotDirectory, stop: threading.Event, backoff: LoggedBackoff
) -> None:
    with closing(open_store(settings.database)) as store:
        clock_check = ClockCheck(store)
        clock_check.compare_due()  # a first build may take long
        builder = Builder(store, directory, default_helpers())
        visit_counts = VisitCountScheduler(store)
        upkeep = (
            visit_counts.apply_due,
            RemovalScheduler(store).purge_due,
            CleanupScheduler(store).do_due,
            clock_check.compare_due,
            HeapTrimmer().trim_due,
        )
        try:
            while not stop.is_set():
                stop.wait(_publish_changes(builder, visit_counts, backoff))
                _wait_for_work(store, builder, upkeep, stop)
        finally:
            if not stop.is_set():  # otherwise this process ends, and need not wait for merges
                builder.close()


def _wait_for_work(
    store: ChangeFeed,
    builder: Builder,
    upkeep: Sequence[Callable[[], None]],
    stop: threading.Event,
) -> None:
    """Wait until there may be changes, the snapshot is lost, or a stop is requested.

    While waiting, run ``upkeep`` when due, and compact a wasteful snapshot.
    """
    interval = _run_upkeep(builder, upkeep)
    while not stop.is_set() and not store.wait(builder.revision, interval):
        builder.check()
        interval = _run_upkeep(builder, upkeep)


def _run_upkeep(builder: Builder, upkeep: Sequence[Callable[[], None]]) -> float:
    """Run what is due and compact; return how many seconds to wait for the store."""
    for due in upkeep:
        due()
    return _compact(builder)


def _compact(builder: Builder) -> float:
    """Continue to compact a wasteful snapshot; return how many seconds to wait for the store."""
    try:
        return COMPACTION_INTERVAL if builder.compact() else LISTEN_INTERVAL
    except StoreUnavailable as error:
        log.warning("postponed compacting the snapshot: %s", error)
        return LISTEN_INTERVAL


def _publish_changes(
    builder: Builder, visit_counts: VisitCountScheduler, backoff: LoggedBackoff
) -> float:
    """Publish what has changed; return how many seconds to pause."""
    began = time.monotonic()
    try:
        published = builder.advance(_progress_log())
    except StoreUnavailable as error:
        # The store may return at any moment, and its changes should then appear at once.
        return min(RETRY_INTERVAL, backoff.record_failure(str(error)))
    backoff.record_success()
    build_time = time.monotonic() - began
    if published:
        visit_counts.adapt_to(build_time)
    pause = min(MAX_PAUSE, PAUSE_SHARE * build_time) if published else 0.0
    return max(MIN_BUILD_INTERVAL, pause)


def _progress_log() -> Progress:
    """Return a function that logs the progress of one build."""
    logged = 0

    def log_progress(applied: int) -> None:
        nonlocal logged
        if applied >= logged + PROGRESS_STEP:
            logged = applied - applied % PROGRESS_STEP
            log.info("building the snapshot: %d maps so far", logged)

    return log_progress
