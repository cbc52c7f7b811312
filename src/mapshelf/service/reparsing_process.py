"""The reparsing process: reparse maps that an older version imported, then exit.

It runs at low priority and pauses for as long as it works: its results are not urgent, but it
shares the disk and the database with all other processes.
"""

import os
import threading
from contextlib import closing
from pathlib import Path
from typing import Final

from mapshelf.errors import StoreError
from mapshelf.service.backoff import LoggedBackoff
from mapshelf.service.pauses import Pauses
from mapshelf.service.process_setup import exit_with_parent, set_up_logging, stop_event
from mapshelf.settings import Settings
from mapshelf.store import Store, open_store

NICENESS: Final = 15
"""Priority below everything else that ``serve`` runs."""

LONGEST_PAUSE: Final = 5.0
"""Maximum pause between two batches, in seconds."""


def run_reparsing_process(settings: Settings, folders: list[Path]) -> None:
    """Reparse maps until none is left or a stop is requested."""
    set_up_logging(settings.log_format)
    exit_with_parent()
    os.nice(NICENESS)
    stop, backoff = stop_event(), LoggedBackoff("reading maps again")
    while not stop.is_set():
        try:
            with closing(open_store(settings.database, create=False)) as store:
                if store.outdated(0, 1):
                    _reparse(store, folders, stop)
            return
        except StoreError as error:
            stop.wait(backoff.record_failure(str(error)))


def _reparse(store: Store, folders: list[Path], stop: threading.Event) -> None:
    # Most starts find nothing to do, so the readers are loaded only when needed.
    from mapshelf.importer.reparsing import reparse_outlines  # noqa: PLC0415
    from mapshelf.readers.sandboxed_reader import SandboxedReader  # noqa: PLC0415

    with SandboxedReader(1) as reader:
        reparse_outlines(store, reader, folders, Pauses(stop, LONGEST_PAUSE).pause)
