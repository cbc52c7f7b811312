"""Receives a request body on demand, and drains a body that was not read.

A body is received only if its operation reads it, and no faster. A client that sends nothing for
too long times out.

If a body is left unread, the start of the next request on the connection is unknown, so the
connection is closed after the response. Closing it while the client still sends may destroy the
response in transit: the client does not learn why it was refused, and some send everything again.
So the remaining body, up to a limit, is received and discarded first.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final

from mapshelf.errors import BodyTimeout, BodyTooLarge, ClientDisconnected, Overloaded

STALLED_AFTER: Final = 30.0
"""Seconds to wait for the next piece of a body."""

DISCARDED_WITHIN: Final = 5.0
"""Seconds within which the body of an operation that needs none must arrive."""

DRAINED: Final = 64 << 20
"""Maximum size of a body to receive and discard, in bytes: twice the largest that any operation
accepts, because a file that is slightly too large is the usual mistake."""

DRAINING: Final = 60.0
"""Seconds within which it must arrive."""

Pieces = Callable[[], AsyncIterator[bytes]]
"""Returns the pieces of a body."""


class IncomingBody:
    """The body of a request.

    Attributes:
        length: its declared length in bytes, ``None`` if unknown.
        received: the bytes received so far.
    """

    def __init__(self, length: int | None, pieces: Pieces) -> None:
        """Read from ``pieces`` once the first piece is requested."""
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
        """Return the average rate of receipt in bytes a second."""
        return self.received / max(time.monotonic() - self._began, 1e-3)

    def age(self) -> float:
        """Return the seconds since the request arrived."""
        return time.monotonic() - self._began

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the pieces as they arrive.

        Raises:
            BodyTimeout: the client sends nothing for too long.
            ClientDisconnected: the client disconnected before the end.
            Overloaded: it was cut off.
        """
        while not self.is_read():
            piece = await self._next()
            if piece is None or self.received > (self.length or 0):
                self._is_over = True
                raise ClientDisconnected("the client hung up while it sent a body")
            yield piece

    def cut_off(self) -> None:
        """Stop receiving the body."""
        self._is_cut_off = True
        if self._waiting is not None:
            self._waiting.reschedule(asyncio.get_running_loop().time())

    async def discard(self, most: int) -> None:
        """Receive a small body that nobody needs: until then, it is not noticed who hangs up.

        Args:
            most: its maximum size in bytes.

        Raises:
            BodyTooLarge: it is larger.
            BodyTimeout: it does not arrive soon.
            ClientDisconnected: the client disconnected before its end.
        """
        try:
            async with asyncio.timeout(DISCARDED_WITHIN):
                while not self.is_read():
                    piece = await self._next()
                    if piece is None and self.length is None:
                        self.length = self.received
                    elif piece is None:
                        self._is_over = True
                        raise ClientDisconnected("the client hung up while it sent a body")
                    elif self.received > most:
                        raise BodyTooLarge("This operation takes no request body.")
        except TimeoutError as error:
            self._is_over = True
            raise BodyTimeout("The body of the request does not arrive.") from error

    async def drain(self) -> bool:
        """Receive and discard the remaining body; return whether all of it arrived."""
        if self._is_over or self.length is None or self.length > DRAINED:
            return False
        pieces = self._open() if self._pieces is None else self._pieces
        try:
            async with asyncio.timeout(DRAINING):
                while self.received < self.length:
                    async with asyncio.timeout(STALLED_AFTER):
                        self.received += len(await anext(pieces))
        except (StopAsyncIteration, TimeoutError):
            return False
        return self.is_read()

    async def _next(self) -> bytes | None:
        """Return the next piece that is not empty, ``None`` at the end."""
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

    A chunked body (``Transfer-Encoding``) counts as one of unknown length: Granian does not
    distinguish the end of such a body from a disconnected client.
    """
    length = headers.get(b"content-length", b"")
    known = length.isdigit() and b"transfer-encoding" not in headers
    return IncomingBody(int(length[:20]) if known else None, pieces)
