"""Notifications of changes in the folders that the importer follows.

The system notifies of changes in the folders that were there when a watch began. If a folder is
removed and comes back, or another is put in its place, the watch must begin again.

watchfiles cannot watch a folder whose path is not UTF-8. Changes in it are found by the scans of
all folders at long intervals.

On Linux, watchfiles follows links to folders, which a scan does not: a link to ``/`` would make it
watch the whole system, and a few folders with links to each other would keep it busy for hours. So
each folder is watched on its own there, and the watch begins again when there is a new one.
"""

import logging
import math
import os
import sys
import threading
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Final

from watchfiles import Change, watch

from mapshelf.importer.report import printable
from mapshelf.importer.walk import walk

CHECK_INTERVAL: Final = 1.0
"""Seconds between checks for the end if the system does not notify of changes."""

LONG_INTERVAL: Final = 30.0
"""Seconds between synchronizations without a notification: some file systems never notify."""

FOLLOWS_LINKS: Final = sys.platform == "linux"
"""Whether watchfiles follows links to folders here."""

DEBOUNCE: Final = 200
"""Milliseconds during which notifications are collected, because changes seldom come alone."""

STEP: Final = 500
"""Milliseconds between checks for notifications. An idle service must hardly use the processor."""

log = logging.getLogger(__name__)


def folder_changes(folders: list[Path], stop: threading.Event) -> Iterator[bool]:
    """Yield at least every second whether something has changed, until asked to stop.

    The first time, something may have: before the folders were watched.
    """
    told = False
    for folder in folders:
        if not _is_watchable(folder):
            _warn_of_path(folder)
    while not stop.is_set():
        try:
            yield from _watched(folders, stop)
        except FileNotFoundError:  # a folder was removed when the watch began
            yield from _silence(stop, CHECK_INTERVAL)
        except OSError as error:
            _warn_of_scanning(error)
            yield True  # perhaps before this was noticed
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
    """Yield whether something has changed, until one of the folders is another."""
    is_first = True
    began = list(map(_identity, folders))
    present = [folder for folder, one in zip(folders, began, strict=True) if one]
    watched = list(filter(_is_watchable, present))
    roots = {(Change.deleted, str(folder)) for folder in watched}
    for changes in _watch(watched, stop) if watched else _nothing(stop):
        yield is_first or bool(changes)
        is_first = False
        # A new folder may get the number of the removed one, so both are checked.
        if not roots.isdisjoint(changes) or list(map(_identity, folders)) != began:
            break
        if FOLLOWS_LINKS and any(map(_is_new_folder, changes)):
            stop.wait(CHECK_INTERVAL)  # others may follow
            break


def _watch(folders: list[Path], stop: threading.Event) -> Iterator[set[tuple[Change, str]]]:
    return watch(
        *(chain.from_iterable(map(_with_those_below, folders)) if FOLLOWS_LINKS else folders),
        recursive=not FOLLOWS_LINKS,
        ignore_permission_denied=True,
        watch_filter=None,
        debounce=DEBOUNCE,
        step=STEP,
        rust_timeout=int(CHECK_INTERVAL * 1000),
        yield_on_timeout=True,
        stop_event=stop,
        raise_interrupt=False,
    )


def _with_those_below(folder: Path) -> Iterator[str]:
    """Yield the folders that are scanned with a given one."""
    for found in walk(str(folder), lambda *_: None):
        if _is_watchable(found.path):
            yield found.path
        found.folders[:] = [name for name in found.folders if not name.startswith(".")]


def _is_new_folder(change: tuple[Change, str]) -> bool:
    kind, path = change
    return kind is Change.added and os.path.isdir(path) and not os.path.islink(path)


def _is_watchable(folder: Path | str) -> bool:
    """Return whether the path of a folder is UTF-8."""
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        return False
    return True


def _nothing(stop: threading.Event) -> Iterator[set[tuple[Change, str]]]:
    while not stop.wait(CHECK_INTERVAL):
        yield set()


def _identity(folder: Path) -> tuple[int, int] | None:
    """Return the numbers of a folder and its file system, ``None`` if it is not there."""
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _silence(stop: threading.Event, seconds: float) -> Iterator[bool]:
    until = time.monotonic() + seconds
    while time.monotonic() < until and not stop.wait(CHECK_INTERVAL):
        yield False


def _warn_of_scanning(error: Exception) -> None:
    text = "no change notifications; folders are scanned every %d s: %s"
    log.warning(text, LONG_INTERVAL, printable(str(error)))


def _warn_of_path(folder: Path) -> None:
    text = "no change notifications: %s is not UTF-8; the folder is scanned every %d s"
    log.warning(text, printable(str(folder)), LONG_INTERVAL)
