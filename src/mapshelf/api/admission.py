"""Admission control: under overload, requests wait for their turn before the work that they cause.

Cached responses do not wait: they cost less than a refusal.
"""

import asyncio
from time import perf_counter
from typing import Final

from mapshelf.api.waiting_requests import WaitingRequests, overloaded
from mapshelf.api.work_queue import FindOwner

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
    would wait too long is refused at once, unless its owner has less waiting than another: then the
    newest request of the other is refused. Owners take turns (``turns.py``).

    Attributes:
        is_giving: whether turns are being given, because requests wait.
    """

    def __init__(self) -> None:
        self.is_giving = False
        self._waiting = WaitingRequests()
        self._each = 0.0  # seconds from one turn to the next
        self._given = 0
        self._since = 0.0

    def check_room(self, owner: FindOwner) -> None:
        """Refuse a request that would wait too long for its turn.

        Args:
            owner: returns whose request it is; called only if it would.

        Raises:
            Overloaded: it would, and no other owner has more waiting.
        """
        if self._is_full():
            self._waiting.check_room(owner())

    async def turn(self, owner: FindOwner) -> None:
        """Wait for a turn; see ``check_room``.

        Raises:
            Overloaded: it would take too long.
        """
        whose = owner()
        if self._is_full():
            self._waiting.make_room(whose)
        if not self.is_giving:
            self.is_giving, self._given, self._since = True, 0, perf_counter()
            asyncio.get_running_loop().call_soon(self._give_turns)
        with self._waiting.waiting(whose) as turn:
            if not await turn:
                raise overloaded()

    def _is_full(self) -> bool:
        waiting = len(self._waiting)
        return waiting >= FEWEST and waiting * self._each > LONGEST_WAIT

    def _give_turns(self) -> None:
        for _ in range(min(AT_ONCE, len(self._waiting))):
            self._waiting.give_turn()
            self._given += 1
        passed = perf_counter() - self._since
        if passed > MEASURED_FOR and self._given:
            self._each = passed / self._given
            self._given, self._since = 0, self._since + passed
        self.is_giving = bool(self._waiting)
        if self.is_giving:
            asyncio.get_running_loop().call_soon(self._give_turns)
