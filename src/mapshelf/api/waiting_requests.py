"""Requests that wait: those of a client with many make room for those of a client with fewer.

Whoever hangs up while waiting is not always noticed: the HTTP server does not see it if the client
sent more than one request, or only the first byte of another. So the requests that wait for work
are counted, in all queues of a worker together, and some connections remain for others.
"""

import asyncio
import sys
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mapshelf.api.turns import Turns
from mapshelf.errors import Overloaded


@dataclass(frozen=True, slots=True, eq=False)
class WaitingRequest:
    """A request that waits.

    Attributes:
        owner: whose request it is.
        turn: true at its turn, false when it has to make room. It is no error: errors refer to the
            frames that wait, and these to the future, so all would stay in memory for long.
    """

    owner: Hashable
    turn: "asyncio.Future[bool]"


class WaitingRequests:
    """The requests that wait for something, whose owners take turns (``turns.py``)."""

    def __init__(self) -> None:
        self._turns: Turns[WaitingRequest] = Turns()

    def __len__(self) -> int:
        """Return how many requests wait."""
        return len(self._turns)

    def check_room(self, owner: Hashable) -> None:
        """Refuse a request that finds no room, unless another one is to make room for it.

        Raises:
            Overloaded: no other owner has more waiting.
        """
        self._displaced_by(owner)

    def make_room(self, owner: Hashable) -> None:
        """Refuse the newest request of the owner with the most; see ``check_room``.

        Raises:
            Overloaded: no other owner has more waiting.
        """
        displaced = self._displaced_by(owner)
        self._turns.remove(displaced.owner, displaced)
        if not displaced.turn.done():  # it may have been cancelled
            displaced.turn.set_result(False)

    @contextmanager
    def waiting(self, owner: Hashable) -> Iterator["asyncio.Future[bool]"]:
        """Count a request while in the context; yield its turn, false if it has to make room."""
        waiting = WaitingRequest(owner, asyncio.get_running_loop().create_future())
        self._turns.add(owner, waiting)
        try:
            yield waiting.turn
        finally:
            if waiting in self._turns:
                self._turns.remove(owner, waiting)

    def give_turn(self) -> None:
        """Let the next request have its turn, if any waits."""
        following = self._turns.take()
        if following and not following.turn.done():  # it may have been cancelled
            following.turn.set_result(True)

    def _displaced_by(self, owner: Hashable) -> WaitingRequest:
        displaced = self._turns.displaced_by(owner)
        if displaced is None:
            raise overloaded()
        return displaced


class WaitingLimit:
    """Limits how many requests wait for work."""

    def __init__(self, most: int = sys.maxsize) -> None:
        """Let at most this number wait."""
        self._most = most
        self._requests = WaitingRequests()

    def check_room(self, owner: Hashable) -> None:
        """Refuse a request early, before others make room for it elsewhere.

        Raises:
            Overloaded: too many wait, and no other owner has more of them.
        """
        if len(self._requests) >= self._most:
            self._requests.check_room(owner)

    @contextmanager
    def waiting(self, owner: Hashable) -> Iterator["asyncio.Future[bool]"]:
        """See ``WaitingRequests``.

        Raises:
            Overloaded: too many wait, and no other owner has more of them.
        """
        if len(self._requests) >= self._most:
            self._requests.make_room(owner)
        with self._requests.waiting(owner) as turn:
            yield turn


def overloaded() -> Overloaded:
    """Return the error of a request that has to make room, or finds none."""
    return Overloaded("more requests arrive than can be answered")
