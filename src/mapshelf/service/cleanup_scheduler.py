"""When what is left of deleted accounts is done, and what was noted is forgotten."""

import logging
import time
from dataclasses import dataclass
from typing import Final

from mapshelf.accounts.audit import KEPT
from mapshelf.errors import StoreError
from mapshelf.model import UNDOABLE
from mapshelf.store.contract import Administration

CHECK_INTERVAL: Final = 3600.0
"""Seconds between looks at whether anything is old enough to be forgotten."""

CLOSING_INTERVAL: Final = 10.0
"""Seconds between looks at whether anything is left of deleted accounts."""

RETRY_INTERVAL: Final = 60.0
"""The same after the store could not be reached."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class CleanupScheduler:
    """Finishes deleted accounts, and deletes what was kept for long enough.

    Attributes:
        store: the store.
        next_check: when (``time.monotonic``) to look at what is old.
        next_closing: when to look at deleted accounts.
    """

    store: Administration
    next_check: float = 0.0
    next_closing: float = 0.0

    def do_due(self) -> None:
        """Do some of what is due, unless the store was looked at a moment ago."""
        try:
            if time.monotonic() >= self.next_closing and not self.store.finish_closing():
                self.next_closing = time.monotonic() + CLOSING_INTERVAL
            if time.monotonic() >= self.next_check and not self._forget():
                self.next_check = time.monotonic() + CHECK_INTERVAL
        except StoreError as error:
            log.warning("moderation is postponed: %s", error)
            self.next_check = self.next_closing = time.monotonic() + RETRY_INTERVAL

    def _forget(self) -> bool:
        """Forget some of what is old; return whether there may be more."""
        now = int(time.time() * 1000)
        decisions = self.store.purge_decisions(now - UNDOABLE)
        return bool(self.store.purge_audit(now - KEPT) or decisions)
