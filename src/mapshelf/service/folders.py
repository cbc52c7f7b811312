"""The process that imports the folders given to ``mapshelf serve``, and looks again for changes."""

import logging
from pathlib import Path
from typing import Final

from mapshelf.errors import StoreError
from mapshelf.importer import Attribution, Candidate, Report, import_maps, scan
from mapshelf.model import Verdict
from mapshelf.readers.sandbox import SandboxedReader
from mapshelf.service.process import end_with_parent, set_up_logging, stop_event
from mapshelf.settings import Settings
from mapshelf.store import Store, open_store

LOOK_INTERVAL: Final = 2.0
"""Seconds between looks at the folders."""

log = logging.getLogger(__name__)


def follow_folders(settings: Settings, folders: list[Path]) -> None:
    """Import ``folders``, then whatever is new or edited in them, until asked to end."""
    set_up_logging()
    end_with_parent()
    stop = stop_event()
    seen: set[Candidate] = set()
    store = open_store(settings.database)
    try:
        with SandboxedReader() as reader:
            while not stop.is_set():
                try:
                    seen = _import(store, reader, folders, seen)
                except StoreError as error:
                    log.warning("importing goes on in a moment: %s", error)
                stop.wait(LOOK_INTERVAL)
    finally:
        store.close()


def _import(
    store: Store, reader: SandboxedReader, folders: list[Path], seen: set[Candidate]
) -> set[Candidate]:
    """Import the files that are not in ``seen`` as they are now; return all there are."""
    present = set(scan(folders, Report()))
    fresh = sorted(present - seen, key=lambda candidate: candidate.path)
    if fresh:
        report = Report()
        import_maps(store, fresh, reader, Attribution(), report)
        for name, reason in report.refusals:
            log.warning("%s is refused: %s", name, reason)
        if report.counts[Verdict.ADDED] or report.counts[Verdict.CHANGED]:
            log.info("imported: %s", report.summary())
    return present
