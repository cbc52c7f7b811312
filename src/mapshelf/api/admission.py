"""Admission control: under overload, requests that are not cached wait for a turn, or are refused.

``RequestHandler`` asks after all checks of a request, before the expensive part.
"""

import asyncio
from collections import deque
from time import perf_counter
from typing import Final

from mapshelf.errors import Overloaded

CROWDED_AFTER: Final = 0.01
"""Delay of the marker in seconds that counts as overload."""

CALM_FOR: Final = 0.002
"""Seconds until the next marker if the last one was not delayed."""

LONGEST_WAIT: Final = 0.2
"""Maximum waiting time of a request, in seconds."""

FEWEST: Final = 32
"""Minimum length of the queue before requests are refused: fewer are soon done, unless the machine
itself pauses, and then they are not too many."""

AT_ONCE: Final = 4
"""Turns to give before newly arrived requests are checked."""

MEASURED_FOR: Final = 0.1
"""Seconds over which turns are counted. Pauses of the machine are usually shorter; they must not
cause refusals."""


class Admission:
    """Makes requests wait for their turn under overload. Use it in one event loop only.

    Requests that wait in the event loop are invisible: at three times its capacity, a worker would
    answer every request seconds too late. So when requests are noticeably delayed, each new one is
    checked on arrival, which is cheap, and waits here before the expensive part. A request that
    would wait too long is refused at once.

    A marker that waits among the requests measures their delay.
    """

    def __init__(self) -> None:
        self._calm_until = 0.0
        self._marked = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._each = 0.0  # seconds from one turn to the next
        self._turns = 0
        self._since = 0.0

    def is_crowded(self) -> bool:
        """Return whether a request must wait for a turn; usually the only call."""
        now = perf_counter()
        if self._waiting:
            return True
        if now < self._calm_until:
            return False
        if not self._marked:
            self._marked = now
            asyncio.get_running_loop().call_soon(self._end_mark)
            return False
        return now - self._marked > CROWDED_AFTER

    async def turn(self) -> None:
        """Wait for a turn.

        Raises:
            Overloaded: it would take too long.
        """
        waiting = len(self._waiting)
        if waiting >= FEWEST and waiting * self._each > LONGEST_WAIT:
            raise Overloaded("more requests arrive than can be answered")
        loop = asyncio.get_running_loop()
        mine = loop.create_future()
        if not self._waiting:
            self._turns, self._since = 0, perf_counter()
            loop.call_soon(self._give_turns)
        self._waiting.append(mine)
        await mine

    def _end_mark(self) -> None:
        now = perf_counter()
        if now - self._marked < CROWDED_AFTER:
            self._calm_until = now + CALM_FOR
        self._marked = 0.0

    def _give_turns(self) -> None:
        for _ in range(min(AT_ONCE, len(self._waiting))):
            first = self._waiting.popleft()
            if not first.done():  # it may have been cancelled
                first.set_result(None)
            self._turns += 1
        passed = perf_counter() - self._since
        if passed > MEASURED_FOR:
            self._each = passed / self._turns
            self._turns, self._since = 0, self._since + passed
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._give_turns)
