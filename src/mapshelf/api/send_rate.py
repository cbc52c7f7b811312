"""The rate at which a worker sends large bodies, so that lists and searches keep the processor.

On the machine itself and in fast networks, a few clients can take large bodies at gigabytes a
second; copying them then occupies the processor and the memory, and everybody else waits. So all
large bodies of a worker share an allowance of bytes a second. Who asks first is served first, piece
by piece, so many clients get equal shares.
"""

import asyncio
import time
from typing import Final

RATE: Final = 128 << 20
"""Bytes a second: one worker fills a line of one gigabit. With half of it, 48 clients that read
nothing keep taking bytes for two seconds, because the kernel buffers 2 to 3 MB for each; as long,
they do not count as stalled and do not make room for others."""

AHEAD: Final = 1 << 20
"""Bytes that are sent without waiting if nothing was sent before."""


class SendRate:
    """An allowance of bytes a second. For use in one event loop only."""

    def __init__(self, rate: int = RATE, ahead: int = AHEAD) -> None:
        self._rate = rate
        self._ahead = ahead / rate
        self._free = 0.0

    async def wait(self, size: int) -> None:
        """Wait until ``size`` bytes may be sent, after all who came before."""
        seconds = self.reserve(size)
        if seconds > 0:
            await asyncio.sleep(seconds)

    def reserve(self, size: int) -> float:
        """Take ``size`` bytes of the allowance; return after how many seconds they may be sent."""
        now = time.monotonic()
        self._free = max(self._free, now - self._ahead) + size / self._rate
        return self._free - now
