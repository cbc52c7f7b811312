"""Receives request bodies under limits on size, number and time.

Small bodies are buffered in memory, files in unnamed files in the data folder, so that nothing is
left behind if the client or this process dies. A worker receives a bounded number of each at a
time. At the limit, the slowest client is cut off if it is slow enough; otherwise, the new client
gets an error and must try again.

A file gives its place to the next one as soon as it has arrived: it may wait in a queue for long,
and others should not be kept out meanwhile. The queues bound how many wait, and there is a limit
here on how much of the disk they take.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
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

MOST_ARRIVED: Final = 1 << 30
"""Maximum total size in bytes of the bodies on disk that have arrived, but are not answered yet."""

LEAST_ARRIVED: Final = MOST_ARRIVED // 128
"""For how many bytes each file in them counts at least: so there are at most 128, each of which
needs a file descriptor."""

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
class _Sent:
    """A body, and who sends it: the user, if known, and the address.

    Attributes:
        body: the body.
        senders: who sends it.
        files: how many files it is or has on disk.
    """

    body: IncomingBody | None
    senders: frozenset[Hashable]
    files: int = 1

    def is_slow(self) -> bool:
        """Return whether the client may be cut off."""
        body = self.body
        return body is not None and (
            not body.is_read() and body.age() > SLOW_AFTER and body.rate() < SLOW
        )

    def rate(self) -> float:
        return self.body.rate() if self.body else 0.0

    def size_on_disk(self) -> int:
        """Return for how many bytes it counts once it has arrived on disk."""
        length = self.body.length if self.body else None
        return max(length or 0, max(1, self.files) * LEAST_ARRIVED)


_EVERYBODY: Final = object()


class _Places:
    """A bounded amount of room for bodies.

    One user gets at most three quarters of it, and so does one address: else a user with several
    addresses would get more.
    """

    def __init__(self, most: int, size: Callable[[_Sent], int] = lambda _: 1) -> None:
        """Make room for bodies whose sizes, as ``size`` returns them, add up to ``most``."""
        self._most = most
        self._size = size
        self._taken: set[_Sent] = set()
        self._totals: Counter[Hashable] = Counter()
        self._nobody_slow_until = 0.0

    @contextmanager
    def taken(self, sent: _Sent) -> Iterator[None]:
        """Occupy a place while in the context, or until ``leave``.

        Raises:
            Overloaded: there is no room, and no client is slow.
        """
        size = self._size(sent)
        if self._totals[_EVERYBODY] + size > self._most:
            self._make_room(self._taken)
        for sender in sent.senders:
            if self._totals[sender] + size > max(size, self._most * 3 // 4):
                self._make_room([one for one in self._taken if sender in one.senders])
        self._taken.add(sent)
        self._add(sent, size)
        try:
            yield
        finally:
            self.leave(sent)

    def leave(self, sent: _Sent) -> None:
        """Give back the place of a body, unless that has been done."""
        if sent in self._taken:
            self._taken.discard(sent)
            self._add(sent, -self._size(sent))

    def _add(self, sent: _Sent, size: int) -> None:
        for sender in (_EVERYBODY, *sent.senders):
            self._totals[sender] += size
            if not self._totals[sender]:
                del self._totals[sender]

    def _make_room(self, receiving: Collection[_Sent]) -> None:
        """Cut off the slowest client.

        Raises:
            Overloaded: no client is slow.
        """
        now = time.monotonic()
        slow = [] if now < self._nobody_slow_until else [one for one in receiving if one.is_slow()]
        if not slow:
            if len(receiving) == len(self._taken) and now >= self._nobody_slow_until:
                self._nobody_slow_until = now + LOOK_AGAIN
            raise Overloaded("too many bodies of requests are being received, or wait")
        slowest = min(slow, key=_Sent.rate)
        self.leave(slowest)
        assert slowest.body is not None
        slowest.body.cut_off()


class _Thread:
    """The thread that parses one kind of body: a slow disk must not delay bodies in memory."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, name)
        self._stopped = False

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


class Bodies:
    """Receives request bodies. Use it only in the event loop of its worker."""

    def __init__(self, folder: Path, client_address: ClientAddress) -> None:
        """Store files in ``folder``."""
        self._folder = folder
        self._client_address = client_address
        self._in_memory, self._memory = _Places(MOST_IN_MEMORY), _Thread("bodies")
        self._on_disk, self._disk = _Places(MOST_FILES), _Thread("files of bodies")
        self._arrived = _Places(MOST_ARRIVED, _Sent.size_on_disk)

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
        with self._in_memory.taken(self._sent(request)):
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
        sent, disk = self._sent(request), self._disk
        with self._on_disk.taken(sent):
            file = await disk.done(self._new_file)
            try:
                async for piece in _pieces(request):
                    await disk.done(partial(file.write, piece))
                await disk.done(partial(file.seek, 0))
                await _check_again(request)
                with self._waiting(sent):
                    yield file
            finally:
                await disk.close(file.close)

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
        sent, on_disk = self._sent(request), bool(limits.files)
        places, thread = (self._on_disk, self._disk) if on_disk else (self._in_memory, self._memory)
        with places.taken(sent):
            media_type = request.sender.header(b"content-type").decode("latin-1")
            reader = FormReader(media_type, limits, self._new_file)
            try:
                async for piece in _pieces(request):
                    await thread.done(partial(reader.feed, piece))
                form = await thread.done(reader.form)
                await _check_again(request)
                with self._waiting(sent, reader.opened()) if on_disk else nullcontext():
                    yield form
            finally:
                await thread.close(reader.close)

    @contextmanager
    def _waiting(self, sent: _Sent, files: int = 1) -> Iterator[None]:
        """Let another client send a file, while one that has arrived waits or is used."""
        with self._arrived.taken(replace(sent, files=files)):
            self._on_disk.leave(sent)
            yield

    def _sent(self, request: Request) -> _Sent:
        address = self._client_address(request.sender)
        return _Sent(request.body, frozenset((address, request.owner())))

    def _new_file(self) -> BinaryIO:
        return TemporaryFile(dir=self._folder)

    async def close(self) -> None:
        """Finish pending writes."""
        for thread in (self._memory, self._disk):
            await thread.stop()


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
