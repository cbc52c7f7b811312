"""The builder: the process that follows the store and publishes a snapshot after each change.

``idle_builder.py`` waits until there is something to build, and ``build_loop.py`` builds.
"""

import gc
import logging
import os
import threading
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from mapshelf.disk_space import disk_space
from mapshelf.errors import MapshelfError
from mapshelf.service.backoff import LoggedBackoff
from mapshelf.service.idle_builder import wait_until_outdated
from mapshelf.service.process_setup import exit_with_parent, set_up_logging, stop_event
from mapshelf.service.upkeep import Upkeep
from mapshelf.settings import Settings
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.store import open_store

NICENESS: Final = 2
"""Priority below the workers' when there is too little processor time for all."""

RETRY_INTERVAL: Final = 1.0
"""Seconds before a retry when another process is building."""

log = logging.getLogger(__name__)


def run_build_process(settings: Settings) -> None:
    """Keep the snapshots of an installation up to date until asked to stop.

    Also return when there has been nothing to build for a while: the caller then starts this
    process again.
    """
    set_up_logging(settings.log_format)
    exit_with_parent()
    os.nice(NICENESS)
    stop = stop_event()
    directory, backoff = SnapshotDirectory(settings.snapshots), LoggedBackoff("building")
    while not stop.is_set():
        pause = RETRY_INTERVAL
        try:
            with directory.building() as alone:
                if alone:
                    _follow_store(settings, directory, stop, backoff)
                    return
        except (MapshelfError, OSError) as error:
            pause = backoff.record_failure(_reason(error, settings.data))
            directory.remove_unfinished()  # other processes need the space
        stop.wait(pause)


def _reason(error: Exception, folder: Path) -> str:
    """Return a one-line reason why building failed."""
    with suppress(OSError):
        # The search engine's message about a full disk is unclear, and varies.
        if problem := disk_space(folder).problem:
            return f"the disk of {folder} {problem}"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _follow_store(
    settings: Settings, directory: SnapshotDirectory, stop: threading.Event, backoff: LoggedBackoff
) -> None:
    with closing(open_store(settings.database, create=False)) as store:
        upkeep = Upkeep(store)
        wait_until_outdated(store, directory, upkeep, stop)
        if stop.is_set():
            return
        # It loads large libraries, which an idle builder does without.
        from mapshelf.service.build_loop import build_until_idle  # noqa: PLC0415
        from mapshelf.snapshot.build import GC_THRESHOLDS  # noqa: PLC0415

        gc.freeze()
        gc.set_threshold(*GC_THRESHOLDS)
        build_until_idle(store, directory, upkeep, stop, backoff)
