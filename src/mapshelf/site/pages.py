"""The routes of all pages.

Pages are public. A private catalogue has only one: the reference of the API, which contains nothing
of the catalogue.

Pages are made in threads, because a page takes as long as a search. Finished pages are cached with
the snapshot they were made from, like the answers of the API. Errors are shown as pages, by the
same table as in the API.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final
from urllib.parse import parse_qsl, unquote, urlencode

from mapshelf.api.context import Context
from mapshelf.api.current_snapshot import CachedSnapshot, Deferred
from mapshelf.api.documents import Kind
from mapshelf.api.errors import error_row
from mapshelf.api.http import Headers, Request, Response
from mapshelf.api.map_detail import FORMATS, Export, export_outline, find_map, original_file
from mapshelf.api.routes import Operation, Route
from mapshelf.errors import InvalidRequest, NotFound, Overloaded, SnapshotError, StoreUnavailable
from mapshelf.formats.outline_codec import decode_outline, is_large
from mapshelf.model import Outline, VisitKind
from mapshelf.query import MapQuery, parse_query
from mapshelf.site.addresses import Addresses
from mapshelf.site.assets import load_assets
from mapshelf.site.cards import card
from mapshelf.site.feed import feed_values
from mapshelf.site.library import Library, library_page
from mapshelf.site.map_data import map_data
from mapshelf.site.map_page import Known, known_of, large_map_body, map_body
from mapshelf.site.oembed import asked_map, description
from mapshelf.site.responses import (
    EMBEDDED,
    FRESH,
    HTML,
    REFERENCE,
    STRICT,
    Templates,
    data_response,
    fragment_response,
    page_response,
    redirect,
)
from mapshelf.snapshot.read import Record, Snapshot

JSON: Final = b"application/json"

MOST_ERRORS: Final = 100  # error pages cached

Answer = Callable[[Request], Awaitable[Response]]


def site_routes(context: Context) -> Mapping[str, Route]:
    """Return the routes of all pages; they are public."""
    pages = Pages(context)
    table: dict[str, Answer] = {
        "/": pages.library,
        "/feed.atom": pages.feed,
        "/oembed": pages.oembed,
        "/site/search": pages.results,
        "/site/maps/{id}.json": pages.map_data,
        "/owners/{name}": pages.library,
        "/categories/{name}": pages.library,
        "/mindmaps/{id}": pages.map,
        "/mindmaps/{id}/{slug}.{format}": pages.outline,
        "/mindmaps/{id}/{slug}/original": pages.original,
        "/mindmaps/{id}/{slug}": pages.map,
    }
    return _routes(pages, table) | _reference_routes(pages)


def private_routes(context: Context) -> Mapping[str, Route]:
    """Return the routes of a private catalogue."""
    return _reference_routes(Pages(context, private=True))


def _reference_routes(pages: "Pages") -> dict[str, Route]:
    return _routes(pages, {"/docs": pages.reference, "/static/{edition}/{asset}": pages.asset})


def _routes(pages: "Pages", table: dict[str, Answer]) -> dict[str, Route]:
    return {path: Route(pages.guarded(answer), public=True) for path, answer in table.items()}


class Pages:
    """The pages of one application."""

    def __init__(self, context: Context, *, private: bool = False) -> None:
        """Prepare them; in a ``private`` catalogue they have no links to the library."""
        self._context = context
        self._queues = context.queues
        self._addresses = Addresses(context.settings.base_url)
        self._assets = load_assets()
        static = f"{self._addresses.root}/static/{self._assets.edition}"
        self._common = {"root": self._addresses.root, "static": static, "private": private}
        self._templates = Templates(self._common)
        self._errors: dict[tuple[int, str], asyncio.Future[Response]] = {}

    def guarded(self, answer: Answer) -> Operation:
        """Return ``answer`` as a route that shows errors as pages."""

        async def guard(context: Context, request: Request) -> Response:
            try:
                return await answer(request)
            except (InvalidRequest, NotFound, SnapshotError, StoreUnavailable, Overloaded) as error:
                row = error_row(error)
                return await self._error(row.status, row.message or str(error))

        return guard

    async def library(self, request: Request) -> Response:
        """Answer a list of maps as a page."""
        return await self._made(request, partial(self._library, _place_query(request)))

    async def results(self, request: Request) -> Response:
        """Answer the part of a list that changes while somebody types."""
        return await self._made(request, partial(self._results, parse_query(request.query_string)))

    async def feed(self, request: Request) -> Response:
        """Answer a list of maps as a feed."""
        return await self._made(request, partial(self._feed, parse_query(request.query_string)))

    async def map(self, request: Request) -> Response:
        """Answer the page of a map, or where it is."""
        current = self._context.snapshot.get()
        public_id = request.parts["id"]
        record = _found(current, public_id)
        right = self._addresses.map(public_id, record.title)
        asked = self._addresses.root + request.path
        if asked != unquote(right):
            return redirect(right, request.query_string)
        embedded = dict(parse_qsl(request.query_string.decode("latin-1"))).get("embed") == "1"
        make = partial(self._map, current.snapshot, record, embedded=embedded)
        depends_on = b"embed=1" if embedded else b""
        response = await current.response(request, self._queues.pages, make, depends_on)
        if not embedded:
            # A map that another page shows was not asked for by whoever reads that page.
            self._context.note_visit(request, record.file_id, VisitKind.VIEW)
        return response

    async def map_data(self, request: Request) -> Response:
        """Answer the data from which the script draws a map."""
        current = self._context.snapshot.get()
        make = partial(self._map_data, _found(current, request.parts["id"]))
        return await current.response(request, self._queues.pages, make, query_string=b"")

    async def outline(self, request: Request) -> Response:
        """Answer the outline of a map as a file."""
        writer, context = FORMATS[request.parts["format"]], self._context

        def make(snapshot: Snapshot, record: Record) -> Response | Deferred:
            export = Export(writer, context.documents, context.base_url, snapshot)
            return export_outline(context.store.get(), record, export)

        return await self._download(request, make)

    async def original(self, request: Request) -> Response:
        """Answer the file that a map was read from."""
        context = self._context

        def make(_: Snapshot, record: Record) -> Response:
            return original_file(context.store.get(), record, context.documents)

        return await self._download(request, make)

    async def oembed(self, request: Request) -> Response:
        """Answer how to embed a map."""
        public_id = asked_map(request.query_string, self._addresses)
        record = _found(self._context.snapshot.get(), public_id)
        shown = card(record, self._addresses, [])
        body = description(shown, request.query_string, self._addresses)
        return data_response(b"application/json", body)

    async def reference(self, request: Request) -> Response:
        """Answer the reference of the API."""
        return await self._queues.pages.result(
            request.path, partial(self._templates.page, "reference.html", {}, REFERENCE)
        )

    async def asset(self, request: Request) -> Response:
        """Answer a static file."""
        edition, name = request.parts["edition"], request.parts["asset"]
        make = partial(self._assets.response, edition, name)
        if self._assets.is_made(edition, name):
            return make()
        return await self._queues.pages.result((request.path,), make)

    # -- made in threads ------------------------------------------------------------------

    def _listed(self, query: MapQuery, snapshot: Snapshot) -> Library:
        return library_page(query, snapshot, self._context.store.get(), self._addresses)

    def _library(self, query: MapQuery, snapshot: Snapshot) -> Response:
        return self._templates.page("library.html", {"library": self._listed(query, snapshot)})

    def _results(self, query: MapQuery, snapshot: Snapshot) -> Response:
        values = {"library": self._listed(query, snapshot)}
        return fragment_response(self._templates.text("_list.html", values).encode())

    def _feed(self, query: MapQuery, snapshot: Snapshot) -> Response:
        values = feed_values(snapshot, query, self._addresses)
        body = self._templates.text("feed.atom", values).encode()
        return data_response(b"application/atom+xml; charset=utf-8", body)

    def _map(self, snapshot: Snapshot, record: Record, *, embedded: bool) -> Response | Deferred:
        store = self._context.store.get()
        known = known_of(record, snapshot, store, self._addresses)
        encoded = store.outline(record.file_id)
        if encoded and is_large(encoded):
            make = partial(self._large_map, known, record.file_id, embedded=embedded)
            return Deferred(self._queues.documents, make, lasting=True)
        outline = decode_outline(encoded) if encoded else None
        return page_response(200, self._map_body(outline, known, embedded), _map_headers(embedded))

    def _map_body(self, outline: Outline | None, known: Known, embedded: bool) -> bytes:
        return map_body(outline, known, self._addresses, self._templates, embedded=embedded)

    def _large_map(self, known: Known, file_id: int, *, embedded: bool) -> Response:
        headers = _map_headers(embedded)
        outline = self._context.store.get().outline(file_id)
        try:
            if outline:
                facts = (known, self._context.settings.base_url, self._common, embedded)
                kind = Kind(HTML, headers, compress=True)
                return self._context.documents.of_outline(large_map_body, outline, facts, kind)
        except NotFound:
            pass  # too large even for that: the page shows only its facts
        return page_response(200, self._map_body(None, known, embedded), headers)

    def _map_data(self, record: Record) -> Response | Deferred:
        outline = self._outline(record)
        if is_large(outline):
            make = partial(self._large_map_data, record)
            return Deferred(self._queues.documents, make, lasting=True)
        return data_response(JSON, map_data(decode_outline(outline)))

    def _large_map_data(self, record: Record) -> Response:
        kind = Kind(JSON, (FRESH,), compress=True)
        return self._context.documents.of_outline(map_data, self._outline(record), (), kind)

    def _outline(self, record: Record) -> bytes:
        outline = self._context.store.get().outline(record.file_id)
        if outline is None:
            raise NotFound("This map has no outline.")
        return outline

    # -- around them ----------------------------------------------------------------------

    async def _made(self, request: Request, make: Callable[[Snapshot], Response]) -> Response:
        """Return the result of ``make`` for the current snapshot."""
        current = self._context.snapshot.get()
        return await current.response(request, self._queues.pages, partial(make, current.snapshot))

    async def _download(
        self, request: Request, make: Callable[[Snapshot, Record], Response | Deferred]
    ) -> Response:
        """Return a file of a map."""
        current = self._context.snapshot.get()
        record = _found(current, request.parts["id"])
        made = partial(make, current.snapshot, record)
        response = await current.response(request, self._queues.pages, made, query_string=b"")
        self._context.note_visit(request, record.file_id, VisitKind.DOWNLOAD)
        return response

    async def _error(self, status: int, message: str) -> Response:
        """Return an error page, made once for all that get it, without waiting in a queue."""
        page = self._errors.get((status, message))
        if page is None:
            make = asyncio.to_thread(self._templates.error, status, message)
            if len(self._errors) >= MOST_ERRORS:
                self._errors.clear()
            page = self._errors[status, message] = asyncio.ensure_future(make)
        try:
            return await asyncio.shield(page)
        except Exception:
            self._errors.pop((status, message), None)
            raise


def _found(current: CachedSnapshot, public_id: str) -> Record:
    # Without the base URL, our own addresses in the record are recognisable.
    return find_map(current, public_id, b"")


def _map_headers(embedded: bool) -> Headers:
    return (*(EMBEDDED if embedded else STRICT), FRESH)


def _place_query(request: Request) -> MapQuery:
    """Return the query of a list: its parameters, and the owner or category in its path.

    Raises:
        InvalidParameter: a value that lists do not have.
        NotFound: the path names no category.
    """
    name = request.parts.get("name")
    if name is None:
        return parse_query(request.query_string)
    parameter = "owner" if request.path.startswith("/owners/") else "category"
    if parameter == "category" and not (name.isascii() and name.isdigit()):
        raise NotFound("There is no category at this address.")
    query = parse_query(request.query_string)
    given = tuple((key, value) for key, value in query.given if key != parameter)
    whole = parse_query(urlencode((*given, (parameter, name))).encode())
    return replace(whole, offset=query.offset)
