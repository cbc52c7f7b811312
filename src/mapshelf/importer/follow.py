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

from mapshelf.importer.maps import Attribution, import_maps
from mapshelf.importer.report import Report
from mapshelf.importer.scan import Candidate, is_gone, scan
from mapshelf.model import Verdict
from mapshelf.readers.sandbox import SandboxedReader
from mapshelf.store import Store

STILL: Final = 1.0
"""Seconds for which a file must not have changed before it is read: it may be half copied."""

LISTED: Final = 1000
"""Sources asked of the store at a time."""

log = logging.getLogger(__name__)


class Follower:
    """Keeps ``store`` in step with ``folders``."""

    def __init__(self, store: Store, reader: SandboxedReader, folders: list[Path]) -> None:
        self._store = store
        self._reader = reader
        self._folders = [folder.absolute() for folder in folders]
        self._before: set[Candidate] = set()
        self._taken: set[Candidate] = set()

    def look(self) -> bool:
        """Bring the store in step; tell whether a file is still being written.

        Raises:
            StoreError: the store failed; the next look makes up for it.
        """
        reachable = [folder for folder in self._folders if os.access(folder, os.R_OK | os.X_OK)]
        seen = Report()
        present = set(scan(reachable, seen))
        still = {candidate for candidate in present if self._is_still(candidate)}
        self._import(still - self._taken)
        self._taken = still
        self._before = present
        self._forget_missing(reachable)
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
        for name, reason in report.refusals:
            log.warning("%s is refused: %s", name, reason)
        if report.counts[Verdict.ADDED] or report.counts[Verdict.CHANGED]:
            log.info("imported: %s", report.summary())

    def _forget_missing(self, reachable: list[Path]) -> None:
        """Delete the maps whose files are gone.

        A folder that cannot be reached, or lies in one that cannot, tells nothing of its files:
        a disk may be away for a while.
        """
        for folder in reachable:
            missing = [path for path in self._known_below(folder) if is_gone(path)]
            if missing:
                count = self._store.delete_sources(missing)
                log.info("removed %d maps whose files are gone", count)

    def _known_below(self, folder: Path) -> Iterator[bytes]:
        prefix, after = os.fsencode(folder), b""
        while some := self._store.sources_below(prefix, after, LISTED):
            yield from (source.path for source in some)
            after = some[-1].path
