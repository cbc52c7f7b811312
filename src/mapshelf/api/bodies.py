"""Receives request bodies under limits on size, number and time.

Small bodies are buffered in memory, files in unnamed files in the data folder, so that nothing is
left behind if the client or this process dies. A worker receives a bounded number of each at a
time. At the limit, the slowest client is cut off if it is slow enough; otherwise, the new client
gets an error and must try again.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, Final, TypeVar

from mapshelf.api.forms import Form, FormLimits, FormReader
from mapshelf.api.http import BodyRule, Request
from mapshelf.api.incoming import IncomingBody
from mapshelf.client_address import Sender
from mapshelf.errors import (
    BodyTooLarge,
    CannotWrite,
    Ending,
    LengthRequired,
    Overloaded,
    UnsupportedMediaType,
)

T = TypeVar("T")

LARGEST_IN_MEMORY: Final = 131_072
"""Maximum size of a body, or of the fields of a form, in memory, in bytes."""

MOST_IN_MEMORY: Final = 256
"""Bodies in memory that a worker receives at a time: 32 MiB together."""

MOST_FILES: Final = 16
"""Bodies on disk that a worker receives at a time."""

SLOW_AFTER: Final = 2.0
"""Seconds after which a client may be cut off to make room for another."""

SLOW: Final = 16_384
"""Bytes a second; slower clients may be cut off."""

CHECKED_AFTER: Final = 1.0
"""Seconds that a body may take without another check of the credential of its request: for so long,
an ended credential may be used anyway."""

LOOK_AGAIN: Final = 0.25
"""Seconds without another search after one found no slow client; otherwise every request of a flood
would search."""

LONGEST_MEDIA_TYPE: Final = 1024
"""Maximum size of a Content-Type with its parameters: reading long ones takes time."""

ClientAddress = Callable[[Sender], str]
"""Returns the client address of a request."""


@dataclass(frozen=True, slots=True, eq=False)
class _Receiving:
    body: IncomingBody | None
    address: str

    def is_slow(self) -> bool:
        """Return whether the client may be cut off."""
        body = self.body
        return body is not None and (
            not body.is_read() and body.age() > SLOW_AFTER and body.rate() < SLOW
        )

    def rate(self) -> float:
        return self.body.rate() if self.body else 0.0


class _Places:
    """A bounded number of slots for bodies; one address gets at most three quarters of them.

    Each kind of slot has its own parsing thread: a slow disk must not delay bodies in memory.
    """

    def __init__(self, name: str, most: int) -> None:
        self._most = most
        self._taken: set[_Receiving] = set()
        self._by_address: Counter[str] = Counter()
        self._nobody_slow_until = 0.0
        self._thread = ThreadPoolExecutor(1, name)
        self._stopped = False

    @contextmanager
    def taken(self, body: IncomingBody | None, address: str) -> Iterator[None]:
        """Occupy a slot while in the context.

        Raises:
            Overloaded: all slots are occupied, and no client is slow.
        """
        if len(self._taken) >= self._most:
            self._make_room(self._taken)
        if self._by_address[address] >= max(1, self._most * 3 // 4):
            self._make_room([one for one in self._taken if one.address == address])
        receiving = _Receiving(body, address)
        self._taken.add(receiving)
        self._by_address[address] += 1
        try:
            yield
        finally:
            self._leave(receiving)

    async def done(self, work: Callable[[], T]) -> T:
        """Run work that writes to files or is slow in the thread; return its result.

        Raises:
            CannotWrite: a write failed.
            Ending: the service is shutting down.
        """
        if self._stopped:
            raise Ending("The service is shutting down.")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except OSError as error:
            raise CannotWrite(f"the body of a request was not kept: {error.strerror}") from error

    async def close(self, work: Callable[[], None]) -> None:
        """Run ``work``, which closes files, after pending work; write errors are ignored."""
        if self._stopped:
            with suppress(OSError):
                work()
            return
        with suppress(CannotWrite):
            await self.done(work)

    async def stop(self) -> None:
        """Finish running work, and accept no more."""
        self._stopped = True
        await asyncio.to_thread(self._thread.shutdown)

    def _leave(self, receiving: _Receiving) -> None:
        if receiving not in self._taken:
            return  # it was cut off
        self._taken.discard(receiving)
        self._by_address[receiving.address] -= 1
        if not self._by_address[receiving.address]:
            del self._by_address[receiving.address]

    def _make_room(self, receiving: Collection[_Receiving]) -> None:
        """Cut off the slowest client.

        Raises:
            Overloaded: no client is slow.
        """
        now = time.monotonic()
        slow = [] if now < self._nobody_slow_until else [one for one in receiving if one.is_slow()]
        if not slow:
            if len(receiving) == len(self._taken) and now >= self._nobody_slow_until:
                self._nobody_slow_until = now + LOOK_AGAIN
            raise Overloaded("too many bodies of requests are being received")
        slowest = min(slow, key=_Receiving.rate)
        self._leave(slowest)
        assert slowest.body is not None
        slowest.body.cut_off()


class Bodies:
    """Receives request bodies. Use it only in the event loop of its worker."""

    def __init__(self, folder: Path, client_address: ClientAddress) -> None:
        """Store files in ``folder``."""
        self._folder = folder
        self._client_address = client_address
        self._in_memory = _Places("bodies", MOST_IN_MEMORY)
        self._on_disk = _Places("files of bodies", MOST_FILES)

    @asynccontextmanager
    async def content(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the body of a request, which stays in memory while in the context.

        Raises:
            LengthRequired: the request does not declare the length of its body.
            BodyTooLarge: the body is larger than the operation accepts.
            UnsupportedMediaType: the operation does not accept its media type or encoding.
            BodyTimeout: the client sends nothing for too long.
            ClientDisconnected: the client disconnected.
            Overloaded: too many bodies are being received.
            InvalidToken: the credential of the request has ended meanwhile.
        """
        rule = check_body(request)
        assert rule.most <= LARGEST_IN_MEMORY
        with self._in_memory.taken(request.body, self._client_address(request.sender)):
            content = b"".join([piece async for piece in _pieces(request)])
            await _check_again(request)
            yield content

    @asynccontextmanager
    async def file(self, request: Request) -> AsyncIterator[BinaryIO]:
        """Yield the body of a request as a file, which exists while in the context.

        Raises:
            CannotWrite: the disk is full.
            MapshelfError: see ``content``.
        """
        check_body(request)
        places = self._on_disk
        with places.taken(request.body, self._client_address(request.sender)):
            file = await places.done(self._new_file)
            try:
                async for piece in _pieces(request):
                    await places.done(partial(file.write, piece))
                await places.done(partial(file.seek, 0))
                await _check_again(request)
                yield file
            finally:
                await places.close(file.close)

    @asynccontextmanager
    async def form(self, request: Request, limits: FormLimits) -> AsyncIterator[Form]:
        """Yield the form in the body of a request; its files exist while in the context.

        Raises:
            MalformedRequest: the body is not a form.
            InvalidParameter: the form has too many fields, or a field that is not text.
            CannotWrite: the disk is full.
            MapshelfError: see ``content``.
        """
        check_body(request)
        assert limits.text <= LARGEST_IN_MEMORY
        places = self._on_disk if limits.files else self._in_memory
        with places.taken(request.body, self._client_address(request.sender)):
            media_type = request.sender.header(b"content-type").decode("latin-1")
            reader = FormReader(media_type, limits, self._new_file)
            try:
                async for piece in _pieces(request):
                    await places.done(partial(reader.feed, piece))
                form = await places.done(reader.form)
                await _check_again(request)
                yield form
            finally:
                await places.close(reader.close)

    def _new_file(self) -> BinaryIO:
        return TemporaryFile(dir=self._folder)

    async def close(self) -> None:
        """Finish pending writes."""
        for places in (self._in_memory, self._on_disk):
            await places.stop()


