"""A request and a response, as little of them as the service needs.

Written by hand although frameworks do this well: an answer takes a few microseconds, and the
Request and Response objects of a framework, made anew for each, would take longer than that.
"""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final

import xxhash

from mapshelf.api.work_queue import Disconnection
from mapshelf.disk_cache import CachedFile
from mapshelf.model import User
from mapshelf.visits import Sender

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers = tuple[tuple[bytes, bytes], ...]

METHODS: Final = ("GET", "HEAD", "OPTIONS")
"""Every operation reads, so every path takes the same methods."""

MAXIMUM_QUERY_STRING: Final = 8192
"""Bytes of a query string; every valid one is far shorter."""

MAXIMUM_BODY: Final = 65_536
"""Bytes of a body that is let pass unread, because some clients send one with everything."""

CHECKED_EACH_TIME: Final[Headers] = (
    (b"cache-control", b"private, no-cache"),
    (b"vary", b"Authorization, Accept-Encoding"),
)
"""Headers of what a client may keep for itself, and must ask about before using it again."""

READ: Final = frozenset(
    (b"host", b"authorization", b"if-none-match", b"content-length", b"transfer-encoding")
)
"""Headers the service reads of every request."""


@dataclass(slots=True)
class Request:
    """What a client asks.

    Attributes:
        method: in capitals.
        path: percent-decoded, without the query string.
        query_string: as sent.
        headers: those the service reads, by their name in small letters.
        scope: what the server told of the request.
        told_by: makes a ``Sender`` of it, for the few requests of which more has to be known.
        disconnection: gives what ends when the client hangs up.
        user: whose token it carries, once that is known.
        parts: what stands in the parts of the path that vary, by their names.
    """

    method: str
    path: str
    query_string: bytes
    headers: dict[bytes, bytes]
    scope: Any
    told_by: Callable[[Any], Sender]
    disconnection: Disconnection
    user: User | None = None
    parts: dict[str, str] = field(default_factory=dict)

    @property
    def sender(self) -> Sender:
        """Whoever sent the request: tells the other headers, and where it comes from."""
        return self.told_by(self.scope)


@dataclass(slots=True)
class Response:
    """What a client gets; kept and sent many times, so not to be altered.

    Attributes:
        status: the HTTP status.
        headers: complete but for those every response has.
        body: what follows them, unless it is ``file``.
        file: holds the body of a large response.
        smaller: the same, compressed (``compression``); ``None`` if that was not made.
        text_headers: kept by a server interface that wants headers as text, once they are made.
    """

    status: int
    headers: Headers
    body: bytes = b""
    file: CachedFile | None = None
    smaller: "Response | None" = None
    text_headers: list[tuple[str, str]] | None = field(default=None, compare=False)

    @property
    def size(self) -> int:
        """Bytes of the body."""
        return self.file.size if self.file else len(self.body)

    def is_complete(self) -> bool:
        """Tell whether the body can be sent: its file may have been removed to make room."""
        whole = self.file is None or self.file.is_there()
        return whole and (self.smaller is None or self.smaller.is_complete())

    def header(self, name: bytes) -> bytes | None:
        """Return the value of a header, ``None`` if it is not there."""
        return next((value for other, value in self.headers if other == name), None)


def json_response(status: int, body: bytes, headers: Iterable[tuple[bytes, bytes]]) -> Response:
    """Return a response whose body is JSON in UTF-8."""
    return body_response(status, b"application/json", body, headers)


def body_response(
    status: int, media_type: bytes, body: bytes, headers: Iterable[tuple[bytes, bytes]]
) -> Response:
    """Return a response with a body."""
    content = ((b"content-type", media_type), (b"content-length", str(len(body)).encode()))
    return Response(status, (*content, *headers), body)


def etag(body: bytes) -> tuple[bytes, bytes]:
    """Return a validator for a body, as a header."""
    return b"etag", f'"{xxhash.xxh3_128_hexdigest(body)}"'.encode()


def not_modified(response: Response, if_none_match: bytes) -> Response | None:
    """Return a 304 in place of ``response`` if the client has it already (RFC 9110, 13.1.2)."""
    etag = response.header(b"etag")
    if etag is None:
        return None
    known = [tag.strip().removeprefix(b"W/") for tag in if_none_match.split(b",")]
    if etag not in known and known != [b"*"]:
        return None
    kept = ((name, value) for name, value in response.headers if not name.startswith(b"content-"))
    return Response(304, tuple(kept))
