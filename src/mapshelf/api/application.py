"""The application: the order in which a request is checked, and what starts and stops with it.

A request is checked in this order: the rules of HTTP, the routes (404, 405), the token (401), its
scope (403), the rate limit (429), the body and the parameters (400), the map in the path (404). A
client without a valid token therefore cannot find out whether its parameters are valid or which
maps exist.
"""

import asyncio
import contextlib
import itertools
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from mapshelf.api.access_log import AccessLog
from mapshelf.api.admission import Admission
from mapshelf.api.auth import Authenticator
from mapshelf.api.compression import takes_gzip
from mapshelf.api.context import address_of, make_context
from mapshelf.api.cors import fixed_headers
from mapshelf.api.current_snapshot import Kept
from mapshelf.api.errors import error_response, log_error
from mapshelf.api.http import (
    MAXIMUM_BODY,
    MAXIMUM_QUERY_STRING,
    Headers,
    Request,
    Response,
    not_modified,
)
from mapshelf.api.incoming import incoming_body, is_left
from mapshelf.api.measurements import CLIENT_GONE, Measurements
from mapshelf.api.oauth import oauth_routes
from mapshelf.api.operations import api_routes
from mapshelf.api.rate_limits import Limit, RateLimits
from mapshelf.api.routes import READING, ErrorPage, Method, PageRoutes, Route, Router
from mapshelf.api.streaming import LARGE_BODY, Stream, Streams
from mapshelf.api.tracing import CarriedNames
from mapshelf.api.withdrawals import Withdrawals
from mapshelf.clock import milliseconds
from mapshelf.errors import (
    AddressTooLong,
    BodyTooLarge,
    ClientDisconnected,
    InsufficientScope,
    InvalidToken,
    MethodNotAllowed,
    StoreError,
    UnknownPath,
)
from mapshelf.model import Credential
from mapshelf.settings import Budget, Settings
from mapshelf.store import Store
from mapshelf.visits import Sender

if TYPE_CHECKING:
    from mapshelf.api.spans import Spans

T = TypeVar("T")


