"""Limits the rate at which a worker sends large bodies, so that lists and searches stay fast.

On the machine itself and in fast networks, a few clients can receive large bodies at gigabytes a
second; copying them then saturates the processor and the memory, and all other requests wait. So
all large bodies of a worker share an allowance of bytes a second. It is granted piece by piece, and
addresses take turns, so they get equal shares. Whoever leaves before its turn takes nothing.
"""

import asyncio
import time
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

from mapshelf.api.turns import Turns

RATE: Final = 128 << 20
"""Bytes a second: one worker saturates a gigabit line. At half of it, 48 clients that read nothing
appear active for two seconds, because the kernel buffers 2 to 3 MB for each; during that time they
do not count as stalled, and are not cut off to make room for others."""

AHEAD: Final = 1 << 20
"""Bytes that can be sent without waiting after a pause."""

PIECE: Final = 65_536
"""The largest size of a turn in bytes, so that all have the same."""


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """A piece that waits for its turn.

    Attributes:
        size: its size in bytes.
        turn: done at its turn.
    """

    size: int
    turn: "asyncio.Future[None]"


class SendRate:
    """An allowance of bytes a second. Use it in one event loop only."""

    def __init__(self, rate: int = RATE, ahead: int = AHEAD) -> None:
        self._rate = rate
        self._ahead = ahead / rate
        self._used_until = 0.0
        self._waiting: Turns[_Piece] = Turns()
        self._next: asyncio.TimerHandle | None = None

    async def wait(self, size: int, owner: Hashable = None) -> None:
        """Wait until ``owner`` has had the turns to send ``size`` bytes."""
        for start in range(0, size, PIECE):
            await self._turn(min(PIECE, size - start), owner)

    async def _turn(self, size: int, owner: Hashable) -> None:
        if not len(self._waiting) and self._seconds_left() <= 0:
            self._used_until += size / self._rate
            return
        piece = _Piece(size, asyncio.get_running_loop().create_future())
        self._waiting.add(owner, piece)
        self._continue()
        try:
            await piece.turn
        finally:
            if piece in self._waiting:  # the client has left
                self._waiting.remove(owner, piece)

    def _seconds_left(self) -> float:
        """Return after how many seconds more bytes may be sent."""
        now = time.monotonic()
        self._used_until = max(self._used_until, now - self._ahead)
        return self._used_until - now

    def _continue(self) -> None:
        """Give the next turns as soon as possible, if anybody waits."""
        if self._next is None and len(self._waiting):
            later = asyncio.get_running_loop().call_later
            self._next = later(max(0.0, self._seconds_left()), self._give_turns)

    def _give_turns(self) -> None:
        self._next = None
        while self._seconds_left() <= 0 and (piece := self._waiting.take()):
            if not piece.turn.done():  # it may have been cancelled
                piece.turn.set_result(None)
                self._used_until += piece.size / self._rate
        self._continue()
