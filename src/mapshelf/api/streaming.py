"""Large bodies, sent in pieces: each only when the client has taken the one before.

What is handed to a server whole stays in memory until the client has read it, and a client may take
as long as it likes. In pieces, a slow reader holds a piece or two; one that takes nothing for too
long is cut off; and there is a bound to how many are served at a time.
"""

import asyncio
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

from mapshelf.api.http import Response, Send
from mapshelf.errors import Overloaded

LARGE: Final = 98_304
"""Bytes of a body from which on it is sent in pieces; more than a pipe takes (``pipe.py``)."""

PIECE: Final = 65_536
"""Bytes of a piece."""

STALLED_AFTER: Final = 30.0
"""Seconds a client has to take a piece."""

MOST: Final = 128
"""Large bodies that a worker sends at a time. Granian needs 256 KiB for each that it has not got
rid of."""

MOST_OF_ONE: Final = 64
"""Large bodies that go to one address at a time: nobody alone can take up all of them."""


class Streams:
    """Counts the large bodies that a worker is sending."""

    def __init__(self) -> None:
        self._clients: Counter[str] = Counter()

    @contextmanager
    def sending(self, address: str) -> Iterator[None]:
        """Count a large body to this address while in the context.

        Raises:
            Overloaded: there are too many already.
        """
        if self._clients.total() >= MOST or self._clients[address] >= MOST_OF_ONE:
            raise Overloaded("too many large answers are being sent")
        self._clients[address] += 1
        try:
            yield
        finally:
            self._clients[address] -= 1
            if not self._clients[address]:
                del self._clients[address]


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


async def send_body(response: Response, send: Send) -> None:
    """Send the body of a response to an ASGI server, which takes pieces as fast as its client does.

    The response stays incomplete if the client takes too long; the server hangs up then.
    """
    if response.size < LARGE:
        await send({"type": "http.response.body", "body": whole_body(response)})
        return
    left = response.size
    with open_body(response) as body:
        while piece := body.read(PIECE):
            left -= len(piece)
            message = {"type": "http.response.body", "body": piece, "more_body": left > 0}
            try:
                await asyncio.wait_for(send(message), STALLED_AFTER)
            except TimeoutError:
                return
