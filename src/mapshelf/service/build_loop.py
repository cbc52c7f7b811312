"""The loop of a builder that has something to build: publish changes, do upkeep, compact."""

import logging
import threading
import time
from typing import Final

from mapshelf.errors import StoreError, StoreUnavailable
from mapshelf.service.backoff import LoggedBackoff
from mapshelf.service.idle_builder import LISTEN_INTERVAL, SMALL
from mapshelf.service.upkeep import Upkeep
from mapshelf.service.worker_count import default_helpers
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder, Progress
from mapshelf.store.contract import ChangeFeed

MIN_BUILD_INTERVAL: Final = 0.1
"""Seconds between builds at least."""

COMPACTION_INTERVAL: Final = 0.2
"""Seconds of waiting for the store between steps of a compaction: it pauses for about as long as it
works."""

PAUSE_SHARE: Final = 1.0
"""Seconds of pause for each second of building, which leaves processor time for requests."""

MAX_PAUSE: Final = 0.5
"""Maximum pause in seconds: in a very large catalogue, changes appear slowly enough as it is."""

RETRY_INTERVAL: Final = 1.0
"""Seconds before a retry when the store cannot be reached."""

IDLE_AFTER: Final = 300.0
"""Seconds without a change after which the builder of a small catalogue is idle."""

PROGRESS_STEP: Final = 50_000
"""Changes between log lines while a large catalogue is built."""

log = logging.getLogger(__name__)


def build_until_idle(
    store: ChangeFeed,
    directory: SnapshotDirectory,
    upkeep: Upkeep,
    stop: threading.Event,
    backoff: LoggedBackoff,
) -> None:
    """Publish changes until a stop is requested, or a small catalogue has had none for a while.

    Raises:
        SnapshotError: the current snapshot is lost, or cannot be used.
        StoreError: the store cannot be used.
    """
    builder = Builder(store, directory, default_helpers())
    try:
        idle = False
        while not (idle or stop.is_set()):
            stop.wait(_publish_changes(builder, upkeep, backoff))
            idle = _wait_for_work(store, builder, upkeep, stop)
    finally:
        if not stop.is_set():  # otherwise this process ends, and need not wait for merges
            builder.close()


def _wait_for_work(
    store: ChangeFeed, builder: Builder, upkeep: Upkeep, stop: threading.Event
) -> bool:
    """Wait until there may be changes, the snapshot is lost, or a stop is requested.

    While waiting, do what is due of ``upkeep``, and compact a wasteful snapshot. Return true if
    there has been nothing to build for a while.
    """
    idle_from = time.monotonic() + IDLE_AFTER
    upkeep.do_due()
    interval = _compact(builder)
    while not stop.is_set() and not store.wait(builder.revision, interval):
        builder.check()
        upkeep.do_due()
        interval = _compact(builder)
        if interval == LISTEN_INTERVAL and time.monotonic() > idle_from:
            idle_from = time.monotonic() + IDLE_AFTER
            if _is_idle(store, builder):
                return True
    return False


def _is_idle(store: ChangeFeed, builder: Builder) -> bool:
    """Return whether there is nothing to build, which is unknown while the store is unreachable."""
    try:
        unchanged = store.revision() == builder.revision
    except StoreError:
        return False
    return unchanged and not builder.is_merging and builder.map_count <= SMALL


def _compact(builder: Builder) -> float:
    """Continue to compact a wasteful snapshot; return how many seconds to wait for the store."""
    try:
        return COMPACTION_INTERVAL if builder.compact() else LISTEN_INTERVAL
    except StoreUnavailable as error:
        log.warning("postponed compacting the snapshot: %s", error)
        return LISTEN_INTERVAL


def _publish_changes(builder: Builder, upkeep: Upkeep, backoff: LoggedBackoff) -> float:
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
        upkeep.visit_counts.adapt_to(build_time)
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
