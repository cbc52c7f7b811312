"""Delete the maps whose files have been missing for long, after looking for the files.

A file may have come back while nothing followed its folder. Only the process that follows it can
tell, and only once all disks are mounted, which may take a while after a start. So a map is deleted
by nobody else, and not soon after the start of that process. Maps in folders that are not followed
stay as they are: removed, until a process follows the folder again.
"""

import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mapshelf.clock import milliseconds
from mapshelf.importer.lost_files import LostFiles
from mapshelf.model import UNDOABLE, Source
from mapshelf.plurals import noun
from mapshelf.store.contract import Sources

INTERVAL: Final = 3600.0
"""Seconds from the start of this process to the first deletion, and between deletions."""

MAPS_AT_ONCE: Final = 100
"""Maps deleted in one transaction, so that other writers get their turn."""

FILES_AT_ONCE: Final = 2000
"""Missing files requested from the store at a time: it looks at all missing ones for each page."""

MOST_SECONDS: Final = 1.0
"""Seconds after which a deletion of many maps is interrupted, because new files are waiting."""

log = logging.getLogger(__name__)


class Purging:
    """The maps of ``store`` whose files have been missing for long.

    Each round looks once for every missing file. A call goes on where the last one was interrupted:
    otherwise maps that are kept would be looked at again and again, and those behind them never.
    """

    def __init__(self, store: Sources) -> None:
        self._store = store
        self._due = time.monotonic() + INTERVAL
        self._done = b""

    def purge_due(self, folders: list[Path], lost: LostFiles) -> None:
        """Delete maps in ``folders`` that are due, unless that was done recently.

        Raises:
            StoreError: the store failed; the next call deletes the others.
        """
        began = time.monotonic()
        if began < self._due:
            return
        before, count = milliseconds() - UNDOABLE, 0
        for sources in self._missing(folders, lost, before):
            gone = [one for one in sources if not lost.may_come_back(one.path)]
            sure = [one for one in gone if lost.is_lost(one.path)]
            count += self._store.purge_missing(sure, before)
            self._done = sources[-1].path
            if time.monotonic() >= began + MOST_SECONDS:
                break
        else:
            self._done = b""
            self._due = time.monotonic() + INTERVAL
        if count:
            maps = noun(count, "map whose file was", "maps whose files were")
            log.info("deleted %d %s gone long ago", count, maps)

    def _missing(self, folders: list[Path], lost: LostFiles, before: int) -> Iterator[list[Source]]:
        """Yield the files of this round that are left, a few at a time, in the order of paths."""
        for prefix in sorted(os.path.join(os.fsencode(folder), b"") for folder in folders):
            # No map of a folder that is away is deleted, and there may be very many.
            if lost.may_come_back(prefix + b"file"):
                continue
            while page := self._store.long_missing(prefix[:-1], before, self._done, FILES_AT_ONCE):
                for start in range(0, len(page), MAPS_AT_ONCE):
                    yield page[start : start + MAPS_AT_ONCE]
