"""Work that is tried again when it fails: sooner at first, then seldom, and without many words."""

import logging
import time
from typing import Final

SHORTEST: Final = 1.0
LONGEST: Final = 30.0
"""Seconds before another try: doubled each time, up to the longest."""

REMINDER: Final = 600.0
"""Seconds after which a reason is told again: whoever reads the log looks at its end."""

log = logging.getLogger(__name__)


class Retrying:
    """Tells why some work fails, each reason once and then seldom, and how long to wait."""

    def __init__(self, work: str) -> None:
        """Prepare to tell of ``work``, as a sentence begins with it."""
        self._work = work
        self._pause = SHORTEST
        self._told: dict[str, float] = {}

    def failed(self, reason: str) -> float:
        """Note that it failed; return the seconds to wait before another try."""
        now, pause = time.monotonic(), self._pause
        if now - self._told.get(reason, -REMINDER) >= REMINDER:
            self._told[reason] = now
            log.warning("%s goes on later: %s", self._work, reason)
        self._pause = min(2 * pause, LONGEST)
        return pause

    def worked(self) -> None:
        """Note that it works (again)."""
        if self._told:
            log.info("%s goes on", self._work)
        self._told.clear()
        self._pause = SHORTEST
