"""Rate limiting by delay: callers beyond a rate have to wait.

This slows down clients that wait for each response before the next request, however many there are.
Occasional requests are not delayed.
"""

import asyncio
import time


class Throttle:
    """Lets a number of callers pass per second; further ones wait for their turn."""

    def __init__(self, rate: float, longest: float, most: int) -> None:
        """Set the limits.

        Args:
            rate: callers per second; also the burst after a pause.
            longest: maximum delay in seconds.
            most: maximum number of waiting callers; further ones pass at once.
        """
        self._rate = rate
        self._longest = longest
        self._most = most
        self._waiting = 0
        # When the next caller may pass at an even rate; up to a second in the past, to permit a
        # burst.
        self._due = 0.0

    async def turn(self) -> None:
        """Wait for a turn, if necessary."""
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
