"""Schedules when pending visit counts are applied to maps: rarely, as each time costs a snapshot.

A new count changes its map. The search index must be updated, because search results can be sorted
by counts, and a snapshot must be published. Counts therefore stay pending for a while, and are then
applied together.
"""

import logging
import time
from dataclasses import dataclass
from typing import Final

from mapshelf.clock import milliseconds
from mapshelf.errors import StoreError
from mapshelf.store.contract import VisitCounts

MIN_PENDING_TIME: Final = 60.0
"""Seconds for which counts stay pending at least."""

PENDING_TIME_SHARE: Final = 50.0
"""Seconds for which they stay pending for each second of building: about 2 % of the time."""

MAX_PENDING_TIME: Final = 600.0
"""Seconds at most, because a full build takes far longer than an incremental one."""

CHECK_INTERVAL: Final = 5.0
"""Seconds between checks whether counts are due."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class VisitCountScheduler:
    """Applies the pending visit counts of ``store``, adapting to how long a build takes.

    Attributes:
        store: the store.
        pending_time: seconds for which counts stay pending.
        next_check: when (``time.monotonic``) to check the store again.
    """

    store: VisitCounts
    pending_time: float = MIN_PENDING_TIME
    next_check: float = 0.0

    def adapt_to(self, build_time: float) -> None:
        """Choose the pending time for builds that take ``build_time`` seconds."""
        wanted = PENDING_TIME_SHARE * build_time
        self.pending_time = min(MAX_PENDING_TIME, max(MIN_PENDING_TIME, wanted))

    def apply_due(self) -> None:
        """Apply counts that are old enough, unless the store was checked recently."""
        if time.monotonic() < self.next_check:
            return
        self.next_check = time.monotonic() + CHECK_INTERVAL
        try:
            self.store.apply_visit_counts(milliseconds() - int(self.pending_time * 1000))
        except StoreError as error:
            log.warning("pending visit counts will be applied later: %s", error)
            self.next_check += self.pending_time
