"""Schedules the permanent deletion of removed maps, after the time for undoing has passed."""

import logging
import time
from dataclasses import dataclass
from typing import Final

from mapshelf.clock import milliseconds
from mapshelf.errors import StoreError
from mapshelf.model import UNDOABLE
from mapshelf.plurals import noun
from mapshelf.store.contract import MapEditing

CHECK_INTERVAL: Final = 3600.0
"""Seconds between checks for maps that are due."""

RETRY_INTERVAL: Final = 60.0
"""The same after the store could not be reached."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class RemovalScheduler:
    """Deletes the uploaded maps of ``store`` that were removed long ago.

    Attributes:
        store: the store.
        next_check: when (``time.monotonic``) to check the store again.
    """

    store: MapEditing
    next_check: float = 0.0

    def purge_due(self) -> None:
        """Delete some maps that are due, unless the store was checked recently."""
        if time.monotonic() < self.next_check:
            return
        try:
            deleted = self.store.purge_removed(milliseconds() - UNDOABLE)
        except StoreError as error:
            log.warning("removed maps will be deleted later: %s", error)
            self.next_check = time.monotonic() + RETRY_INTERVAL
            return
        if deleted:
            maps = noun(deleted, "map that was", "maps that were")
            log.info("deleted %d %s removed long ago", deleted, maps)
        else:  # if any were due, there may be more
            self.next_check = time.monotonic() + CHECK_INTERVAL
