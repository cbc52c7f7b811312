"""The process that builds: it follows the store and publishes a snapshot after every change."""

import logging
import os
import threading
import time
from dataclasses import dataclass
from typing import Final

from mapshelf.errors import MapshelfError, StoreError, StoreUnavailable
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

REST_SHARE: Final = 1.0
"""Seconds of rest for each second of building, so that requests get their share of the machine."""

LONGEST_REST: Final = 0.5
"""Seconds of rest at most: in a very large catalogue a change waits long enough for a snapshot."""

GATHERED: Final = 60.0
"""Seconds for which visits come together before maps have them: each time costs a snapshot."""

GATHERED_SHARE: Final = 50.0
"""The same for each second of building, so that counting takes little of a large machine, too."""

LONGEST_GATHERED: Final = 600.0
"""Seconds at most, for building anew takes far longer than building on."""

SETTLE_INTERVAL: Final = 5.0
"""Seconds between looks at whether any have come together."""

NICENESS: Final = 2
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
        builder, settling = Builder(store, directory), Settling(store)
        try:
            while not stop.is_set():
                stop.wait(_advance(builder, settling))
                _await_news(store, builder, settling, stop)
        finally:
            builder.close()
    finally:
        store.close()


@dataclass(slots=True)
class Settling:
    """Lets maps have what was counted, seldom enough.

    A change of a count is a change of its map: the index has to be told, since lists of what is
    found are put in the order of counts, and a snapshot published. So counts come together first.
    """

    store: Store
    gathered: float = GATHERED
    due: float = 0.0

    def heed(self, took: float) -> None:
        """Heed how many seconds building takes."""
        self.gathered = min(LONGEST_GATHERED, max(GATHERED, GATHERED_SHARE * took))

    def look(self) -> None:
        """Let maps have what has come together, if it is time."""
        if time.monotonic() < self.due:
            return
        self.due = time.monotonic() + SETTLE_INTERVAL
        try:
            self.store.settle_visits(int((time.time() - self.gathered) * 1000))
        except StoreError as error:
            log.warning("what was counted waits: %s", error)
            self.due += self.gathered


def _await_news(store: Store, builder: Builder, settling: Settling, stop: threading.Event) -> None:
    """Wait until there may be something new, the snapshot is lost, or this is to end.

    A wasteful snapshot is made anew meanwhile.
    """
    settling.look()
    interval = _renew(builder)
    while not stop.is_set() and not store.wait(builder.revision, interval):
        builder.check()
        settling.look()
        interval = _renew(builder)


def _renew(builder: Builder) -> float:
    """Go on making a wasteful snapshot anew; return how many seconds to listen then."""
    try:
        return RENEWING_INTERVAL if builder.renew() else LISTEN_INTERVAL
    except StoreUnavailable as error:
        log.warning("the snapshot is made anew later: %s", error)
        return LISTEN_INTERVAL


def _advance(builder: Builder, settling: Settling) -> float:
    """Publish what is new; return how many seconds to rest."""
    began = time.monotonic()
    try:
        fresh = builder.advance(_tell)
    except StoreUnavailable as error:
        log.warning("the store cannot be read: %s", error)
        return RETRY_INTERVAL
    took = time.monotonic() - began
    if fresh:
        settling.heed(took)
    rest = min(LONGEST_REST, REST_SHARE * took) if fresh else 0.0
    return max(LOOK_INTERVAL, rest)


def _tell(applied: int) -> None:
    if applied % PROGRESS_STEP == 0:
        log.info("building the snapshot: %d maps so far", applied)
