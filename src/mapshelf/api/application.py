"""The application: the order in which a request is checked, and what starts and stops with it.

A request meets, in this order: the rules of HTTP, the routes (404, 405), the token (401), the
parameters (400) or the map that the path names (404). Whoever has no valid token learns nothing
about its parameters, nor which maps there are.
"""

import asyncio
import contextlib
import itertools
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TypeVar

from mapshelf.api.auth import Authenticator
from mapshelf.api.compression import takes_gzip
from mapshelf.api.context import make_context
from mapshelf.api.cors import PREFLIGHT, fixed_headers
from mapshelf.api.errors import error_response
from mapshelf.api.http import (
    MAXIMUM_BODY,
    MAXIMUM_QUERY_STRING,
    METHODS,
    Headers,
    Request,
    Response,
    not_modified,
)
from mapshelf.api.operations import api_routes
from mapshelf.api.routes import PageRoutes, Route, Router
from mapshelf.api.streaming import Stream, Streams
from mapshelf.clock import milliseconds
from mapshelf.errors import (
    AddressTooLong,
    BodyTooLarge,
    MethodNotAllowed,
    StoreError,
    StoreUnavailable,
    UnknownPath,
)
from mapshelf.model import User
from mapshelf.settings import Settings
from mapshelf.store import Store
from mapshelf.visits import Sender
from mapshelf.visits.visitor_key import client_address

T = TypeVar("T")


class Application:
    """The service over one store and one directory of snapshots.

    Attributes:
        context: its parts, with which operations answer.
        fixed_headers: the headers that every response has.
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
            pages: the pages besides the API, if there are to be any.
            clock: by which visits are counted, in milliseconds since 1970-01-01 UTC.
        """
        self._settings = settings
        counting = settings.counting and not settings.private and pages is not None
        self.context = make_context(settings, clock, counting=counting)
        self._snapshot = self.context.snapshot
        own = pages(self.context) if pages else {}
        self._router = Router({**api_routes(private=settings.private), **own})
        self.fixed_headers = fixed_headers(settings.cors_origin)
        self._request_ids = _request_ids()
        self._streams = Streams()
        self._authenticator: Authenticator | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Open store and snapshot, and begin to follow what is published."""
        await self._snapshot.begin()
        self._tasks.append(asyncio.create_task(self._snapshot.follow()))
        self._tasks.append(await self.context.store.start(self._store_opened))

    async def stop(self) -> None:
        """Finish what runs in the background and close the store."""
        context = self.context
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, StoreError):
                await task
        context.render_worker.close()
        context.documents.close()
        await context.queues.close()
        await asyncio.to_thread(self._snapshot.close)
        await context.visits.stop()
        if self._authenticator:
            await asyncio.to_thread(self._authenticator.write_use)
        context.store.close()

    def sending(self, sender: Sender) -> AbstractContextManager[Stream]:
        """Count a large body that is sent to a client while in the context.

        Raises:
            Overloaded: there are too many already.
        """
        forwarded = sender.header(b"x-forwarded-for")
        return self._streams.sending(
            client_address(sender.address(), forwarded, self._settings.trusted_proxies)
        )

    async def answer(self, read: Callable[[T], Request], asked: T) -> tuple[Response, Headers]:
        """Return the answer to a request, and the headers that are of this answer alone.

        Args:
            read: makes a request of ``asked``; what it raises is answered like any error.
            asked: the request as the server's interface gives it.
        """
        request_id = next(self._request_ids)
        closing: Headers = ()
        try:
            request = read(asked)
            if request.headers.get(b"content-length", b"0") != b"0" or (
                b"transfer-encoding" in request.headers
            ):
                # Nobody reads the body, so it stands in the way of the next request.
                closing = ((b"connection", b"close"),)
            response = await self._respond(request)
        except Exception as error:
            # The border: whatever happened, the client gets an answer.
            response = error_response(error, request_id)
        return response, ((b"x-request-id", request_id.encode()), *closing)

    async def _respond(self, request: Request) -> Response:
        route = self._route(request)
        if request.method not in METHODS:
            raise MethodNotAllowed(METHODS)
        if request.method == "OPTIONS":
            return PREFLIGHT
        if not route.public:
            request.user = await self._user(request)
        _check_size(request)
        response = None
        if route.cached:
            response = self._snapshot.get().cached(request.path, request.query_string)
        if response is None:
            response = await route.answer(self.context, request)
        if response.smaller is not None and takes_gzip(request.sender.header(b"accept-encoding")):
            response = response.smaller
        if_none_match = request.headers.get(b"if-none-match")
        if if_none_match is None:
            return response
        return not_modified(response, if_none_match) or response

    def _route(self, request: Request) -> Route:
        route = self._router.fixed.get(request.path)
        if route is not None:
            return route
        found = self._router.match(request.path)
        if found is None:
            raise UnknownPath("There is nothing at this address.")
        route, request.parts = found
        return route

    async def _user(self, request: Request) -> User:
        if self._authenticator is None:
            await self.context.store.wait()
        if self._authenticator is None:
            raise StoreUnavailable("the store has not been opened yet")
        return await self._authenticator.user(request.headers.get(b"authorization"))

    async def _store_opened(self, store: Store) -> None:
        self._authenticator = Authenticator(store, self._settings.tokens_version)
        self._tasks.append(asyncio.create_task(self._authenticator.note_use()))
        self._tasks.append(asyncio.create_task(self.context.visits.follow()))
        await self.context.visits.begun()


def _check_size(request: Request) -> None:
    """Refuse a request that is larger than any of ours.

    Raises:
        AddressTooLong: the query string is over ``MAXIMUM_QUERY_STRING``.
        BodyTooLarge: a body over ``MAXIMUM_BODY`` is announced.
    """
    if len(request.query_string) > MAXIMUM_QUERY_STRING:
        raise AddressTooLong(f"The query string must be at most {MAXIMUM_QUERY_STRING} bytes long.")
    length = request.headers.get(b"content-length")
    if length and (not length.isdigit() or int(length[:20]) > MAXIMUM_BODY):
        raise BodyTooLarge("This operation takes no request body.")


def _request_ids() -> Iterator[str]:
    """Yield ids that no other worker gives: a random beginning and a count."""
    beginning = secrets.token_hex(6)
    return (f"{beginning}-{number:x}" for number in itertools.count(1))
