"""Delete the maps whose files have been missing for long, after looking for the files.

A file may have come back while nothing followed its folder. Only the process that follows it can
tell, and only once all disks are mounted, which may take a while after a start. So a map is deleted
by nobody else, and not soon after the start of that process. Maps in folders that are not followed
stay as they are: removed, until a process follows the folder again.
"""

import logging
import os
import time
from pathlib import Path
from typing import Final

from mapshelf.clock import milliseconds
from mapshelf.importer.lost_files import LostFiles
from mapshelf.model import UNDOABLE
from mapshelf.plurals import noun
from mapshelf.store.contract import Sources

INTERVAL: Final = 3600.0
"""Seconds from the start of this process to the first deletion, and between deletions."""

MAPS_AT_ONCE: Final = 100
"""Maps deleted in one transaction, so that other writers get their turn."""

MOST_SECONDS: Final = 1.0
"""Seconds after which a deletion of many maps is interrupted, because new files are waiting."""

log = logging.getLogger(__name__)


class Purging:
    """The maps of ``store`` whose files have been missing for long."""

    def __init__(self, store: Sources) -> None:
        self._store = store
        self._due = time.monotonic() + INTERVAL

    def purge_due(self, folders: list[Path], lost: LostFiles) -> None:
        """Delete maps in ``folders`` that are due, unless that was done recently.

        Raises:
            StoreError: the store failed; the next call deletes the others.
        """
        began = time.monotonic()
        if began < self._due:
            return
        count = sum(self._purge(os.fsencode(folder), lost, began) for folder in folders)
        ended = time.monotonic()
        if ended < began + MOST_SECONDS:
            self._due = ended + INTERVAL
        if count:
            maps = noun(count, "map whose file was", "maps whose files were")
            log.info("deleted %d %s gone long ago", count, maps)

    def _purge(self, folder: bytes, lost: LostFiles, began: float) -> int:
        before, count, after = milliseconds() - UNDOABLE, 0, b""
        while time.monotonic() < began + MOST_SECONDS:
            page = self._store.long_missing(folder, before, after, MAPS_AT_ONCE)
            if not page:
                break
            after = page[-1].path
            sure = [one for one in page if lost.is_lost(one.path)]
            count += self._store.purge_missing(sure, before)
        return count
