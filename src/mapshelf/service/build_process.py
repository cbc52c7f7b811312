"""The builder: the process that follows the store and publishes a snapshot after each change.

``idle_builder.py`` waits until there is something to build, and ``build_loop.py`` builds.
"""

import errno
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
from mapshelf.service.free_space import make_room
from mapshelf.service.idle_builder import wait_until_outdated
from mapshelf.service.process_setup import exit_with_parent, set_up_logging, stop_event
from mapshelf.service.upkeep import Upkeep
from mapshelf.settings import Settings
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.store import open_store

NICENESS: Final = 2
"""Priority below the workers' when there is too little processor time for all."""

RETRY_INTERVAL: Final = 1.0
"""Seconds before a retry when another process is building, or cached files have made room."""

FULL: Final = (errno.ENOSPC, errno.EDQUOT)
"""The errors of a full disk."""

MORE_ROOM: Final = 64 << 20
"""Bytes of which so many more are free for the next attempt, at least, after a disk was full."""

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
            problem = _disk_problem(settings.data)
            pause = backoff.record_failure(problem or _reason(error))
            directory.remove_unfinished()  # other processes need the space
            if (problem or getattr(error, "errno", 0) in FULL) and _made_room(settings):
                pause = RETRY_INTERVAL  # before others use it
        stop.wait(pause)


def _disk_problem(folder: Path) -> str | None:
    """Return why the disk has no room, if it has none.

    The search engine's message about that is unclear, and varies.
    """
    with suppress(OSError):
        if problem := disk_space(folder).problem:
            return f"the disk of {folder} {problem}"
    return None


def _made_room(settings: Settings) -> bool:
    with suppress(OSError):  # the disk has gone
        return make_room(settings, max(MORE_ROOM, disk_space(settings.data).free // 2))
    return False


def _reason(error: Exception) -> str:
    """Return a one-line reason why building failed."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _follow_store(
    settings: Settings, directory: SnapshotDirectory, stop: threading.Event, backoff: LoggedBackoff
) -> None:
    with closing(open_store(settings.database, create=False)) as store:
        upkeep = Upkeep(store, settings)
        wait_until_outdated(store, directory, upkeep, stop)
        if stop.is_set():
            return
        # It loads large libraries, which an idle builder does without.
        from mapshelf.service.build_loop import build_until_idle  # noqa: PLC0415
        from mapshelf.snapshot.build import GC_THRESHOLDS  # noqa: PLC0415

        gc.freeze()
        gc.set_threshold(*GC_THRESHOLDS)
        build_until_idle(store, directory, upkeep, stop, backoff)
