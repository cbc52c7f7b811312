"""Who is answered when there is more to do than the event loop can.

Requests wait in the event loop for their turn, where nobody sees them: at three times what a worker
can do, it answers each in the end, seconds too late, and nobody within any time that matters. So
when requests wait noticeably, a request is looked at when it arrives, which takes little, and waits
here for what takes more. If it would have to wait for too long, it is told so at once.

How long requests wait is measured by a marker, which waits among them.
"""

import asyncio
from collections import deque
from time import perf_counter
from typing import Final

from mapshelf.errors import Overloaded

CROWDED_AFTER: Final = 0.01
"""Seconds that the marker waits when there is too much to do for everybody to be answered at
once."""

CALM_FOR: Final = 0.002
"""Seconds until the next marker if one did not wait."""

LONGEST_WAIT: Final = 0.2
"""Seconds that a request may have to wait here."""

FEWEST: Final = 32
"""Requests that wait when others are refused, at least: fewer are soon done, unless the machine
itself pauses, and then they are not too many."""

AT_ONCE: Final = 4
"""Requests that have their turn before new ones are looked at."""

MEASURED_FOR: Final = 0.1
"""Seconds in which is counted how many have their turn. A pause of the machine is shorter, as a
rule; nobody is to be refused because of one."""


class Admission:
    """Lets requests wait for their turn. For use in one event loop."""

    def __init__(self) -> None:
        self._calm_until = 0.0
        self._marked = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._each = 0.0  # seconds from one turn to the next
        self._turns = 0
        self._since = 0.0

    def is_crowded(self) -> bool:
        """Tell whether a request has to ask for a turn. For most, this is all there is to do."""
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
            if not first.done():  # who waited may have been cancelled
                first.set_result(None)
            self._turns += 1
        passed = perf_counter() - self._since
        if passed > MEASURED_FOR:
            self._each = passed / self._turns
            self._turns, self._since = 0, self._since + passed
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._give_turns)
