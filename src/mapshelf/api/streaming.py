"""Sends large bodies in pieces, each after the client has accepted the previous one.

A body that is passed to a server in one call stays in memory until the client has read it, however
long that takes. In pieces, a slow client holds one or two pieces in memory; a client that accepts
nothing for too long is disconnected; and the number of concurrent downloads is bounded.
"""

import asyncio
import io
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager
from math import inf
from typing import Any, BinaryIO, Final

from mapshelf.api.http import Response
from mapshelf.api.send_rate import PIECE, SendRate
from mapshelf.cached_file import SENT_IN_PIECES
from mapshelf.disk_space import disk_space
from mapshelf.errors import Overloaded

LARGE_BODY: Final = SENT_IN_PIECES
"""Minimum size in bytes of bodies to send in pieces; larger than a pipe's buffer (``pipe.py``)."""

STALLED_AFTER: Final = 30.0
"""Seconds a client has to accept a piece. For smaller bodies, the kernel's timeout is the same:
``USER_TIMEOUT`` in ``service/listening.py``."""

SLOW_AFTER: Final = 2.0
"""Seconds after which a stalled client may be cut off to make room for another."""

MOST_BODIES: Final = 64
"""Most large bodies that a worker sends at a time. Granian needs 256 KiB for each until it
is sent completely."""

MOST_BODIES_OF_ONE: Final = 48
"""Most large bodies to one address at a time, so that one client cannot occupy all of them."""

FEW_BODIES: Final = 8
"""Large bodies that an address may receive completely, even if others find no place."""

MOST_REMOVED: Final = 256 << 20
"""Most bytes of removed files that a worker goes on sending while the disk has less than
``ENOUGH_FREE``. They occupy the disk, although they no longer count towards the size of their
cache."""

ENOUGH_FREE: Final = 2 << 30
"""Free bytes of the disk with which removed files disturb nobody, more than any cache leaves."""

CHECKED_EVERY: Final = 2.0
"""Seconds between checks for removed files. On a full disk, nothing else may be sent."""

BYTES_OF_BEGINNING: Final = 8 * PIECE
"""Bytes of the allowance that starting a body costs, because opening it takes time. So if hundreds
are requested at once, each worker starts 256 a second. At 1,024 a second, fifty clients that
disconnected right after each request slowed lists fourfold."""

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
"""Sends a message to an ASGI server."""


class Stream:
    """A large body that is being sent to a client.

    Attributes:
        address: the address of the client.
        has_begun: whether sending has begun.
        is_cut_off: whether sending has to stop.
    """

    def __init__(
        self, address: str, patience: float = STALLED_AFTER, rate: SendRate | None = None
    ) -> None:
        """Create a stream.

        Args:
            address: the address of the client.
            patience: seconds that the client has to accept each piece.
            rate: the allowance that all streams share; by default, one of its own.
        """
        self.address = address
        self._rate = rate or SendRate()
        self._patience = patience
        self._piece: asyncio.Future[None] | None = None
        self._since = time.monotonic()
        self._file: BinaryIO | None = None
        self.has_begun = False
        self.is_cut_off = False

    @contextmanager
    def opened(self, response: Response) -> Iterator[BinaryIO]:
        """Open the body of a response that this stream sends; see ``open_body``."""
        with open_body(response) as body:
            self.has_begun = True
            if response.file:
                self._file = body
            try:
                yield body
            finally:
                self._file = None

    def removed_file(self) -> tuple[int, int]:
        """Return inode and size in bytes of the file that is sent, zeros unless it was removed."""
        if self._file is not None:
            status = os.fstat(self._file.fileno())
            if not status.st_nlink:
                return status.st_ino, status.st_size
        return 0, 0

    def free_bytes(self) -> int:
        """Return the free bytes of the disk with the file that is sent."""
        return 0 if self._file is None else disk_space(self._file.fileno()).free

    def stalled(self) -> float:
        """Return for how many seconds the client has accepted nothing, 0 if it waits for a turn."""
        return max(0.0, time.monotonic() - self._since)

    def is_active(self) -> bool:
        """Return whether sending has begun, and the client accepts what is sent."""
        return self.has_begun and self.stalled() < SLOW_AFTER

    async def wait_until_taken(self, piece: Awaitable[None]) -> bool:
        """Wait until ``piece`` completes, which means that the client accepted it.

        Return false if that took too long, or the stream was cut off.
        """
        self._since = time.monotonic()
        self._piece = asyncio.ensure_future(piece)
        if self.is_cut_off:
            self._piece.cancel()
        done, _ = await asyncio.wait({self._piece}, timeout=self._patience)
        if not done or self._piece.cancelled():
            self._piece.cancel()
            return False
        self._piece.result()
        self._since = time.monotonic()
        return True

    def turn_to_begin(self) -> "asyncio.Future[None]":
        """Return what is done when sending may begin, and cancelled if the stream is cut off."""
        self._piece = asyncio.ensure_future(self.turn(BYTES_OF_BEGINNING))
        return self._piece

    async def turn(self, size: int) -> None:
        """Wait until ``size`` more bytes may be sent. This wait does not count as stalling."""
        self._since = inf
        try:
            await self._rate.wait(size, self.address)
        finally:
            self._since = time.monotonic()

    def cut_off(self) -> None:
        """Stop sending."""
        self.is_cut_off = True
        if self._piece is not None:
            self._piece.cancel()


