"""The ASGI application: every route, and the order in which a request is looked at.

A request meets, in this order: the rules of HTTP, the routes (404, 405), the token (401), the
parameters (400) or the map that the path names (404). Whoever has no valid token learns nothing
about its parameters, nor which maps there are.
"""

import asyncio
import contextlib
import itertools
import logging
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Final, TypeVar

import xxhash

from mapshelf.api.auth import Authenticator
from mapshelf.api.catalogue import Catalogue, Deferred, Edition
from mapshelf.api.compression import takes_gzip
from mapshelf.api.documents import Documents
from mapshelf.api.errors import error_response
from mapshelf.api.facets import show_categories, show_facets, show_software
from mapshelf.api.health import Health
from mapshelf.api.http import (
    ASGISender,
    Headers,
    Receive,
    Request,
    Response,
    Scope,
    Send,
    json_response,
    not_modified,
    read_request,
)
from mapshelf.api.map_detail import export_outline, find_map, original_file, show_map
from mapshelf.api.maps import list_maps
from mapshelf.api.routing import Route, Routes
from mapshelf.api.search import search_maps, suggest
from mapshelf.api.streaming import LARGE, Stream, Streams, send_body
from mapshelf.api.thumbnails import (
    PRIVATE,
    PUBLIC,
    draw_thumbnail,
    kept_thumbnail,
    parse_picture,
)
from mapshelf.api.users import own_profile
from mapshelf.api.work_queue import WorkQueue
from mapshelf.clock import milliseconds
from mapshelf.disk_cache import DiskCache
from mapshelf.errors import (
    MethodNotAllowed,
    Overloaded,
    StoreDamaged,
    StoreError,
    StoreUnavailable,
    UnknownPath,
)
from mapshelf.model import User, VisitKind
from mapshelf.query import parse_query
from mapshelf.render.render_request import FORMATS as PICTURES
from mapshelf.render.render_worker import Studio
from mapshelf.settings import Settings
from mapshelf.snapshot import Record, Snapshot, SnapshotDirectory
from mapshelf.store import Store, open_store
from mapshelf.visits import Sender, VisitCounter
from mapshelf.visits.visitor_key import place_of
from mapshelf.writers import WRITERS

T = TypeVar("T")

METHODS: Final = ("GET", "HEAD", "OPTIONS")
"""Every operation reads, so every path takes the same methods."""

EXPOSED_HEADERS: Final = (
    b"Content-Disposition, ETag, Link, Retry-After, WWW-Authenticate, X-Corrected-Query, "
    b"X-Request-Id, X-Total-Count"
)
"""Headers that scripts of other origins may read."""

FORMATS: Final = {writer.suffix: writer for writer in WRITERS}
"""What outlines are given out as, by the end of the path."""

PARTS: Final = {
    "id": "[^/]+",
    "format": "|".join(FORMATS),
    "picture": "|".join(PICTURES),
    **dict.fromkeys(("name", "slug", "edition", "asset"), "[^/]+"),  # of pages
}
"""The parts of paths that vary."""

PICTURES_SIZE: Final = 1 << 30
DOCUMENTS_SIZE: Final = 1 << 30
"""Bytes of what is kept on disk, at most: some hundred thousand thumbnails of 320 pixels, and some
hundred large documents."""

DOCUMENTS_FOLDERS: Final = 4
"""Folders that large documents are spread over: each has room for many of the largest."""

OPENED_AGAIN_AFTER: Final = 1.0
"""Seconds between tries to open a store that was away when the service started."""

OPENING: Final = 0.5
"""Seconds in which a store is usually opened; answering begins then even if it is not."""

OPENING_AWAITED: Final = 3.0
"""Seconds that a request with a token waits for a store which nobody has tried to open yet."""


class Queues:
    """The queues of what takes too long for the event loop, each bounded by itself.

    What may wait is about what is done in a second: a client that would wait for longer is told to
    come back.

    Attributes:
        searches: answers of the API that search, count or complete.
        files: outlines and files that the API gives out.
        pages: pages of the library and of small maps, and what they load.
        pictures: looks for pictures that have been made.
        drawings: pictures to be drawn.
        documents: what large maps and files take (``documents.py``).
    """

    def __init__(self) -> None:
        self.searches = WorkQueue("searches", threads=2, waiting=256)
        self.files = WorkQueue("files", threads=1, waiting=32)
        self.pages = WorkQueue("pages", threads=1, waiting=24)
        self.pictures = WorkQueue("pictures", threads=1, waiting=256)
        self.drawings = WorkQueue("drawings", threads=1, waiting=96)
        self.documents = WorkQueue("documents", threads=1, waiting=8)

    async def close(self) -> None:
        """Wait for what has begun; do nothing more."""
        for queue in vars(self).values():
            await queue.close()


