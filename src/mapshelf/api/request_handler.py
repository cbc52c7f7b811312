"""Handles a request from the server's call to the response, with all checks in a fixed order.

The order is: the rules of HTTP, the route (404, 405), the token (401), its scope (403), the rate
limit (429), the body and the parameters (400), the map in the path (404). So a client without a
valid token cannot find out whether its parameters are valid or which maps exist. A request that is
refused for its token counts against the rate limit first, so it may get a 429 instead.

Under overload, requests that are not cached wait for their turn after these checks, or are refused
(``admission.py``).
"""

import asyncio
import itertools
import secrets
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final, TypeVar

from mapshelf.api import browser_sessions
from mapshelf.api.access_log import AccessLog
from mapshelf.api.admission import Admission
from mapshelf.api.auth import Authenticator
from mapshelf.api.compression import takes_gzip
from mapshelf.api.context import Context
from mapshelf.api.current_snapshot import CachedResponse
from mapshelf.api.errors import error_response, log_error
from mapshelf.api.http import (
    MAXIMUM_BODY,
    MAXIMUM_QUERY_STRING,
    Headers,
    Request,
    Response,
    not_modified,
)
from mapshelf.api.incoming import incoming_body
from mapshelf.api.measurements import CLIENT_GONE, Measurements
from mapshelf.api.rate_limits import Limit, RateLimits
from mapshelf.api.routes import READING, ErrorPage, Method, Route, Router
from mapshelf.api.streaming import LARGE_BODY
from mapshelf.api.tracing import CarriedNames
from mapshelf.client_address import Sender
from mapshelf.errors import (
    AddressTooLong,
    BodyTooLarge,
    ClientDisconnected,
    InsufficientScope,
    InvalidToken,
    MethodNotAllowed,
    UnknownPath,
)
from mapshelf.metrics.counts import BOUNDS, OperationCounts
from mapshelf.model import Credential

if TYPE_CHECKING:
    from mapshelf.api.spans import Spans

T = TypeVar("T")

MOST_DRAINED: Final = 32
"""How many bodies of one owner are received at a time only to be discarded. Beyond that, its
connections are closed, although the client may not learn why."""

CROWDED_AFTER: Final = 0.01
"""Delay of the marker in seconds that counts as overload."""

CALM_FOR: Final = 0.002
"""Seconds until the next marker if the last one was not delayed."""