class Streams:
    """The large bodies that a worker is sending. Use it in its event loop only."""

    def __init__(self, patience: float = STALLED_AFTER) -> None:
        """Begin without any; each client has ``patience`` seconds to accept a piece."""
        self._streams: dict[Stream, None] = {}  # in the order in which they began
        self._patience = patience
        self._rate = SendRate()
        self._check: asyncio.TimerHandle | None = None

    @contextmanager
    def sending(self, address: str) -> Iterator[Stream]:
        """Count a large body to this address while in the context.

        At the limit, another stream is cut off: one to the address with the most, or else the one
        that has been stalled for longest. Meanwhile, so are those of files that were removed, if
        they are too large together and the disk is almost full.

        Raises:
            Overloaded: the limit is reached, and no other stream should make room.
        """
        self._make_room(address)
        stream = Stream(address, self._patience, self._rate)
        self._streams[stream] = None
        if self._check is None:
            self._check_later()
        try:
            yield stream
        finally:
            self._streams.pop(stream, None)

    def _check_later(self) -> None:
        self._check = asyncio.get_running_loop().call_later(CHECKED_EVERY, self._check_disk)

    def _check_disk(self) -> None:
        self._check = None
        if self._streams:
            self._free_disk()
            self._check_later()

    def _make_room(self, address: str) -> None:
        own = [stream for stream in self._streams if stream.address == address]
        if len(own) >= MOST_BODIES_OF_ONE:
            self._cut_off(_stalled_for_longest(own))
        elif len(self._streams) >= MOST_BODIES:
            self._cut_off(self._displaced_by(len(own)) or _stalled_for_longest(self._streams))

    def _displaced_by(self, own: int) -> Stream | None:
        """Return the stream that makes room for one more to an address that has ``own``.

        It goes to the address with the most, if that is more than the other then has. So clients
        with two addresses do not keep the others out, whether they read slowly or hang up.
        """
        counts = Counter(stream.address for stream in self._streams)
        if max(counts.values()) <= own + 1:  # usually, and refusing must be cheap
            return None
        displaceable = [
            stream
            for stream in reversed(self._streams)  # the newest first
            if counts[stream.address] > max(own + 1, FEW_BODIES if stream.is_active() else 0)
        ]
        return max(
            displaceable,
            key=lambda stream: (counts[stream.address], not stream.is_active()),
            default=None,
        )

    def _free_disk(self) -> None:
        """On an almost full disk, cut off clients that read removed files, stalled ones first.

        One address may go on reading one of them. A file stays on the disk as long as anybody reads
        it, so the least stalled reader counts.
        """
        removed: dict[tuple[int, int], list[Stream]] = {}
        for stream in self._streams:
            removed.setdefault(stream.removed_file(), []).append(stream)
        removed.pop((0, 0), None)
        total, addresses = 0, set[str]()
        for file in sorted(removed, key=lambda file: min(map(Stream.stalled, removed[file]))):
            readers, size = removed[file], file[1]
            own = {stream.address for stream in readers}
            too_much = own <= addresses or total + size > MOST_REMOVED
            if too_much and readers[0].free_bytes() < ENOUGH_FREE:
                for stream in readers:
                    self._cut_off(stream)
            else:
                total += size
                addresses |= own

    def _cut_off(self, stream: Stream) -> None:
        stream.cut_off()
        self._streams.pop(stream, None)


def _stalled_for_longest(streams: Iterable[Stream]) -> Stream:
    """Return the stream that makes room for another to the same address, or anybody else.

    Raises:
        Overloaded: no client is stalled.
    """
    slowest = max(streams, key=Stream.stalled)
    if slowest.stalled() < SLOW_AFTER:
        raise Overloaded("too many large answers are being sent")
    return slowest


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

    Only a large body has a ``stream``. If the client takes too long, the body stays incomplete, and
    the server then disconnects.
    """
    if stream is None:
        await send({"type": "http.response.body", "body": whole_body(response)})
        return
    left = response.size
    with stream.opened(response) as body:
        while piece := body.read(PIECE):
            left -= len(piece)
            await stream.turn(len(piece))
            message = {"type": "http.response.body", "body": piece, "more_body": left > 0}
            if not await stream.wait_until_taken(send(message)):
                return
