"""The process that builds: it follows the store and publishes a snapshot after every change."""

import logging
import os
import threading
import time
from typing import Final

from mapshelf.errors import MapshelfError, StoreUnavailable
from mapshelf.service.process import end_with_parent, set_up_logging, stop_event
from mapshelf.settings import Settings
from mapshelf.snapshot import Builder, SnapshotDirectory
from mapshelf.store import Store, open_store

LOOK_INTERVAL: Final = 0.1
"""Least seconds between looks at what the store has that is new."""

LISTEN_INTERVAL: Final = 0.5
"""Seconds of listening to the store between looks at everything else."""

RENEWING_INTERVAL: Final = 0.2
"""Likewise while a snapshot is being made anew: it rests for about as long as it works."""

REST_SHARE: Final = 2.0
"""Seconds of rest for each second of building, so that requests get their share of the machine."""

LONGEST_REST: Final = 2.0
"""Seconds of rest at most: a change shows within five even in a very large catalogue."""

NICENESS: Final = 4
"""How far builders stand back where there is less of the machine than is asked for."""

RETRY_INTERVAL: Final = 1.0
"""Seconds before another try when the store cannot be reached, or somebody else builds."""

PROGRESS_STEP: Final = 50_000
"""Changes between lines in the log while a large catalogue is being built."""

log = logging.getLogger(__name__)


def build(settings: Settings) -> None:
    """Keep the snapshots of an installation up to date until asked to end."""
    set_up_logging()
    end_with_parent()
    os.nice(NICENESS)
    stop = stop_event()
    directory = SnapshotDirectory(settings.snapshots)
    while not stop.is_set():
        try:
            with directory.building() as alone:
                if alone:
                    _follow(settings, directory, stop)
        except MapshelfError as error:
            log.warning("building goes on in a moment: %s", error)
        stop.wait(RETRY_INTERVAL)


def _follow(settings: Settings, directory: SnapshotDirectory, stop: threading.Event) -> None:
    store = open_store(settings.database)
    try:
        builder = Builder(store, directory)
        try:
            while not stop.is_set():
                stop.wait(_advance(builder))
                _await_news(store, builder, stop)
        finally:
            builder.close()
    finally:
        store.close()


def _await_news(store: Store, builder: Builder, stop: threading.Event) -> None:
    """Wait until there may be something new, the snapshot is lost, or this is to end.

    A wasteful snapshot is made anew meanwhile.
    """
    interval = LISTEN_INTERVAL
    while not stop.is_set() and not store.wait(builder.revision, interval):
        builder.check()
        interval = RENEWING_INTERVAL if builder.renew() else LISTEN_INTERVAL


def _advance(builder: Builder) -> float:
    """Publish what is new; return how many seconds to rest."""
    began = time.monotonic()
    try:
        fresh = builder.advance(_tell)
    except StoreUnavailable as error:
        log.warning("the store cannot be read: %s", error)
        return RETRY_INTERVAL
    took = time.monotonic() - began
    rest = min(LONGEST_REST, REST_SHARE * took) if fresh else 0.0
    return max(LOOK_INTERVAL, rest)


def _tell(applied: int) -> None:
    if applied % PROGRESS_STEP == 0:
        log.info("building the snapshot: %d maps so far", applied)
