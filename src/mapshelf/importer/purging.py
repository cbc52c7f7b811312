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

_START: Final = (b"", b"")
"""The folder and the path of a file that come before all others."""

log = logging.getLogger(__name__)


class Purging:
    """The maps of ``store`` whose files have been missing for long.

    Each round looks once for every missing file. A call goes on where the last one was interrupted:
    otherwise maps that are kept would be looked at again and again, and those behind them never.
    """

    def __init__(self, store: Sources) -> None:
        self._store = store
        self._due = time.monotonic() + INTERVAL
        self._done = _START

    def purge_due(self, folders: list[Path], lost: LostFiles) -> None:
        """Delete maps in ``folders`` that are due, unless that was done recently.

        Raises:
            StoreError: the store failed; the next call deletes the others.
        """
        began = time.monotonic()
        if began < self._due:
            return
        before, count = milliseconds() - UNDOABLE, 0
        for folder, sources in self._missing(sorted(map(os.fsencode, folders)), lost, before):
            sure = [one for one in sources if lost.is_lost(one.path)]
            count += self._store.purge_missing(sure, before)
            self._done = (folder, sources[-1].path)
            if time.monotonic() >= began + MOST_SECONDS:
                break
        else:
            self._done = _START
            self._due = time.monotonic() + INTERVAL
        if count:
            maps = noun(count, "map whose file was", "maps whose files were")
            log.info("deleted %d %s gone long ago", count, maps)

    def _missing(
        self, folders: list[bytes], lost: LostFiles, before: int
    ) -> Iterator[tuple[bytes, list[Source]]]:
        """Yield the files of this round that are left, a few at a time, with their folder."""
        latest, path = self._done
        for folder in folders:
            # No file of a folder that is away is lost, and there may be very many.
            if folder < latest or lost.may_be_unmounted(os.path.join(folder, b"")):
                continue
            after = path if folder == latest else b""
            while page := self._store.long_missing(folder, before, after, FILES_AT_ONCE):
                for start in range(0, len(page), MAPS_AT_ONCE):
                    yield folder, page[start : start + MAPS_AT_ONCE]
                after = page[-1].path