@dataclass(frozen=True, slots=True)
class Backstage:
    """What pages are made with.

    Attributes:
        base_url: where clients reach the service.
        catalogue: the current snapshot.
        store: gives the store, once the application has been started.
        queues: where they are made.
        documents: makes those of large maps.
        note_visit: notes that a page or a file of the map with this ``file_id`` was answered.
    """

    base_url: str
    catalogue: Catalogue
    store: Callable[[], Store]
    queues: Queues
    documents: Documents
    note_visit: Callable[[Request, int, VisitKind], None]


PageRoutes = Callable[[Backstage], Mapping[str, Route]]
"""Gives the routes of the pages."""

log = logging.getLogger(__name__)


class Application:
    """The service over one store and one directory of snapshots."""

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
        self._visits = VisitCounter(
            self._opened_store,
            settings.trusted_proxies,
            clock,
            counting=settings.counting and not settings.private and pages is not None,
        )
        self._base_url = settings.base_url.encode()
        self._catalogue = Catalogue(SnapshotDirectory(settings.snapshots))
        self.fixed_headers = _fixed_headers(settings.cors_origin)
        self._request_ids = _request_ids()
        self._openapi = _openapi_response()
        self._store: Store | None = None
        self._tried = asyncio.Event()
        self._opening_error = ""
        self._health = Health(self._catalogue, settings, lambda: self._store)
        self._authenticator: Authenticator | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._queues = Queues()
        self._streams = Streams()
        self._studio = Studio(DiskCache(settings.thumbnails, PICTURES_SIZE))
        self._documents = Documents(
            DiskCache(settings.documents, DOCUMENTS_SIZE, DOCUMENTS_FOLDERS), self._queues.documents
        )
        self._routes = Routes(
            {
                "/maps": Route(self._maps),
                "/search": Route(self._search),
                "/suggest": Route(self._suggest),
                "/facets": Route(self._facets),
                "/categories": Route(self._categories),
                "/software": Route(self._software),
                "/maps/{id}": Route(self._map),
                "/maps/{id}/outline.{format}": Route(self._outline),
                "/maps/{id}/file": Route(self._file),
                "/thumbnails/{id}.{picture}": Route(self._thumbnail, public=not settings.private),
                "/users/me": Route(self._users_me),
                "/openapi.json": Route(self._openapi_json, public=True),
                "/healthz": Route(self._healthz, public=True),
                "/readyz": Route(self._readyz, public=True),
                **(pages(self._backstage()) if pages else {}),
            },
            PARTS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection scope of ASGI."""
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)

    async def start(self) -> None:
        """Open store and snapshot, and begin to follow what is published."""
        await self._catalogue.begin()
        opening = asyncio.create_task(self._open_store())
        self._tasks = [asyncio.create_task(self._catalogue.follow()), opening]
        await self._await_store(OPENING)
        if opening.done():
            opening.result()
        else:
            opening.add_done_callback(_tell_failure)

    async def stop(self) -> None:
        """Finish what runs in the background and close the store."""
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, StoreError):
                await task
        self._studio.close()
        self._documents.close()
        await self._queues.close()
        await asyncio.to_thread(self._catalogue.close)
        await self._visits.stop()
        if self._authenticator:
            await asyncio.to_thread(self._authenticator.write_use)
        if self._store:
            self._store.close()

    async def _open_store(self) -> None:
        """Open the store, however long that takes."""
        while not await self._opens_store():
            await asyncio.sleep(OPENED_AGAIN_AFTER)

    async def _opens_store(self) -> bool:
        try:
            self._store = await asyncio.to_thread(open_store, self._settings.database)
            self._authenticator = Authenticator(self._store, self._settings.tokens_version)
            self._tasks.append(asyncio.create_task(self._authenticator.note_use()))
            self._tasks.append(asyncio.create_task(self._visits.follow()))
            await self._visits.begun()
        except (StoreUnavailable, StoreDamaged) as error:
            if str(error) != self._opening_error:
                log.warning("the store is opened when it can be: %s", error)
            self._opening_error = str(error)
        finally:
            self._tried.set()
        return self._store is not None

    async def _await_store(self, seconds: float) -> None:
        """Wait for the store to be opened, or known to be away."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._tried.wait(), seconds)

    # -- the routes -----------------------------------------------------------------------

    async def _maps(self, request: Request, user: User | None) -> Response:
        edition, key = self._catalogue.edition(), (request.path, request.query_string)
        response = edition.kept(key)
        if response is None:
            query = parse_query(request.query_string)
            make = partial(list_maps, edition.snapshot, query, self._base_url)
            # A list takes microseconds; a search may take long enough to hold up all others.
            if not edition.snapshot.is_light(query):
                return await edition.response(request, self._queues.searches, make)
            response = make()
            edition.keep(key, response)
        return response

    async def _search(self, request: Request, user: User | None) -> Response:
        return await self._from_store(request, partial(search_maps, base_url=self._base_url))

    async def _suggest(self, request: Request, user: User | None) -> Response:
        return await self._from_store(request, suggest)

    async def _facets(self, request: Request, user: User | None) -> Response:
        return await self._from_store(request, show_facets)

    async def _categories(self, request: Request, user: User | None) -> Response:
        return await self._table(request, show_categories)

    async def _software(self, request: Request, user: User | None) -> Response:
        return await self._table(request, show_software)

    async def _table(
        self, request: Request, make: Callable[[Snapshot, Store], Response]
    ) -> Response:
        """Return what ``make`` makes of the rows of a small table, which may change by itself."""
        edition = self._catalogue.edition()
        return await self._queues.searches.result(
            (edition, request.path),
            partial(make, edition.snapshot, self._opened_store()),
            request.disconnection,
        )

    async def _from_store(self, request: Request, make: Callable[..., Response]) -> Response:
        """Return what ``make`` makes of snapshot, store and query, kept with the edition."""
        edition, query = self._catalogue.edition(), parse_query(request.query_string)
        return await edition.response(
            request,
            self._queues.searches,
            partial(make, edition.snapshot, self._opened_store(), query=query),
        )

    async def _map(self, request: Request, user: User | None) -> Response:
        return show_map(self._found(request, self._catalogue.edition()))

    async def _outline(self, request: Request, user: User | None) -> Response:
        edition, writer = self._catalogue.edition(), FORMATS[request.parts["format"]]
        found = self._found(request, edition)
        make = partial(export_outline, self._opened_store(), found, writer, self._documents)
        return await edition.response(request, self._queues.files, make)

    async def _file(self, request: Request, user: User | None) -> Response:
        edition = self._catalogue.edition()
        found = self._found(request, edition)
        make = partial(original_file, self._opened_store(), found, self._documents)
        return await edition.response(request, self._queues.files, make)

    async def _thumbnail(self, request: Request, user: User | None) -> Response:
        asked = parse_picture(request.query_string, request.parts["picture"])
        caching = PRIVATE if self._settings.private else PUBLIC
        edition = self._catalogue.edition()
        found = self._found(request, edition)
        wanted = (self._studio, self._opened_store(), found, asked, caching)

        def make() -> Response | Deferred:
            drawn = Deferred(self._queues.drawings, partial(draw_thumbnail, *wanted))
            return kept_thumbnail(*wanted) or drawn

        return await edition.response(request, self._queues.pictures, make)

    async def _users_me(self, request: Request, user: User | None) -> Response:
        assert user is not None
        return own_profile(self._catalogue.edition(), user)

    async def _openapi_json(self, request: Request, user: User | None) -> Response:
        return self._openapi

    async def _healthz(self, request: Request, user: User | None) -> Response:
        return self._health.alive()

    async def _readyz(self, request: Request, user: User | None) -> Response:
        return await self._health.ready()

    def _found(self, request: Request, edition: Edition) -> Record:
        """Return the map that the path names."""
        return find_map(edition, request.parts["id"], self._base_url)

    def _opened_store(self) -> Store:
        if self._store is None:
            raise StoreUnavailable("the store has not been opened yet")
        return self._store

    def _backstage(self) -> Backstage:
        return Backstage(
            self._settings.base_url,
            self._catalogue,
            self._opened_store,
            self._queues,
            self._documents,
            self._note_visit,
        )

    def _note_visit(self, request: Request, file_id: int, kind: VisitKind) -> None:
        if request.method == "GET":
            self._visits.note(request.sender, file_id, kind)

    # -- around them ----------------------------------------------------------------------

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        response, own_headers = await self.answer(read_request, (scope, receive))
        whole = scope["method"] != "HEAD"
        stream: Stream | None = None
        with ExitStack() as sending:
            if whole and response.size >= LARGE:
                try:
                    stream = sending.enter_context(self.sending(ASGISender(scope)))
                except Overloaded as error:
                    response = error_response(error, "")
            headers = (*response.headers, *self.fixed_headers, *own_headers)
            start = {"type": "http.response.start", "status": response.status, "headers": headers}
            await send(start)
            await send_body(response if whole else Response(200, ()), send, stream)

    def sending(self, sender: Sender) -> AbstractContextManager[Stream]:
        """Count a large body that is sent to a client while in the context.

        Raises:
            Overloaded: there are too many already.
        """
        forwarded = sender.header(b"x-forwarded-for")
        return self._streams.sending(
            place_of(sender.address(), forwarded, self._settings.trusted_proxies)
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
            closing = request.closing()
            response = await self._respond(request)
        except Exception as error:
            # The border: whatever happened, the client gets an answer.
            response = error_response(error, request_id)
        return response, ((b"x-request-id", request_id.encode()), *closing)

    async def _respond(self, request: Request) -> Response:
        found = self._routes.find(request.path)
        if found is None:
            raise UnknownPath("There is nothing at this address.")
        route, request.parts = found
        if request.method not in METHODS:
            raise MethodNotAllowed(METHODS)
        if request.method == "OPTIONS":
            return _PREFLIGHT
        user = None if route.public else await self._user(request)
        request.check_size()
        response = await route.answer(request, user)
        if response.smaller is not None and takes_gzip(request.sender.header(b"accept-encoding")):
            response = response.smaller
        if_none_match = request.headers.get(b"if-none-match")
        if if_none_match is None:
            return response
        return not_modified(response, if_none_match) or response

    async def _user(self, request: Request) -> User:
        if self._authenticator is None:
            await self._await_store(OPENING_AWAITED)
        if self._authenticator is None:
            raise StoreUnavailable("the store has not been opened yet")
        return await self._authenticator.user(request.headers.get(b"authorization"))

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await self.start()
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self.stop()
                await send({"type": "lifespan.shutdown.complete"})
                return


def create_app(
    settings: Settings,
    pages: PageRoutes | None = None,
    clock: Callable[[], int] = milliseconds,
) -> Application:
    """Return the ASGI application for an installation, with pages if there are to be any."""
    return Application(settings, pages, clock)


def _tell_failure(opening: "asyncio.Task[None]") -> None:
    """Say why the store is of no use, once nobody waits for it any more."""
    if not opening.cancelled() and (error := opening.exception()):
        log.error("the store cannot be used until the service is started again: %s", error)


_PREFLIGHT: Final = Response(
    204,
    (
        (b"allow", ", ".join(METHODS).encode()),
        (b"access-control-allow-methods", ", ".join(METHODS).encode()),
        (b"access-control-allow-headers", b"Authorization, If-None-Match"),
        (b"access-control-max-age", b"86400"),
    ),
)


def _fixed_headers(cors_origin: str) -> Headers:
    """Return the headers that every response has."""
    headers: Headers = ((b"x-content-type-options", b"nosniff"),)
    if cors_origin:
        headers += (
            (b"access-control-allow-origin", cors_origin.encode()),
            (b"access-control-expose-headers", EXPOSED_HEADERS),
        )
    return headers


def _request_ids() -> Iterator[str]:
    """Yield ids that no other worker gives: a random beginning and a count."""
    beginning = secrets.token_hex(6)
    return (f"{beginning}-{number:x}" for number in itertools.count(1))


def _openapi_response() -> Response:
    body = (files("mapshelf.api") / "openapi.json").read_bytes()
    etag = f'"{xxhash.xxh3_128_hexdigest(body)}"'.encode()
    return json_response(200, body, [(b"etag", etag), (b"cache-control", b"no-cache")])
