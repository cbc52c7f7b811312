"""Back-off: the delay before something that failed is tried again, doubled with each failure."""

import logging
import time
from dataclasses import dataclass, field
from typing import Final

FIRST_DELAY: Final = 1.0
LONGEST_DELAY: Final = 30.0
"""Seconds before work that failed is retried."""

REMINDER_INTERVAL: Final = 600.0
"""Seconds after which a reason is logged again, because operators read the end of a log."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Backoff:
    """Delays in seconds: ``first``, then twice as long each time, up to ``longest``."""

    first: float
    longest: float
    _delay: float = field(init=False)

    def __post_init__(self) -> None:
        self._delay = self.first

    def next_delay(self) -> float:
        """Return the delay after a failure, and double the next one."""
        delay = self._delay
        self._delay = min(2 * delay, self.longest)
        return delay

    def reset(self) -> None:
        """Start again with the first delay."""
        self._delay = self.first


class LoggedBackoff:
    """Back-off for work that fails, which logs each reason once and then as a rare reminder."""

    def __init__(self, work: str) -> None:
        """Set up for ``work``, a noun that can begin a log line."""
        self._work = work
        self._backoff = Backoff(FIRST_DELAY, LONGEST_DELAY)
        self._logged: dict[str, float] = {}

    def record_failure(self, reason: str) -> float:
        """Log ``reason`` if it is new; return the seconds to wait before the next attempt."""
        now = time.monotonic()
        if now - self._logged.get(reason, -REMINDER_INTERVAL) >= REMINDER_INTERVAL:
            self._logged[reason] = now
            log.warning("%s failed and will be retried: %s", self._work, reason)
        return self._backoff.next_delay()

    def record_success(self) -> None:
        """Reset the back-off, and log the recovery if there was a failure before."""
        if self._logged:
            log.info("%s works again", self._work)
        self._logged.clear()
        self._backoff.reset()
