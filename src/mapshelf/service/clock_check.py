"""Warns operators when the clock of this node differs from that of the database.

All nodes of a catalogue follow the clock of their database (``clock.py``), so sign-in, tokens and
sessions do not depend on the clock of a node. Other things do: its log, the certificates that it
checks, and other programs.
"""

import logging
import time
from dataclasses import dataclass
from typing import Final

from mapshelf.errors import StoreError
from mapshelf.store.contract import StoreFigures

CHECK_INTERVAL: Final = 60.0
"""Seconds between comparisons."""

REPEATED_AFTER: Final = 3600.0
"""Seconds until the same warning is logged again."""

TOLERATED: Final = 5.0
"""Seconds of difference that are not reported: more than a query takes on a busy machine."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class ClockCheck:
    """Compares the clock of this node with that of the database at intervals.

    Attributes:
        store: the store.
        next_check: when (``time.monotonic``) to compare again.
        warned: when a difference was last logged, ``None`` if the clocks agree.
    """

    store: StoreFigures
    next_check: float = 0.0
    warned: float | None = None

    def compare_due(self) -> None:
        """Compare the clocks, unless that was done recently; log if they begin or cease to differ.

        A store that cannot be reached is not reported here, others do that.
        """
        now = time.monotonic()
        if now < self.next_check:
            return
        self.next_check = now + CHECK_INTERVAL
        try:
            warning = clock_warning(self.store.clock_difference())
        except StoreError:
            return
        if warning and (self.warned is None or now >= self.warned + REPEATED_AFTER):
            log.warning("%s", warning)
            self.warned = now
        elif not warning and self.warned is not None:
            log.info("the clock of this node agrees with that of the database again")
            self.warned = None


def clock_warning(ahead: float) -> str:
    """Return a warning for a clock that is ``ahead`` of the database's; empty if it agrees."""
    if abs(ahead) <= TOLERATED:
        return ""
    direction = "ahead of" if ahead > 0 else "behind"
    return (
        f"the clock of this node is {abs(ahead):,.0f} seconds {direction} that of the database:"
        " synchronise the clocks of all nodes (NTP); the catalogue goes by that of the database"
    )
