"""Large bodies, sent in pieces: each only when the client has accepted the one before.

A body that is passed to a server whole stays in memory until the client has read it, and a client
may take as long as it likes. In pieces, a slow client holds a piece or two; one that accepts
nothing for too long is disconnected; and the number of clients served at a time is bounded.
"""

import asyncio
import io
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, BinaryIO, Final

from mapshelf.api.http import Response
from mapshelf.api.send_rate import SendRate
from mapshelf.errors import Overloaded

LARGE_BODY: Final = 98_304
"""Bytes from which a body is sent in pieces; more than fits into a pipe (``pipe.py``)."""

PIECE: Final = 65_536
"""Bytes of a piece."""

STALLED_AFTER: Final = 30.0
"""Seconds a client has to accept a piece. For smaller bodies the kernel waits as long:
``USER_TIMEOUT`` in ``service/listening.py``."""

SLOW_AFTER: Final = 2.0
"""Seconds without accepting anything after which a client has to make room for another."""

MOST_BODIES: Final = 64
"""Large bodies that a worker sends at a time. Granian needs 256 KiB for each that it has not sent
completely."""

MOST_BODIES_OF_ONE: Final = 48
"""Large bodies that go to one address at a time, so that no client alone can occupy all of them."""

BYTES_OF_BEGINNING: Final = 8 * PIECE
"""Bytes that beginning to send a body counts as, because opening it takes time, too. Of hundreds
that are asked for at the same moment, not all begin at once: 256 a second in each worker. With
1,024, fifty clients that ask and hang up at once slowed lists fourfold."""

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
"""Sends a message to an ASGI server."""


class Stream:
    """A large body on its way to a client.

    Attributes:
        address: of the client.
    """

    def __init__(
        self, address: str, patience: float = STALLED_AFTER, rate: SendRate | None = None
    ) -> None:
        """Begin; the client has ``patience`` seconds to accept each piece.

        Args:
            address: of the client.
            patience: seconds.
            rate: that of all streams; by default, this one has its own.
        """
        self.address = address
        self._rate = rate or SendRate()
        self._patience = patience
        self._piece: asyncio.Future[None] | None = None
        self._since = time.monotonic()

    def stalled(self) -> float:
        """Return for how many seconds the client has accepted nothing."""
        return time.monotonic() - self._since

    async def is_taken(self, piece: Awaitable[None]) -> bool:
        """Wait until ``piece`` ends, when the client has accepted it; return whether it did.

        It did not if that took too long, or the stream was cut off.
        """
        self._since = time.monotonic()
        self._piece = asyncio.ensure_future(piece)
        done, _ = await asyncio.wait({self._piece}, timeout=self._patience)
        if not done or self._piece.cancelled():
            self._piece.cancel()
            return False
        self._piece.result()
        self._since = time.monotonic()
        return True

    async def turn(self, size: int) -> None:
        """Wait until ``size`` more bytes may be sent. The client is not to blame for that time."""
        await self._rate.wait(size)
        self._since = time.monotonic()

    def cut_off(self) -> None:
        """Give up sending."""
        if self._piece is not None:
            self._piece.cancel()


class Streams:
    """The large bodies that a worker is sending. For use in its event loop only."""

    def __init__(self) -> None:
        self._streams: set[Stream] = set()
        self._rate = SendRate()

    @contextmanager
    def sending(self, address: str) -> Iterator[Stream]:
        """Count a large body to this address while in the context.

        If there are too many, the one whose client has accepted nothing for longest is cut off.

        Raises:
            Overloaded: there are too many already, and their clients accept them.
        """
        self._make_room(self._streams, MOST_BODIES)
        self._make_room(
            [one for one in self._streams if one.address == address], MOST_BODIES_OF_ONE
        )
        stream = Stream(address, rate=self._rate)
        self._streams.add(stream)
        try:
            yield stream
        finally:
            self._streams.discard(stream)

    def _make_room(self, streams: Collection[Stream], most: int) -> None:
        if len(streams) < most:
            return
        slowest = max(streams, key=Stream.stalled)
        if slowest.stalled() < SLOW_AFTER:
            raise Overloaded("too many large answers are being sent")
        slowest.cut_off()
        self._streams.discard(slowest)


def open_body(response: Response) -> BinaryIO:
    """Open the body of a response for reading.

    Raises:
        OSError: its file has been removed.
    """
    return response.file.open() if response.file else io.BytesIO(response.body)


def whole_body(response: Response) -> bytes:
    """Return the body of a response that is not large.

    Raises:
        OSError: its file has been removed.
    """
    if response.file is None:
        return response.body
    with open_body(response) as body:
        return body.read()


async def send_body(response: Response, send: Send, stream: Stream | None) -> None:
    """Send the body of a response to an ASGI server, which accepts pieces as fast as its client.

    Only a large one has a ``stream``. It stays incomplete if the client takes too long; the server
    then disconnects.
    """
    if stream is None:
        await send({"type": "http.response.body", "body": whole_body(response)})
        return
    left = response.size
    with open_body(response) as body:
        while piece := body.read(PIECE):
            left -= len(piece)
            await stream.turn(len(piece))
            message = {"type": "http.response.body", "body": piece, "more_body": left > 0}
            if not await stream.is_taken(send(message)):
                return
