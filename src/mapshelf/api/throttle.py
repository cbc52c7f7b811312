"""Rate limiting by delay: beyond a rate, responses are held back.

This slows down clients that wait for a response before they send the next request, however many
there are. An occasional request is not delayed.
"""

import asyncio
import time


class Throttle:
    """Lets a number of callers a second pass; further ones wait for their turn."""

    def __init__(self, rate: float, longest: float, most: int) -> None:
        """Set the limits.

        Args:
            rate: callers a second, and callers at once after a pause.
            longest: maximum of seconds to wait.
            most: maximum of waiting callers; further ones pass at once.
        """
        self._rate = rate
        self._longest = longest
        self._most = most
        self._waiting = 0
        # When the next may pass at an even rate; up to a second in the past, so that some may pass
        # at once.
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
