"""Synchronizes the catalogue with folders: maps are added, updated, and deleted with their files.

Each run compares the folders with the sources in the store, so a process that was stopped or
killed catches up with one run. Nothing in the folders is ever written.
"""

import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mapshelf.importer.map_files import Attribution, ImportStore, import_maps
from mapshelf.importer.report import Report
from mapshelf.importer.scan import Candidate, is_gone, resolve_path, scan
from mapshelf.model import Verdict
from mapshelf.readers.sandboxed_reader import SandboxedReader

MIN_AGE: Final = 1.0
"""Seconds since the last change of a file before it is read: it may be half copied."""

PAGE_SIZE: Final = 1000
"""Sources requested from the store at a time."""

log = logging.getLogger(__name__)


class FolderSync:
    """Synchronizes ``store`` with ``folders``, in one direction."""

    def __init__(self, store: ImportStore, reader: SandboxedReader, folders: list[Path]) -> None:
        self._store = store
        self._reader = reader
        self._folders = [Path(resolve_path(folder)) for folder in folders]
        self._last_scan: set[Candidate] = set()
        self._imported: set[Candidate] = set()
        self._devices: dict[str, int] = {}
        self._logged: set[tuple[str, str]] = set()

    def sync(self) -> bool:
        """Synchronize once; tell whether a file is still being written.

        Raises:
            StoreError: the store failed; the next run catches up.
        """
        reachable = [folder for folder in self._folders if os.access(folder, os.R_OK | os.X_OK)]
        report = Report()
        present = set(scan(reachable, report))
        self._log_refusals(report)
        complete = {candidate for candidate in present if self._is_complete(candidate)}
        self._import(complete - self._imported)
        self._imported = complete
        self._last_scan = present
        self._devices |= {candidate.path: candidate.device for candidate in present}
        self._delete_missing(reachable, {candidate.path for candidate in present})
        return len(complete) < len(present)

    def _is_complete(self, candidate: Candidate) -> bool:
        """Tell whether a file has not changed for a while."""
        # The clock of a file server may be ahead. So a file that is as the last scan found it is
        # complete, whatever its time.
        age = time.time() - candidate.modified / 1e9
        return candidate in self._last_scan or age > MIN_AGE

    def _import(self, candidates: set[Candidate]) -> None:
        """Import files that are new or changed since the last run, and log the result."""
        if not candidates:
            return
        report = Report()
        ordered = sorted(candidates, key=lambda candidate: candidate.path)
        import_maps(self._store, ordered, self._reader, Attribution(), report)
        self._log_refusals(report)
        if report.counts[Verdict.ADDED] or report.counts[Verdict.CHANGED]:
            log.info("imported: %s", report.summary())

    def _log_refusals(self, report: Report) -> None:
        """Log what was refused, each file and reason once."""
        for name, reason in report.refusals:
            if (name, reason) not in self._logged:
                log.warning("refused %s: %s", name, reason)
        self._logged |= set(report.refusals)

    def _delete_missing(self, reachable: list[Path], present: set[str]) -> None:
        """Delete the maps whose files were missing in the scan, and still are.

        A file that was renamed since the scan is left to the next run, which knows its new name.
        """
        for folder in reachable:
            known = (path for path in self._known_below(folder) if os.fsdecode(path) not in present)
            missing = [path for path in known if is_gone(path)]
            if missing and self._may_be_unmounted(folder):
                self._log_unmounted(folder, len(missing))
                continue
            missing = [path for path in missing if not self._was_on_unmounted_disk(path)]
            if missing:
                count = self._store.delete_sources(missing)
                log.info("removed %d maps whose files are gone", count)

    def _may_be_unmounted(self, folder: Path) -> bool:
        """Tell whether a folder may be the mount point of a disk that is not mounted.

        That is an empty folder in which no run of this process has seen a file.
        """
        below = str(folder) + os.sep
        seen = any(path.startswith(below) for path in self._devices)
        return not seen and not any(os.scandir(folder))

    def _log_unmounted(self, folder: Path, count: int) -> None:
        note = (str(folder), "unmounted")
        if note not in self._logged:
            log.warning(
                "%s is empty; keeping its %d maps, because a disk may be unmounted", folder, count
            )
        self._logged.add(note)

    def _was_on_unmounted_disk(self, path: bytes) -> bool:
        """Tell whether a file was seen on another disk than the one that is there now."""
        device = self._devices.get(os.fsdecode(path))
        folder = os.path.dirname(path)
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        return device is not None and os.stat(folder).st_dev != device

    def _known_below(self, folder: Path) -> Iterator[bytes]:
        """Yield the paths of all sources in the store that are in ``folder``."""
        prefix, after = os.fsencode(folder), b""
        while page := self._store.sources_below(prefix, after, PAGE_SIZE):
            yield from (source.path for source in page)
            after = page[-1].path
