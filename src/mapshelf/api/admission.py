"""Admission control: under overload, requests wait for their turn before the work that they cause.

Cached responses do not wait: they cost less than a refusal.
"""

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass
from time import perf_counter
from typing import Final

from mapshelf.api.turns import Turns
from mapshelf.api.work_queue import FindOwner
from mapshelf.errors import Overloaded

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


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """The place of a request that waits.

    Attributes:
        owner: whose request it is.
        turn: done when it has its turn, or none any more.
    """

    owner: Hashable
    turn: "asyncio.Future[None]"


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
        self._waiting: Turns[_Place] = Turns()
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
            self._displaced_by(owner())

    async def turn(self, owner: FindOwner) -> None:
        """Wait for a turn; see ``check_room``.

        Raises:
            Overloaded: it would take too long.
        """
        whose = owner()
        if self._is_full():
            displaced = self._displaced_by(whose)
            self._waiting.remove(displaced.owner, displaced)
            if not displaced.turn.done():  # it may have been cancelled
                displaced.turn.set_exception(_overloaded())
                displaced.turn.exception()  # retrieve it, since the client may be leaving
        loop = asyncio.get_running_loop()
        if not self.is_giving:
            self.is_giving, self._given, self._since = True, 0, perf_counter()
            loop.call_soon(self._give_turns)
        mine = _Place(whose, loop.create_future())
        self._waiting.add(whose, mine)
        try:
            await mine.turn
        finally:
            if mine in self._waiting:  # the client has left
                self._waiting.remove(whose, mine)

    def _is_full(self) -> bool:
        waiting = len(self._waiting)
        return waiting >= FEWEST and waiting * self._each > LONGEST_WAIT

    def _displaced_by(self, owner: Hashable) -> "_Place":
        """Return the request that is to make room for a new one of an owner.

        Raises:
            Overloaded: no other owner has more waiting.
        """
        displaced = self._waiting.displaced_by(owner)
        if displaced is None:
            raise _overloaded()
        return displaced

    def _give_turns(self) -> None:
        for _ in range(min(AT_ONCE, len(self._waiting))):
            first = self._waiting.take().turn
            if not first.done():  # it may have been cancelled
                first.set_result(None)
            self._given += 1
        passed = perf_counter() - self._since
        if passed > MEASURED_FOR and self._given:
            self._each = passed / self._given
            self._given, self._since = 0, self._since + passed
        self.is_giving = bool(self._waiting)
        if self.is_giving:
            asyncio.get_running_loop().call_soon(self._give_turns)


def _overloaded() -> Overloaded:
    return Overloaded("more requests arrive than can be answered")
