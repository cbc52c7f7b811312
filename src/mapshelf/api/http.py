"""A request and a response, as little of them as the service needs.

Written by hand although frameworks do this well: an answer takes a few microseconds, and the
Request and Response objects of a framework, made anew for each, would take longer than that.
"""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from mapshelf.api.work_queue import Disconnection
from mapshelf.disk_cache import CachedFile
from mapshelf.errors import AddressTooLong, BodyTooLarge, MalformedRequest
from mapshelf.visits import Sender

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers = tuple[tuple[bytes, bytes], ...]

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


class ASGISender:
    """Who sent a request, as an ASGI server tells; looked up for the few that are asked about."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def header(self, name: bytes) -> bytes:
        """See ``Sender``."""
        return b", ".join(value for other, value in self._scope["headers"] if other == name)

    def address(self) -> str:
        """See ``Sender``."""
        client = self._scope.get("client")
        return str(client[0]) if client else ""


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
        parts: what stands in the parts of the path that vary, by their names.
    """

    method: str
    path: str
    query_string: bytes
    headers: dict[bytes, bytes]
    scope: Any
    told_by: Callable[[Any], Sender]
    disconnection: Disconnection
    parts: dict[str, str] = field(default_factory=dict)

    @property
    def sender(self) -> Sender:
        """Whoever sent the request: tells the other headers, and where it comes from."""
        return self.told_by(self.scope)

    def check_size(self) -> None:
        """Refuse a request that is larger than any of ours.

        Raises:
            AddressTooLong: the query string is over ``MAXIMUM_QUERY_STRING``.
            BodyTooLarge: a body over ``MAXIMUM_BODY`` is announced.
        """
        if len(self.query_string) > MAXIMUM_QUERY_STRING:
            raise AddressTooLong(
                f"The query string must be at most {MAXIMUM_QUERY_STRING} bytes long."
            )
        length = self.headers.get(b"content-length")
        if length and (not length.isdigit() or int(length[:20]) > MAXIMUM_BODY):
            raise BodyTooLarge("This operation takes no request body.")

    def check_host(self, http_version: str) -> None:
        """Refuse a request that does not say which host it asks, where HTTP wants that.

        Raises:
            MalformedRequest: it does not.
        """
        # Granian passes on a missing Host header as an empty one.
        if http_version == "1.1" and not self.headers.get(b"host"):
            raise MalformedRequest("The Host header is missing.")

    def closing(self) -> Headers:
        """Return what tells the client that the connection ends with the answer, if it does.

        A body that nobody reads stands in the way of the next request, so servers hang up.
        """
        length = self.headers.get(b"content-length", b"0")
        if length == b"0" and b"transfer-encoding" not in self.headers:
            return ()
        return ((b"connection", b"close"),)


@dataclass(slots=True)
class Response:
    """What a client gets; kept and sent many times, so not to be altered.

    Attributes:
        status: the HTTP status.
        headers: complete but for those every response has.
        body: what follows them, unless it is ``file``.
        file: holds the body of a large response.
        smaller: the same, compressed (``packing``); ``None`` if that was not made.
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


def read_request(asked: tuple[Scope, Receive]) -> Request:
    """Return the request in an ASGI scope, with what receives further messages about it.

    Raises:
        MalformedRequest: there is no Host header, or more than one.
    """
    scope, receive = asked
    headers: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in READ:
            take_header(headers, name, value)
    target = scope["method"], scope["path"], scope["query_string"]
    request = Request(*target, headers, scope, ASGISender, partial(_disconnection, receive))
    request.check_host(scope["http_version"])
    return request


async def _disconnection(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass  # a body that nobody reads


def take_header(headers: dict[bytes, bytes], name: bytes, value: bytes) -> None:
    """Add a header to ``headers``; of one that is repeated the values form a list (RFC 9110, 5.3).

    Raises:
        MalformedRequest: it is a second Host.
    """
    if name in headers:
        if name == b"host":
            raise MalformedRequest("The Host header is there twice.")
        value = headers[name] + b", " + value
    headers[name] = value


def json_response(status: int, body: bytes, headers: Iterable[tuple[bytes, bytes]]) -> Response:
    """Return a response whose body is JSON in UTF-8."""
    return body_response(status, b"application/json", body, headers)


def body_response(
    status: int, media_type: bytes, body: bytes, headers: Iterable[tuple[bytes, bytes]]
) -> Response:
    """Return a response with a body."""
    content = ((b"content-type", media_type), (b"content-length", str(len(body)).encode()))
    return Response(status, (*content, *headers), body)


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
