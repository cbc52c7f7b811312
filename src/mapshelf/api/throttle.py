"""Makes whoever does something too often wait, so that what it costs stays within bounds.

Clients that ask again once they have an answer are slowed down by having to wait for it, however
many there are; those who do it now and then notice nothing.
"""

import asyncio
import time


class Throttle:
    """Lets so many a second pass; more wait for their turn."""

    def __init__(self, rate: float, longest: float, most: int) -> None:
        """Prepare to let pass.

        Args:
            rate: how many a second, and how many at once after a while without any.
            longest: most seconds to wait.
            most: how many wait at a time; others pass at once.
        """
        self._rate = rate
        self._longest = longest
        self._most = most
        self._waiting = 0
        # When the next could pass if they came evenly; it lags behind by what may pass at once.
        self._due = 0.0

    async def turn(self) -> None:
        """Wait for a turn, if it needs waiting for."""
        now = time.monotonic()
        self._due = min(max(self._due, now - 1.0) + 1.0 / self._rate, now + self._longest)
        delay = self._due - now
        if delay <= 0 or self._waiting >= self._most:
            return
        self._waiting += 1
        try:
            await asyncio.sleep(delay)
        finally:
            self._waiting -= 1
