"""Minimal request and response types.

They do not come from a framework, because making a response takes a few microseconds, and creating
the Request and Response objects of a framework would take longer.
"""

from collections.abc import Awaitable, Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

import xxhash

from mapshelf.api.incoming import IncomingBody, Pieces
from mapshelf.api.work_queue import Disconnection
from mapshelf.cached_file import CachedFile
from mapshelf.client_address import Sender
from mapshelf.metrics.counts import OperationCounts
from mapshelf.model import Credential, User

Headers = tuple[tuple[bytes, bytes], ...]

MAXIMUM_QUERY_STRING: Final = 8192
"""Maximum bytes of a query string; valid ones are far shorter."""

MAXIMUM_BODY: Final = 65_536
"""Maximum size in bytes of an ignored body: some clients always send one."""

CHECKED_EACH_TIME: Final[Headers] = (
    (b"cache-control", b"private, no-cache"),
    (b"vary", b"Authorization, Accept-Encoding"),
)
"""Headers of responses that only the client may cache, and must revalidate before each use."""

NO_STORE: Final[Headers] = ((b"cache-control", b"no-store"),)
"""Headers of responses that nobody may cache."""

READ: Final = frozenset(
    (b"host", b"authorization", b"if-none-match", b"content-length", b"transfer-encoding")
)
"""Request headers that the service reads."""


@dataclass(frozen=True, slots=True)
class BodyRule:
    """The body that an operation accepts.

    Attributes:
        most: maximum size in bytes.
        media_types: the accepted media types.
    """

    most: int
    media_types: tuple[str, ...]


@dataclass(slots=True)
class Request:
    """A request of a client.

    Attributes:
        method: in upper case.
        path: percent-decoded, without the query string.
        query_string: as sent.
        headers: those the service reads, by name in lower case.
        scope: the request, as the server passed it.
        make_sender: makes a ``Sender`` of ``scope``, for the few requests that need one.
        disconnection: returns an awaitable that ends when the client disconnects.
        pieces: returns the pieces of the body.
        find_owner: returns whose work the request causes (``owners``).
        user: the owner of the token, once it is known.
        token: the number of the token that authenticated the request, 0 without one.
        credential: the token or session that authorises what the request changes, if any. Whoever
            reads the session of a request sets it (``BrowserSessions.session``).
        check_again: repeats the check of the credential; called once the body has arrived.
        parts: the values of the variable parts of the path, by name.
        takes: the rule for the body, if the operation accepts one.
        body: the body, if there is one.
        shared: whether pages of other origins may read the response.
        outages_as_text: whether an error that passes is text instead of an Error object.
        counts: the counters of this operation, once it is known.
        traceparent: the traceparent from a trusted proxy (``tracing``), empty if there is none.
        limited: response headers that report the state of a rate limit.
    """

    method: str
    path: str
    query_string: bytes
    headers: dict[bytes, bytes]
    scope: Any
    make_sender: Callable[[Any], Sender]
    disconnection: Disconnection
    pieces: Pieces
    find_owner: "Callable[[Request], Hashable]" = field(
        default=lambda request: request.sender.address()
    )
    user: User | None = None
    token: int = 0
    credential: Credential | None = None
    check_again: Callable[[], Awaitable[object]] | None = None
    parts: dict[str, str] = field(default_factory=dict)
    takes: BodyRule | None = None
    body: IncomingBody | None = None
    shared: bool = True
    outages_as_text: bool = False
    counts: OperationCounts | None = None
    traceparent: bytes = b""
    limited: Headers = ()

    @property
    def sender(self) -> Sender:
        """The client that sent the request, with its other headers and its address."""
        return self.make_sender(self.scope)

    def owner(self) -> Hashable:
        """Return whose work this request causes, for the work queues (``owners.Owner``)."""
        return self.find_owner(self)

    @property
    def is_navigation(self) -> bool:
        """Whether a person will see the response: the client accepts HTML, but not JSON.

        Java's default Accept header includes HTML, too, but also ``*``.
        """
        accepted = self.sender.header(b"accept").lower()
        kinds = {kind.partition(b";")[0].strip() for kind in accepted.split(b",")}
        return b"text/html" in kinds and not kinds & {b"application/json", b"*"}

    async def leaves_body_unread(self) -> bool:
        """Return whether part of the body stays unread, after receiving it if that is sensible."""
        if self.body is None or self.body.is_read():
            return False
        # A client that waits for ``100 Continue`` has not sent its body yet, and need not.
        if self.takes is None or self.sender.header(b"expect"):
            return True
        return not await self.body.drain()


@dataclass(slots=True)
class Response:
    """A response to a client; cached and sent many times, so it must not be changed.

    Attributes:
        status: the HTTP status.
        headers: all headers except the fixed ones.
        body: the body, unless it is in ``file``.
        file: the file with the body of a large response.
        provisional: whether a later response may be better, so that this one must not be cached.
        compressed: the same response, compressed (``compression``), if there is one.
        shared: whether pages of other origins may read it.
        text_headers: the headers as text, cached by a server interface that needs them.
    """

    status: int
    headers: Headers
    body: bytes = b""
    file: CachedFile | None = None
    compressed: "Response | None" = None
    provisional: bool = False
    shared: bool = True
    text_headers: list[tuple[str, str]] | None = field(default=None, compare=False)

    @property
    def size(self) -> int:
        """Size of the body in bytes."""
        return self.file.size if self.file else len(self.body)

    def is_complete(self) -> bool:
        """Return whether the body can be sent: its file may have been evicted."""
        whole = self.file is None or self.file.is_there()
        return whole and (self.compressed is None or self.compressed.is_complete())

    def header(self, name: bytes) -> bytes | None:
        """Return the value of a header, ``None`` if it is missing."""
        return next((value for other, value in self.headers if other == name), None)


MISSING_PICTURES: Final = b"x-missing-pictures"
"""Header with the number of pictures that are missing in an exported file."""


def provisional(response: Response) -> Response:
    """Return ``response`` marked as not cacheable, because a later one may be better."""
    kept = [one for one in response.headers if one[0] not in (b"cache-control", b"etag")]
    headers = (*kept, *NO_STORE)
    return replace(response, headers=headers, provisional=True, compressed=None)


def with_missing_pictures(response: Response, missing: int) -> Response:
    """Return ``response`` with a header that counts missing pictures, if there are any."""
    if not missing:
        return response
    told = (MISSING_PICTURES, str(missing).encode())
    compressed = response.compressed and with_missing_pictures(response.compressed, missing)
    return replace(response, headers=(*response.headers, told), compressed=compressed)


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
    """Return the ETag header for a body."""
    return b"etag", f'"{xxhash.xxh3_128_hexdigest(body)}"'.encode()


def not_modified(response: Response, if_none_match: bytes) -> Response | None:
    """Return a 304 in place of ``response`` if the client has the same ETag (RFC 9110, 13.1.2)."""
    etag = response.header(b"etag")
    if etag is None:
        return None
    known = [tag.strip().removeprefix(b"W/") for tag in if_none_match.split(b",")]
    if etag not in known and known != [b"*"]:
        return None
    kept = ((name, value) for name, value in response.headers if not name.startswith(b"content-"))
    return Response(304, tuple(kept))
