"""The backup process: back up the catalogue daily, at low processor and disk priority.

While it runs, it uses the monotonic clock, which cannot be set; it reads the calendar time only at
startup. A failed backup is retried with increasing delays of up to an hour.
"""

import logging
import os
import threading
import time
from pathlib import Path
from typing import Final

from mapshelf.backup_status import BackupStatusFile
from mapshelf.errors import Ending, MapshelfError
from mapshelf.plurals import noun
from mapshelf.service.backoff import Backoff
from mapshelf.service.backup_folder import (
    INTERVAL,
    delete_old,
    delete_unfinished,
    kept_backups,
    next_path,
    note_owner,
    only_one,
    require_own,
    require_used,
    seconds_until_due,
)
from mapshelf.service.backup_plan import BackupPlan
from mapshelf.service.pauses import Pauses
from mapshelf.service.process_setup import exit_with_parent, set_up_logging, stop_event
from mapshelf.settings import LogFormat
from mapshelf.store.backup_file import write_backup
from mapshelf.store.sqlite.copies import Progress, identity_of

NICENESS: Final = 19
"""Priority below everything else that ``serve`` runs."""

LONGEST_PAUSE: Final = 0.2
"""Seconds between two steps of a backup, at most. All the while, the log of the database grows."""

FIRST_RETRY: Final = 60.0
LONGEST_RETRY: Final = 3600.0
"""Seconds before a backup that failed is tried again."""

log = logging.getLogger(__name__)


def run_backup_process(data: Path, database: Path, plan: BackupPlan, log_format: LogFormat) -> None:
    """Back up the SQLite database of the data folder ``data`` every day until asked to stop."""
    set_up_logging(log_format)
    exit_with_parent()
    os.nice(NICENESS)
    keep_backing_up(database, plan, stop_event(), BackupStatusFile(data))


def keep_backing_up(
    database: Path, plan: BackupPlan, stop: threading.Event, status: BackupStatusFile
) -> None:
    """Back up a SQLite database daily until ``stop`` is set; record the results in ``status``."""
    backoff = Backoff(FIRST_RETRY, LONGEST_RETRY)
    while not stop.is_set():
        try:
            require_used(plan.folder, status.read().folder)
            with only_one(plan.folder) as alone:
                require_own(plan.folder, _mark(database, status))
                if alone:
                    _back_up_daily(database, plan, stop, backoff, status)
                reason = f"another service backs up to {plan.folder}"
        except (MapshelfError, OSError) as error:
            reason = _reason(error, plan.folder)
            status.note_failure(reason)
        if not stop.is_set():
            pause = backoff.next_delay()
            minutes = round(pause / 60)
            text = "the backup will be retried in %d %s: %s"
            log.warning(text, minutes, noun(minutes, "minute"), reason)
            stop.wait(pause)


def _mark(database: Path, status: BackupStatusFile) -> str:
    """Return the mark of the catalogue: its identity when it was first needed.

    Raises:
        MapshelfError: the database cannot be read.
    """
    mark = status.read().mark
    if not mark:
        mark = identity_of(database)
        status.note_mark(mark)
    return mark


def _reason(error: MapshelfError | OSError, folder: Path) -> str:
    """Return why a backup failed. System errors do not say that it is the folder."""
    if isinstance(error, OSError):
        return f"the folder {folder} cannot be used: {error.strerror or error}"
    return str(error)


def _back_up_daily(
    database: Path,
    plan: BackupPlan,
    stop: threading.Event,
    backoff: Backoff,
    status: BackupStatusFile,
) -> None:
    """Back up when it is due, until ``stop`` is set.

    Raises:
        MapshelfError: a backup failed.
        OSError: the folder cannot be used.
    """
    mark = _mark(database, status)
    delete_unfinished(plan.folder)
    pause = 0.0
    if require_own(plan.folder, mark):
        kept = kept_backups(plan.folder)
        pause = seconds_until_due(kept, time.time())
        known = status.read()
        # It was lost in a power failure, or the folder could not be used for a while.
        if kept and pause and (known.made is None or known.failing_since is not None):
            last = kept[-1]
            status.note_success(last.path.stat().st_size, last.made, plan.folder)
    while not stop.wait(pause):
        began = time.monotonic()
        require_used(plan.folder, status.read().folder)
        if not require_own(plan.folder, mark):
            note_owner(plan.folder, mark)
        try:
            status.note_success(_back_up(database, plan, stop), folder=plan.folder)
        except Ending:
            return
        backoff.reset()
        pause = max(0.0, INTERVAL - (time.monotonic() - began))


def _back_up(database: Path, plan: BackupPlan, stop: threading.Event) -> int:
    """Back up once, and delete old backups; return the size of the new one."""
    began = time.monotonic()
    path = next_path(plan.folder, time.time())
    facts = write_backup(database, path, _pausing(stop))
    log.info(
        "backed up %d %s, revision %d, to %s in %.1f s (%.1f MB)",
        facts.held.maps,
        noun(facts.held.maps, "map"),
        facts.held.revision,
        path,
        time.monotonic() - began,
        facts.size / 1e6,
    )
    try:
        deleted = delete_old(plan)
    except OSError as error:  # the new backup is valid, so do not retry
        log.warning("an old backup in %s cannot be deleted: %s", plan.folder, error.strerror)
    else:
        if deleted:
            backups = noun(deleted, "backup")
            log.info("deleted %d old %s, kept the newest %d", deleted, backups, plan.keep)
    return facts.size


def _pausing(stop: threading.Event) -> Progress:
    """Return a function that pauses after each step of a backup, and raises ``Ending`` to stop."""
    pauses = Pauses(stop, LONGEST_PAUSE)

    def pause(_done: int, _total: int) -> None:
        if pauses.pause():
            raise Ending("the service is stopping")

    return pause
