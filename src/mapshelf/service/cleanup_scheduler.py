"""Schedules cleanup: finish account deletions, delete old records, note names after upgrades."""

import logging
import time
from dataclasses import dataclass
from typing import Final

from mapshelf.accounts.audit import KEPT
from mapshelf.clock import milliseconds
from mapshelf.errors import StoreError
from mapshelf.model import UNDOABLE
from mapshelf.store.contract import Administration

CHECK_INTERVAL: Final = 3600.0
"""Seconds between checks for expired records."""

CLOSING_INTERVAL: Final = 10.0
"""Seconds between checks for unfinished account deletions."""

RETRY_INTERVAL: Final = 60.0
"""The same after the store could not be reached."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class CleanupScheduler:
    """Finishes account deletions, deletes expired records, and prepares names after upgrades.

    Attributes:
        store: the store.
        next_check: when (``time.monotonic``) to check for expired records.
        next_closing: when to check for unfinished account deletions.
        next_names: when to check for users of whom is not noted what their names look like.
    """

    store: Administration
    next_check: float = 0.0
    next_closing: float = 0.0
    next_names: float = 0.0

    def do_due(self) -> None:
        """Do some of the work that is due, unless the store was checked recently."""
        try:
            if time.monotonic() >= self.next_closing and not self.store.finish_closing():
                self.next_closing = time.monotonic() + CLOSING_INTERVAL
            if time.monotonic() >= self.next_check and not self._forget():
                self.next_check = time.monotonic() + CHECK_INTERVAL
            if time.monotonic() >= self.next_names and not self.store.add_skeletons():
                self.next_names = time.monotonic() + CHECK_INTERVAL
        except StoreError as error:
            log.warning("cleaning up was postponed: %s", error)
            later = time.monotonic() + RETRY_INTERVAL
            self.next_check = self.next_closing = self.next_names = later

    def _forget(self) -> bool:
        """Delete some expired records; return whether there may be more."""
        now = milliseconds()
        # A decision in force is kept, and can be undone, for longer: while the map is hidden, or
        # removed but not yet purged.
        decisions = self.store.purge_decisions(now - UNDOABLE)
        return bool(self.store.purge_audit(now - KEPT) or decisions)
