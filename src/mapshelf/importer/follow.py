"""Keeping the catalogue in step with folders: what is in them is in it, and what left them is not.

Each look compares the folders as they are with what the store knows of them, so a follower that
was away, or killed, catches up by looking once. Nothing in the folders is ever written.
"""

import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mapshelf.importer.maps import Attribution, ImportStore, import_maps
from mapshelf.importer.report import Report
from mapshelf.importer.scan import Candidate, is_gone, scan, top_of
from mapshelf.model import Verdict
from mapshelf.readers.sandboxed_reader import SandboxedReader

STILL: Final = 1.0
"""Seconds for which a file must not have changed before it is read: it may be half copied."""

LISTED: Final = 1000
"""Sources asked of the store at a time."""

log = logging.getLogger(__name__)


class Follower:
    """Keeps ``store`` in step with ``folders``."""

    def __init__(self, store: ImportStore, reader: SandboxedReader, folders: list[Path]) -> None:
        self._store = store
        self._reader = reader
        self._folders = [Path(top_of(folder)) for folder in folders]
        self._before: set[Candidate] = set()
        self._taken: set[Candidate] = set()
        self._devices: dict[str, int] = {}
        self._told: set[tuple[str, str]] = set()

    def look(self) -> bool:
        """Bring the store in step; tell whether a file is still being written.

        Raises:
            StoreError: the store failed; the next look makes up for it.
        """
        reachable = [folder for folder in self._folders if os.access(folder, os.R_OK | os.X_OK)]
        report = Report()
        present = set(scan(reachable, report))
        self._tell(report)
        still = {candidate for candidate in present if self._is_still(candidate)}
        self._import(still - self._taken)
        self._taken = still
        self._before = present
        self._devices |= {candidate.path: candidate.device for candidate in present}
        self._forget_missing(reachable, {candidate.path for candidate in present})
        return len(still) < len(present)

    def _is_still(self, candidate: Candidate) -> bool:
        # Clocks of other machines may be ahead, so what has not changed since the look before is
        # still, whatever its time says.
        age = time.time() - candidate.modified / 1e9
        return candidate in self._before or age > STILL

    def _import(self, candidates: set[Candidate]) -> None:
        """Import files that are new or changed since the look before; log what became of them."""
        if not candidates:
            return
        report = Report()
        ordered = sorted(candidates, key=lambda candidate: candidate.path)
        import_maps(self._store, ordered, self._reader, Attribution(), report)
        self._tell(report)
        if report.counts[Verdict.ADDED] or report.counts[Verdict.CHANGED]:
            log.info("imported: %s", report.summary())

    def _tell(self, report: Report) -> None:
        """Log what was refused, unless it was for the same reason the look before."""
        for name, reason in report.refusals:
            if (name, reason) not in self._told:
                log.warning("%s is refused: %s", name, reason)
        self._told |= set(report.refusals)

    def _forget_missing(self, reachable: list[Path], present: set[str]) -> None:
        """Delete the maps whose files are gone, and were so when the folders were looked at.

        A file that was renamed since then is left to the next look, which knows its new name.
        """
        for folder in reachable:
            known = (path for path in self._known_below(folder) if os.fsdecode(path) not in present)
            missing = [path for path in known if is_gone(path)]
            if missing and self._is_away(folder):
                self._tell_away(folder, len(missing))
                continue
            missing = [path for path in missing if not self._lies_on_another_disk(path)]
            if missing:
                count = self._store.delete_sources(missing)
                log.info("removed %d maps whose files are gone", count)

    def _is_away(self, folder: Path) -> bool:
        """Tell whether a folder may be no more than the place where a disk belongs.

        That is an empty folder of which nothing has been seen since we follow it.
        """
        below = str(folder) + os.sep
        seen = any(path.startswith(below) for path in self._devices)
        return not seen and not any(os.scandir(folder))

    def _tell_away(self, folder: Path, count: int) -> None:
        note = (str(folder), "away")
        if note not in self._told:
            log.warning("%s is empty; its %d maps are kept, for a disk may be away", folder, count)
        self._told.add(note)

    def _lies_on_another_disk(self, path: bytes) -> bool:
        """Tell whether a file was seen on a disk that is not there now."""
        device = self._devices.get(os.fsdecode(path))
        place = os.path.dirname(path)
        while not os.path.isdir(place):
            place = os.path.dirname(place)
        return device is not None and os.stat(place).st_dev != device

    def _known_below(self, folder: Path) -> Iterator[bytes]:
        prefix, after = os.fsencode(folder), b""
        while some := self._store.sources_below(prefix, after, LISTED):
            yield from (source.path for source in some)
            after = some[-1].path
