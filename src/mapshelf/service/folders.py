"""The process that keeps the catalogue in step with the folders given to ``mapshelf serve``."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from watchfiles import watch

from mapshelf.errors import StoreError
from mapshelf.importer import FolderSync
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.service.process import end_with_parent, set_up_logging, stop_event
from mapshelf.service.retrying import Retrying
from mapshelf.settings import Settings
from mapshelf.store import open_store

TICK: Final = 1.0
"""Seconds between looks while a file is being written, or while nothing is told of changes."""

LATER: Final = 30.0
"""Seconds between looks when no change is told of: some file systems tell of none."""

GATHERED: Final = 200
"""Milliseconds during which changes are gathered, since they seldom come alone."""

log = logging.getLogger(__name__)


def follow_folders(settings: Settings, folders: list[Path]) -> None:
    """Keep the catalogue in step with ``folders`` until asked to end."""
    set_up_logging()
    end_with_parent()
    stop, retrying = stop_event(), Retrying("importing")
    while not stop.is_set():
        try:
            with closing(open_store(settings.database)) as store, SandboxedReader() as reader:
                _follow(FolderSync(store, reader, folders), folders, stop, retrying)
        except StoreError as error:
            stop.wait(retrying.failed(str(error)))


def _follow(
    folder_sync: FolderSync, folders: list[Path], stop: threading.Event, retrying: Retrying
) -> None:
    due = time.monotonic() + _look(folder_sync, retrying)
    for changed in _ticks(folders, stop):
        if changed or time.monotonic() >= due:
            due = time.monotonic() + _look(folder_sync, retrying)


def _look(folder_sync: FolderSync, retrying: Retrying) -> float:
    """Look at the folders once; return the seconds until they are looked at again."""
    try:
        interval = TICK if folder_sync.sync() else LATER
    except (StoreError, OSError) as error:
        return min(LATER, retrying.failed(str(error)))
    retrying.worked()
    return interval


def _ticks(folders: list[Path], stop: threading.Event) -> Iterator[bool]:
    """Yield every now and then whether something has changed, until asked to end."""
    try:
        for changes in watch(
            *folders,
            watch_filter=None,
            debounce=GATHERED,
            rust_timeout=int(TICK * 1000),
            yield_on_timeout=True,
            stop_event=stop,
            raise_interrupt=False,
        ):
            yield bool(changes)
    except OSError as error:
        log.warning("changes are looked for every %d s: %s", LATER, error)
    while not stop.wait(TICK):
        yield False