class RequestHandler:
    """Handles requests.

    Attributes:
        router: the operations.
        admission: makes requests wait or refuses them under overload.
        authenticator: knows the tokens, ``None`` until the store is open.
        looks_closely: whether each request is noted, so that none may be answered without reading.
    """

    def __init__(
        self, context: Context, router: Router, limits: RateLimits, measurements: Measurements
    ) -> None:
        """Use the operations of ``router``."""
        self._context = context
        self._snapshot = context.snapshot
        self.router = router
        self._limits = limits
        self._measurements = measurements
        self._request_ids = _request_ids()
        trusted = context.settings.trusted_proxies
        self._carried = CarriedNames(trusted) if trusted else None
        self._access_log = AccessLog(trusted) if context.settings.access_log else None
        self._spans = _spans() if context.settings.opentelemetry else None
        self.looks_closely = self._access_log is not None or self._spans is not None
        self.admission = Admission()
        self._delay = _RequestDelay()
        self._draining: Counter[Hashable] = Counter()
        self.authenticator: Authenticator | None = None

    def begin(self, authenticator: Authenticator) -> None:
        """Use ``authenticator`` from now on: the store is open."""
        self.authenticator = authenticator

    def close(self) -> None:
        """Send the remaining spans."""
        if self._spans is not None:
            self._spans.close()

    async def answer(self, read: Callable[[T], Request], asked: T) -> tuple[Response, Headers]:
        """Return the response to a request, and the headers of this response only.

        Args:
            read: converts ``asked`` into a ``Request``; its errors are handled like any others.
            asked: the request in the format of the server interface.
        """
        began = perf_counter()
        request_id = next(self._request_ids)
        request, status = None, 0
        try:
            request = read(asked)
            request.find_owner = self._context.owners.of
            if self._carried is not None:
                carried, request.traceparent = self._carried.names(request.sender)
                request_id = carried or request_id
            if request.headers.get(b"content-length", b"0") != b"0" or (
                b"transfer-encoding" in request.headers
            ):
                request.body = incoming_body(request.headers, request.pieces)
            response = await self._respond(request)
        except Exception as error:
            # The boundary: whatever happens, the client gets a response.
            response = await self._refusal(error, request, request_id)
            if isinstance(error, ClientDisconnected):
                status = CLIENT_GONE
        if request is not None:
            request.check_again = None  # it refers to the request: cycles stay in memory for long
        took = perf_counter() - began
        self._count(request, status or response.status, took)
        if self._access_log is not None:
            self._access_log.note(request, response, took, request_id)
        own = _own_headers(request, request_id)
        if request is not None and not request.shared:
            response = replace(response, shared=False)
        if request is None or request.body is None or request.body.is_read():
            return response, own
        if not await self._leaves_body_unread(request):
            return response, own
        # The start of the next request on this connection is unknown.
        return response, (*own, (b"connection", b"close"))

    def names(self, scope: T, make_sender: Callable[[T], Sender]) -> tuple[str, bytes]:
        """Return the id for a request, and the traceparent from a trusted proxy, or nothing."""
        carried, traceparent = (
            self._carried.names(make_sender(scope)) if self._carried else ("", b"")
        )
        return carried or next(self._request_ids), traceparent

    def drains_much_of(self, owner: Hashable) -> bool:
        """Return whether many refused requests of an owner wait for the end of their bodies."""
        return self._draining[owner] >= MOST_DRAINED

    def cached_response(self, path: str, query_string: bytes) -> CachedResponse | None:
        """Return the response to an earlier ``GET`` if it can be sent again unchanged.

        It can be sent to every client whose token has its scope (``CachedResponse.for_user``), if
        the request has no header that the service reads except Host. ``None`` implies nothing about
        the response: call ``answer``.
        """
        snapshot = None if self.looks_closely else self._snapshot.in_use
        cached = snapshot and snapshot.response_under((path, query_string))
        return cached if cached and cached.counts else None

    async def _leaves_body_unread(self, request: Request) -> bool:
        owner = request.owner()
        if self.drains_much_of(owner):
            return True
        self._draining[owner] += 1
        try:
            return await request.leaves_body_unread()
        finally:
            self._draining[owner] -= 1
            if not self._draining[owner]:
                del self._draining[owner]

    async def _respond(self, request: Request) -> Response:
        route = self._route(request)
        request.shared, request.outages_as_text = route.shared, route.outages_as_text
        method = route.methods.get(request.method)
        if method is None:
            if request.method == "OPTIONS":
                return route.preflight
            raise MethodNotAllowed(route.allowed)
        request.counts = route.counts[request.method]
        request.takes = method.body
        limit = route.limits.get(request.method)
        if method.scope is not None:
            found = await self._credential(request, method.scope, limit)
            request.user, request.token, request.credential = found.user, found.token.id, found
            if request.body is not None:
                request.check_again = partial(self._credential, request, method.scope, None)
        if limit is not None:
            self._limits.count(limit, request)
        _check_size(request)
        if request.body is not None and request.takes is None:
            await request.body.discard(MAXIMUM_BODY)
        response = self._cached(request, method, limit) if method.cached else None
        if response is None:
            response = await self._made(request, method)
        compressed = response.compressed
        if compressed is not None and takes_gzip(request.sender.header(b"accept-encoding")):
            response = compressed
        if_none_match = request.headers.get(b"if-none-match")
        if if_none_match is None or request.method not in READING:
            return response
        return not_modified(response, if_none_match) or response

    async def _made(self, request: Request, method: Method) -> Response:
        """Return the response of an operation, unless what may read it ended long before."""
        began = perf_counter()
        # A cached response is cheaper than a refusal, and monitoring must see that the service is
        # alive.
        crowded = self.admission.is_giving or self._delay.is_long()
        if crowded and method.budget is not None:
            await self.admission.turn(request.owner)
        response = await method.answer(self._context, request)
        # As ``is_late`` does, without a call: each request of a program passes here.
        late = perf_counter() - began > browser_sessions.LATE_AFTER
        if late and method.scope is not None and request.method in READING:
            await self._credential(request, method.scope, None)
        return response

    def _cached(self, request: Request, method: Method, limit: Limit | None) -> Response | None:
        cached = self._snapshot.get().response_under((request.path, request.query_string))
        response = cached.for_user(request.user) if cached else None
        if cached is None or response is None:
            return None
        if limit is None and request.shared and cached.counts is None and _is_plain(response):
            cached.counts, cached.scope = request.counts, method.scope
        return response

    async def _refusal(
        self, error: Exception, request: Request | None, request_id: str
    ) -> Response:
        """Return the response to a failed request: an error page for people, JSON for programs."""
        self._measurements.note_error(error)
        gone = isinstance(error, ClientDisconnected)
        show = self._error_page(request) if request and not gone else None
        traceparent = request.traceparent if request else b""
        if request is None or show is None:
            as_text = request is not None and request.outages_as_text
            return error_response(error, request_id, traceparent, outages_as_text=as_text)
        log_error(error, request_id, traceparent)
        request.shared = False
        try:
            return await show(error)
        except Exception as failure:
            return error_response(failure, request_id, traceparent)

    def _error_page(self, request: Request) -> ErrorPage | None:
        try:
            return self._route(request).error_page
        except UnknownPath:
            home = self.router.fixed.get("/")
            return home.error_page if home and request.is_navigation else None

    def _route(self, request: Request) -> Route:
        route = self.router.fixed.get(request.path)
        if route is None:
            route, request.parts = self.router.find(request.path)
        if route is None:
            raise UnknownPath("There is nothing at this address.")
        return route

    def _count(self, request: Request | None, status: int, seconds: float) -> None:
        other = self._measurements.other
        counts = (request and request.counts) or other
        count(counts, status, seconds)
        if self._spans is not None:
            route = "" if counts is other else counts.name.partition(" ")[2]
            method, traceparent = (request.method, request.traceparent) if request else ("", b"")
            self._spans.note(method, route, status, seconds, traceparent)

    async def _credential(self, request: Request, scope: str, limit: Limit | None) -> Credential:
        header = request.headers.get(b"authorization")
        try:
            if header is None:
                return await self._context.sessions.credential_of_page(request, scope)
            if self.authenticator is None:
                await self._context.sessions.authenticator()
            assert self.authenticator is not None
            return await self.authenticator.credential(header, scope)
        except (InvalidToken, InsufficientScope):
            if limit is not None:
                self._limits.count(limit, request)
            raise


