"""The body of a request on its way here, and what becomes of one that nobody reads.

A body is received only if its operation asks for it, and no faster than the operation takes it. A
client that sends nothing for too long is not waited for.

If a body is left unread, the next request on the connection cannot be found, so the connection is
closed after the response. Closing it while the client still sends may destroy the response on its
way: then the client does not learn why it was refused, and some send everything again. So what is
left of a body that its operation could have taken is received first and thrown away.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final

from mapshelf.errors import BodyTimeout, ClientDisconnected, Overloaded

STALLED_AFTER: Final = 30.0
"""Seconds a client has to send the next piece of a body."""

DRAINED: Final = 64 << 20
"""Maximum of bytes of a body that is received to be thrown away; twice the largest that any
operation takes, because a file that is a little too large is the usual mistake."""

DRAINING: Final = 60.0
"""Seconds that a client has for that."""

Pieces = Callable[[], AsyncIterator[bytes]]
"""Returns the pieces of a body."""


class IncomingBody:
    """The body of a request.

    Attributes:
        length: bytes of it, ``None`` if the client does not say.
        received: bytes that have arrived.
    """

    def __init__(self, length: int | None, pieces: Pieces) -> None:
        """Take the pieces from ``pieces``, once the first is asked for."""
        self.length = length
        self.received = 0
        self._open = pieces
        self._pieces: AsyncIterator[bytes] | None = None
        self._waiting: asyncio.Timeout | None = None
        self._is_cut_off = False
        self._is_over = False
        self._began = time.monotonic()

    def is_read(self) -> bool:
        """Return whether all of it has arrived."""
        return self.received == self.length

    def rate(self) -> float:
        """Return how many bytes a second have arrived."""
        return self.received / max(time.monotonic() - self._began, 1e-3)

    def age(self) -> float:
        """Return the seconds since the request came."""
        return time.monotonic() - self._began

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the pieces as they arrive.

        Raises:
            BodyTimeout: the client sends nothing.
            ClientDisconnected: it hung up before the end.
            Overloaded: it was cut off.
        """
        while not self.is_read():
            piece = await self._next()
            if piece is None or self.received > (self.length or 0):
                self._is_over = True
                raise ClientDisconnected("the client hung up while it sent a body")
            yield piece

    def cut_off(self) -> None:
        """Wait for no more of it."""
        self._is_cut_off = True
        if self._waiting is not None:
            self._waiting.reschedule(asyncio.get_running_loop().time())

    async def drain(self) -> bool:
        """Receive what is left, and throw it away; return whether that was all of the body."""
        if self._is_over or self.length is None or self.length > DRAINED:
            return False
        pieces = self._open() if self._pieces is None else self._pieces
        try:
            async with asyncio.timeout(DRAINING):
                while self.received < self.length:
                    self.received += len(await anext(pieces))
        except (StopAsyncIteration, TimeoutError):
            return False
        return self.is_read()

    async def _next(self) -> bytes | None:
        """Return the next piece that has anything in it, ``None`` at the end."""
        if self._pieces is None:
            self._pieces = self._open()
        piece = b""
        try:
            async with asyncio.timeout(0 if self._is_cut_off else STALLED_AFTER) as self._waiting:
                while not piece:
                    piece = await anext(self._pieces)
        except StopAsyncIteration:
            return None
        except TimeoutError as error:
            self._is_over = True
            if self._is_cut_off:
                raise Overloaded("a slow client had to make room for another") from error
            raise BodyTimeout("The body of the request does not arrive.") from error
        finally:
            self._waiting = None
        self.received += len(piece)
        return piece


def incoming_body(headers: Mapping[bytes, bytes], pieces: Pieces) -> IncomingBody:
    """Return the body of a request.

    A body in chunks (``Transfer-Encoding``) counts as one of unknown length: Granian does not tell
    the end of such a body from the end of its client.
    """
    length = headers.get(b"content-length", b"")
    known = length.isdigit() and b"transfer-encoding" not in headers
    return IncomingBody(int(length[:20]) if known else None, pieces)
