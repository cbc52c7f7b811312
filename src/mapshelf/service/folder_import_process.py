"""The importer process: synchronize the catalogue with the folders given to ``serve``."""

import logging
import math
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from watchfiles import watch

from mapshelf.errors import StoreError
from mapshelf.import_status import StatusFile
from mapshelf.importer.attribution import Attribution
from mapshelf.importer.folder_sync import FolderSync, SyncOptions
from mapshelf.importer.report import printable
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.service.backoff import LoggedBackoff
from mapshelf.service.process_setup import exit_with_parent, set_up_logging, stop_event
from mapshelf.settings import Settings
from mapshelf.store import open_store

SHORT_INTERVAL: Final = 1.0
"""Seconds between synchronizations while a file is being written, and between checks for the end
if the system does not notify of changes."""

LONG_INTERVAL: Final = 30.0
"""Seconds between synchronizations without a notification: some file systems never notify."""

DEBOUNCE: Final = 200
"""Milliseconds during which notifications are collected, because changes seldom come alone."""

log = logging.getLogger(__name__)


def run_folder_import_process(
    settings: Settings, folders: list[Path], attribution: Attribution
) -> None:
    """Synchronize the catalogue with ``folders`` until asked to stop."""
    set_up_logging(settings.log_format)
    exit_with_parent()
    stop, backoff = stop_event(), LoggedBackoff("importing")
    options = SyncOptions(
        attribution,
        StatusFile(settings.data),
        f"{settings.base_url}/account/imports",
        # A progress bar is for interactive use; logs are searched later.
        briefly=sys.stderr.isatty(),
    )
    while not stop.is_set():
        try:
            with closing(open_store(settings.database)) as store, SandboxedReader() as reader:
                _follow(FolderSync(store, reader, folders, options), folders, stop, backoff)
        except StoreError as error:
            stop.wait(backoff.record_failure(str(error)))


def _follow(
    folder_sync: FolderSync, folders: list[Path], stop: threading.Event, backoff: LoggedBackoff
) -> None:
    due = time.monotonic() + _sync(folder_sync, backoff)
    for changed in _notifications(folders, stop):
        if changed or time.monotonic() >= due:
            due = time.monotonic() + _sync(folder_sync, backoff)


def _sync(folder_sync: FolderSync, backoff: LoggedBackoff) -> float:
    """Synchronize once; return the seconds until the next time."""
    try:
        interval = SHORT_INTERVAL if folder_sync.sync() else LONG_INTERVAL
    except (StoreError, OSError) as error:
        return min(LONG_INTERVAL, backoff.record_failure(str(error)))
    backoff.record_success()
    return interval


def _notifications(folders: list[Path], stop: threading.Event) -> Iterator[bool]:
    """Yield at least every second whether something has changed, until asked to stop."""
    told = False
    while not stop.is_set():
        try:
            yield from _watched(folders, stop)
        except OSError as error:
            _warn_of_scanning(error)
            break
        except RuntimeError as error:
            # watchfiles ends at a name that is not UTF-8, which anybody who may write a file can
            # choose. It would end again at once, so look again later.
            if not told:
                _warn_of_scanning(error)
            told = True
            yield True
            yield from _silence(stop, LONG_INTERVAL)
    yield from _silence(stop, math.inf)


def _watched(folders: list[Path], stop: threading.Event) -> Iterator[bool]:
    for changes in watch(
        *folders,
        watch_filter=None,
        debounce=DEBOUNCE,
        rust_timeout=int(SHORT_INTERVAL * 1000),
        yield_on_timeout=True,
        stop_event=stop,
        raise_interrupt=False,
    ):
        yield bool(changes)


def _silence(stop: threading.Event, seconds: float) -> Iterator[bool]:
    until = time.monotonic() + seconds
    while time.monotonic() < until and not stop.wait(SHORT_INTERVAL):
        yield False


def _warn_of_scanning(error: Exception) -> None:
    text = "no change notifications; folders are scanned every %d s: %s"
    log.warning(text, LONG_INTERVAL, printable(str(error)))
