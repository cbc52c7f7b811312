"""Limits the rate at which a worker sends large bodies, so that lists and searches stay fast.

On the machine itself and in fast networks, a few clients can receive large bodies at gigabytes a
second; copying them then saturates the processor and the memory, and all other requests wait. So
all large bodies of a worker share an allowance of bytes a second. It is granted piece by piece, and
addresses take turns, so they get equal shares. Whoever leaves before its turn takes nothing.
"""

import asyncio
import time
from collections.abc import Hashable
from typing import Final

from mapshelf.api.waiting_requests import WaitingRequests

RATE: Final = 128 << 20
"""Bytes a second: one worker saturates a gigabit line. At half of it, 48 clients that read nothing
appear active for two seconds, because the kernel buffers 2 to 3 MB for each; during that time they
do not count as stalled, and are not cut off to make room for others."""

AHEAD: Final = 1 << 20
"""Bytes that can be sent without waiting after a pause."""


class SendRate:
    """An allowance of bytes a second. Use it in one event loop only."""

    def __init__(self, rate: int = RATE, ahead: int = AHEAD) -> None:
        self._rate = rate
        self._ahead = ahead / rate
        self._used_until = 0.0
        self._waiting = WaitingRequests()
        self._next: asyncio.TimerHandle | None = None

    async def wait(self, size: int, owner: Hashable = None) -> None:
        """Wait until it is the turn of ``owner`` to send ``size`` bytes."""
        if len(self._waiting) or self._seconds_left() > 0:
            with self._waiting.waiting(owner) as turn:
                self._continue()
                await turn
        self._used_until += size / self._rate

    def _seconds_left(self) -> float:
        """Return after how many seconds more bytes may be sent."""
        now = time.monotonic()
        self._used_until = max(self._used_until, now - self._ahead)
        return self._used_until - now

    def _continue(self) -> None:
        """Give the next turn as soon as possible, if anybody waits."""
        if self._next is None and len(self._waiting):
            later = asyncio.get_running_loop().call_later
            self._next = later(max(0.0, self._seconds_left()), self._give_turn)

    def _give_turn(self) -> None:
        self._next = None
        self._waiting.give_turn()
        # Once whoever had the turn has taken its bytes, or has left.
        asyncio.get_running_loop().call_soon(self._continue)