def count(counts: OperationCounts, status: int, seconds: float) -> None:
    """Count a request. This runs for each request, and takes a quarter of a microsecond."""
    statuses = counts.statuses
    if status in statuses:
        statuses[status] += 1
    else:
        statuses[status] = 1
    counts.buckets[bisect_left(BOUNDS, seconds)] += 1
    counts.seconds += seconds


class _RequestDelay:
    """Measures how long requests wait in the event loop, with a marker that waits among them."""

    def __init__(self) -> None:
        self._calm_until = 0.0
        self._marked = 0.0

    def is_long(self) -> bool:
        """Return whether requests are noticeably delayed."""
        now = perf_counter()
        if now < self._calm_until:
            return False
        if not self._marked:
            self._marked = now
            asyncio.get_running_loop().call_soon(self._end_mark)
            return False
        return now - self._marked > CROWDED_AFTER

    def _end_mark(self) -> None:
        now = perf_counter()
        if now - self._marked < CROWDED_AFTER:
            self._calm_until = now + CALM_FOR
        self._marked = 0.0


def _spans() -> "Spans":
    from mapshelf.api.spans import Spans  # noqa: PLC0415 - its packages are an extra

    return Spans()


def _is_plain(response: Response) -> bool:
    """Return whether a response is small, and the same however a client requests it."""
    return response.compressed is None and response.file is None and len(response.body) < LARGE_BODY


def _own_headers(request: Request | None, request_id: str) -> Headers:
    """Return the headers of one response only."""
    own: Headers = ((b"x-request-id", request_id.encode()),)
    if request is not None and request.limited:
        own = (*own, *request.limited)
    if request is not None and request.traceparent:
        own = (*own, (b"traceparent", request.traceparent))
    return own


def _check_size(request: Request) -> None:
    """Reject a request that is larger than any valid one.

    Raises:
        AddressTooLong: the query string is longer than ``MAXIMUM_QUERY_STRING``.
        BodyTooLarge: it declares a body larger than ``MAXIMUM_BODY``, for an operation that accepts
            none. For others, see ``bodies.py``.
    """
    if len(request.query_string) > MAXIMUM_QUERY_STRING:
        raise AddressTooLong(f"The query string must be at most {MAXIMUM_QUERY_STRING} bytes long.")
    length = request.headers.get(b"content-length")
    if (
        length
        and request.takes is None
        and (not length.isdigit() or int(length[:20]) > MAXIMUM_BODY)
    ):
        raise BodyTooLarge("This operation takes no request body.")


def _request_ids() -> Iterator[str]:
    """Return ids that are unique among workers: a random prefix and a count."""
    return map(f"{secrets.token_hex(6)}-{{:x}}".format, itertools.count(1))