class Application:
    """The service for one store and one directory of snapshots.

    Attributes:
        context: the objects that operations use.
        fixed_headers: the headers of every response, whatever it is.
        measurements: what this worker counts.
    """

    def __init__(
        self,
        settings: Settings,
        pages: PageRoutes | None = None,
        clock: Callable[[], int] = milliseconds,
    ) -> None:
        """Prepare the service.

        Args:
            settings: how this installation runs.
            pages: the pages to serve in addition to the API, if any.
            clock: the clock for counting visits, in milliseconds since 1970-01-01 UTC.
        """
        self._settings = settings
        counting = settings.counting and pages is not None
        self.context = make_context(settings, clock, counting=counting)
        self._snapshot = self.context.snapshot
        own = pages(self.context) if pages else {}
        oauth = oauth_routes(self.context)
        routes = {**api_routes(private=settings.private), **oauth, **own}
        self._router = Router(routes)
        self._limits = RateLimits(settings, routes.values())
        self.measurements = Measurements(
            settings.counts, routes, self.context.queues, self._limits.refused
        )
        self.fixed_headers = fixed_headers(
            settings.cors_origin, limited=Budget.API in settings.rate_limits
        )
        self._request_ids = _request_ids()
        trusted = settings.trusted_proxies
        self._carried = CarriedNames(trusted) if trusted else None
        self._access_log = AccessLog(trusted) if settings.access_log else None
        self._withdrawals = Withdrawals(self._snapshot, settings.last_withdrawal)
        self._spans = _spans() if settings.opentelemetry else None
        self._noted = any(one is not None for one in (self._carried, self._access_log, self._spans))
        self._admission = Admission()
        self._streams = Streams()
        self._authenticator: Authenticator | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Prepare, open the store and the snapshot, and begin to follow published snapshots."""
        await asyncio.gather(
            self._snapshot.begin(),
            asyncio.to_thread(self.context.prepare),
            asyncio.to_thread(self.measurements.start),
        )
        self._tasks.append(asyncio.create_task(self.measurements.follow()))
        self._tasks.append(asyncio.create_task(self._snapshot.follow()))
        self._tasks.append(await self.context.store.start(self._store_opened))

    async def stop(self) -> None:
        """Finish background work and close the store."""
        context = self.context
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, StoreError):
                await task
        context.render_worker.close()
        context.image_worker.close()
        context.formula_worker.close()
        context.upload_reader.close()
        context.documents.close()
        await context.queues.close()
        await context.bodies.close()
        await asyncio.to_thread(self._snapshot.close)
        await context.visits.stop()
        if self._authenticator:
            await asyncio.to_thread(self._authenticator.write_use)
        context.store.close()
        await asyncio.to_thread(self.measurements.stop)
        if self._spans is not None:
            await asyncio.to_thread(self._spans.close)
        self._limits.close()

    def sending(self, sender: Sender) -> AbstractContextManager[Stream]:
        """Count a large body as being sent to a client while in the context.

        Raises:
            Overloaded: there are too many already.
        """
        return self._streams.sending(address_of(self._settings.trusted_proxies, sender))

    async def answer(self, read: Callable[[T], Request], asked: T) -> tuple[Response, Headers]:
        """Return the response to a request, and the headers of this response only.

        Args:
            read: makes a ``Request`` of ``asked``; its errors are answered like any others.
            asked: the request, as the interface of the server passes it.
        """
        began = perf_counter()
        request_id = next(self._request_ids)
        request, status = None, 0
        try:
            request = read(asked)
            if self._carried is not None:
                carried, request.traceparent = self._carried.names(request.sender)
                request_id = carried or request_id
            if request.headers.get(b"content-length", b"0") != b"0" or (
                b"transfer-encoding" in request.headers
            ):
                request.body = incoming_body(request)
            response = await self._respond(request)
        except Exception as error:
            # The boundary: whatever happened, the client gets a response.
            response = await self._refusal(error, request, request_id)
            if isinstance(error, ClientDisconnected):
                status = CLIENT_GONE
        took = perf_counter() - began
        self._count(request, status or response.status, took)
        if self._access_log is not None:
            self._access_log.note(request, response, took, request_id)
        own: Headers = ((b"x-request-id", request_id.encode()),)
        if request is not None and request.limited:
            own = (*own, *request.limited)
        if request is not None and request.traceparent:
            own = (*own, (b"traceparent", request.traceparent))
        if request is not None and not request.shared:
            response = replace(response, shared=False)
        if request is None or request.body is None or not await is_left(request):
            return response, own
        # The next request on this connection could not be found.
        return response, (*own, (b"connection", b"close"))

    def kept(self, path: str, query_string: bytes) -> Kept | None:
        """Return the response to an earlier ``GET`` if it can be sent again as it is.

        That is so for whoever is admitted (``admits``), if the request has no other header that
        the service reads but Host. If the result is ``None``, nothing is said about the response:
        see ``answer``.
        """
        kept = None if self._noted else self._snapshot.kept(path, query_string)
        return kept if kept is not None and kept.counts is not None else None

    def admits(self, authorization: bytes, kept: Kept) -> bool:
        """Tell whether an Authorization header is known to admit to a response; it may be empty."""
        if kept.scope is None:
            return True
        return self._authenticator is not None and self._authenticator.allows(
            authorization, kept.scope
        )

    def request_id(self) -> str:
        """Return the name of a new request."""
        return next(self._request_ids)

    async def _respond(self, request: Request) -> Response:
        route = self._route(request)
        request.shared = route.shared
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
            request.user, request.token = found.user, found.token.id
        if limit is not None:
            self._limits.count(limit, request)
        _check_size(request)
        response = self._cached(request, method, limit) if method.cached else None
        if response is None:
            # What is cached takes less than to refuse it. Who watches over the service is to know
            # that it lives.
            if self._admission.is_crowded() and method.budget is not None:
                await self._admission.turn()
            response = await method.answer(self.context, request)
        if response.smaller is not None and takes_gzip(request.sender.header(b"accept-encoding")):
            response = response.smaller
        if_none_match = request.headers.get(b"if-none-match")
        if if_none_match is None or request.method not in READING:
            return response
        return not_modified(response, if_none_match) or response

    def _cached(self, request: Request, method: Method, limit: Limit | None) -> Response | None:
        kept = self._snapshot.get().kept((request.path, request.query_string))
        if kept is None:
            return None
        if limit is None and request.shared and kept.counts is None and _is_plain(kept.response):
            kept.counts, kept.scope = request.counts, method.scope
        return kept.response

    async def _refusal(
        self, error: Exception, request: Request | None, request_id: str
    ) -> Response:
        """Return the response to a request that failed: a page where people expect one."""
        self.measurements.note_error(error)
        show = self._error_page(request) if request else None
        traceparent = request.traceparent if request else b""
        if show is None:
            return error_response(error, request_id, traceparent)
        log_error(error, request_id, traceparent)
        if request:
            request.shared = False
        try:
            return await show(error)
        except Exception as failure:
            return error_response(failure, request_id, traceparent)

    def _error_page(self, request: Request) -> ErrorPage | None:
        try:
            return self._route(request).error_page
        except UnknownPath:
            home = self._router.fixed.get("/")
            return home.error_page if home and _is_navigation(request) else None

    def _route(self, request: Request) -> Route:
        route = self._router.fixed.get(request.path)
        if route is not None:
            return route
        found = self._router.match(request.path)
        if found is None:
            raise UnknownPath("There is nothing at this address.")
        route, request.parts = found
        return route

    async def _credential(self, request: Request, scope: str, limit: Limit | None) -> Credential:
        header = request.headers.get(b"authorization")
        try:
            if header is None:
                return await self.context.people.credential_of_page(request, scope)
            if self._authenticator is None:
                await self.context.people.authenticator()
            assert self._authenticator is not None
            return await self._authenticator.credential(header, scope)
        except (InvalidToken, InsufficientScope):
            if limit is not None:
                self._limits.count(limit, request)
            raise

    def _count(self, request: Request | None, status: int, seconds: float) -> None:
        counts = (request and request.counts) or self.measurements.other
        counts.note(status, seconds)
        if self._spans is not None:
            route = "" if counts is self.measurements.other else counts.name.partition(" ")[2]
            method, traceparent = (request.method, request.traceparent) if request else ("", b"")
            self._spans.note(method, route, status, seconds, traceparent)

    async def _store_opened(self, store: Store) -> None:
        self._authenticator = Authenticator(store, self._settings.tokens_version)
        self.measurements.lookups = self._authenticator.lookups
        self.context.people.begin(self._authenticator)
        self._tasks.append(asyncio.create_task(self._authenticator.note_use()))
        self._tasks.append(asyncio.create_task(self._withdrawals.follow(store)))
        self._tasks.append(asyncio.create_task(self.context.visits.follow()))
        await self.context.visits.begun()


def _spans() -> "Spans":
    from mapshelf.api.spans import Spans  # noqa: PLC0415 - its packages are an extra

    return Spans()


def _is_plain(response: Response) -> bool:
    """Tell whether a response is the same bytes for every client, and small."""
    return response.smaller is None and response.file is None and len(response.body) < LARGE_BODY


def _is_navigation(request: Request) -> bool:
    """Tell whether a person is to see the response: a page is asked for, and no JSON.

    Programs in Java ask for a page, too, unless they are told otherwise, and for ``*``.
    """
    accepted = request.sender.header(b"accept").lower()
    kinds = {kind.partition(b";")[0].strip() for kind in accepted.split(b",")}
    return b"text/html" in kinds and not kinds & {b"application/json", b"*"}


def _check_size(request: Request) -> None:
    """Refuse a request that is larger than any valid one.

    Raises:
        AddressTooLong: the query string is longer than ``MAXIMUM_QUERY_STRING``.
        BodyTooLarge: it declares a body larger than ``MAXIMUM_BODY``, for an operation that takes
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
    """Yield ids that are unique among workers: a random prefix and a count."""
    beginning = secrets.token_hex(6)
    return (f"{beginning}-{number:x}" for number in itertools.count(1))
