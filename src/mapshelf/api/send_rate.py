"""Limits the rate at which a worker sends large bodies, so that lists and searches stay fast.

On the machine itself and in fast networks, a few clients can receive large bodies at gigabytes a
second; copying them then saturates the processor and the memory, and all other requests wait. So
all large bodies of a worker share an allowance of bytes a second, first come, first served. It is
granted piece by piece, so many clients get equal shares.
"""

import asyncio
import time
from typing import Final

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
        self._free = 0.0

    async def wait(self, size: int) -> None:
        """Wait until ``size`` bytes may be sent, after all earlier callers."""
        seconds = self.reserve(size)
        if seconds > 0:
            await asyncio.sleep(seconds)

    def reserve(self, size: int) -> float:
        """Reserve ``size`` bytes; return after how many seconds they may be sent."""
        now = time.monotonic()
        self._free = max(self._free, now - self._ahead) + size / self._rate
        return self._free - now