def check_body(request: Request) -> BodyRule:
    """Return the rule for the body of a request, after checking the headers against it.

    Raises:
        LengthRequired: the request does not declare the length of its body.
        BodyTooLarge: the body is larger than the operation accepts.
        UnsupportedMediaType: the operation does not accept its media type, or it is compressed.
    """
    rule, body = request.takes, request.body
    assert rule is not None, "a body that the route does not name"
    if body is None:
        return rule
    if body.length is None:
        raise LengthRequired("A request with a body needs a Content-Length header.")
    if body.length > rule.most:
        raise BodyTooLarge(f"The body of this request must be at most {rule.most} bytes long.")
    media_type = request.sender.header(b"content-type").decode("latin-1")
    known = media_type.partition(";")[0].strip().lower() in rule.media_types
    if not known or len(media_type) > LONGEST_MEDIA_TYPE:
        raise UnsupportedMediaType(f"The body must be {' or '.join(rule.media_types)}.")
    if request.sender.header(b"content-encoding").strip().lower() not in (b"", b"identity"):
        raise UnsupportedMediaType("The body must not be compressed.")
    return rule


async def _check_again(request: Request) -> None:
    """Check the credential of a request again if its body took long to arrive.

    Raises:
        InvalidToken: the credential is no longer valid.
        UnknownPath: its user no longer has permission for a page.
    """
    if request.check_again is not None and request.body and request.body.age() > CHECKED_AFTER:
        await request.check_again()


def _pieces(request: Request) -> AsyncIterator[bytes]:
    return request.body.pieces() if request.body else _nothing()


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""
