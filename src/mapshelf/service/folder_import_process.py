"""The importer process: synchronize the catalogue with the folders given to ``serve``."""

import logging
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

from mapshelf.errors import StoreError
from mapshelf.import_status import StatusFile
from mapshelf.importer.attribution import Attribution
from mapshelf.importer.folder_sync import FolderSync, SyncOptions
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.service.backoff import LoggedBackoff
from mapshelf.service.folder_changes import folder_changes
from mapshelf.service.process_setup import exit_with_parent, set_up_logging, stop_event
from mapshelf.service.sync_schedule import SyncSchedule
from mapshelf.service.worker_count import default_workers
from mapshelf.settings import Settings
from mapshelf.store import open_store

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
            store = open_store(settings.database, create=False)
            with closing(store), SandboxedReader(default_workers()) as reader:
                _follow(FolderSync(store, reader, folders, options), folders, stop, backoff)
        except StoreError as error:
            stop.wait(backoff.record_failure(str(error)))


def _follow(
    folder_sync: FolderSync, folders: list[Path], stop: threading.Event, backoff: LoggedBackoff
) -> None:
    schedule = SyncSchedule()
    _sync(folder_sync, schedule, backoff)
    for changed in folder_changes(folders, stop):
        if changed:
            schedule.note_change()
        if schedule.is_due(time.monotonic()):
            _sync(folder_sync, schedule, backoff)


def _sync(folder_sync: FolderSync, schedule: SyncSchedule, backoff: LoggedBackoff) -> None:
    began = time.monotonic()
    try:
        again_soon = folder_sync.sync()
    except (StoreError, OSError) as error:
        pause = backoff.record_failure(str(error))
        schedule.note_failure(time.monotonic(), pause)
    else:
        backoff.record_success()
        schedule.note_sync(began, time.monotonic(), again_soon=again_soon)
