"""Every page and the address it is at.

Pages are public. Where nothing of the catalogue may be, one is left: the reference of the API,
which says the same everywhere.

Pages are made in threads, since a page takes as long as a search, and what is finished is kept with
the snapshot it was made from, like the answers of the API. What goes wrong is said in a page, by
the same table of errors.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final
from urllib.parse import parse_qsl, unquote, urlencode

from mapshelf.api.app import FORMATS, Backstage
from mapshelf.api.errors import FAULT, TABLE
from mapshelf.api.http import Request, Response
from mapshelf.api.one_map import export_outline, find_map, original_file
from mapshelf.api.routing import Route
from mapshelf.errors import InvalidRequest, NotFound, SnapshotError, StoreUnavailable
from mapshelf.model import User, VisitKind
from mapshelf.outlines import decode_outline
from mapshelf.query import MapQuery, parse_query
from mapshelf.site.addresses import Addresses
from mapshelf.site.answers import (
    EMBEDDED,
    REFERENCE,
    STRICT,
    Templates,
    data_response,
    fragment_response,
    redirect,
)
from mapshelf.site.assets import load_assets
from mapshelf.site.cards import card
from mapshelf.site.drawing import drawing
from mapshelf.site.feed import feed_values
from mapshelf.site.library import Librarian, Library
from mapshelf.site.map_page import Cartographer
from mapshelf.site.oembed import asked_map, description
from mapshelf.snapshot import Record

LARGEST_KEPT: Final = 1 << 20
"""Bytes of a page that is kept: larger ones would put out hundreds of others."""

Answer = Callable[[Request], Awaitable[Response]]


def site_routes(backstage: Backstage) -> Mapping[str, Route]:
    """Return the routes of all pages; they are public."""
    pages = Pages(backstage)
    table: dict[str, Answer] = {
        "/": pages.library,
        "/feed.atom": pages.feed,
        "/oembed": pages.oembed,
        "/site/search": pages.results,
        "/site/maps/{id}.json": pages.drawing,
        "/owners/{name}": pages.library,
        "/categories/{name}": pages.library,
        "/mindmaps/{id}": pages.map,
        "/mindmaps/{id}/{slug}.{format}": pages.outline,
        "/mindmaps/{id}/{slug}/original": pages.original,
        "/mindmaps/{id}/{slug}": pages.map,
    }
    return _routes(pages, table) | _reference_routes(pages)


def private_routes(backstage: Backstage) -> Mapping[str, Route]:
    """Return the routes of the pages that show nothing of the catalogue."""
    return _reference_routes(Pages(backstage, private=True))


def _reference_routes(pages: "Pages") -> dict[str, Route]:
    return _routes(pages, {"/docs": pages.reference, "/static/{edition}/{asset}": pages.asset})


def _routes(pages: "Pages", table: dict[str, Answer]) -> dict[str, Route]:
    return {path: Route(pages.guarded(answer), public=True) for path, answer in table.items()}


class Pages:
    """The pages of one application."""

    def __init__(self, backstage: Backstage, *, private: bool = False) -> None:
        """Prepare them; ``private`` says that there is no library to lead to."""
        self._backstage = backstage
        self._addresses = Addresses(backstage.base_url)
        self._assets = load_assets()
        static = f"{self._addresses.root}/static/{self._assets.edition}"
        common = {"root": self._addresses.root, "static": static, "private": private}
        self._templates = Templates(common)

    def guarded(self, answer: Answer) -> Callable[[Request, User | None], Awaitable[Response]]:
        """Return ``answer`` as a route, which says what goes wrong in a page."""

        async def guard(request: Request, user: User | None) -> Response:
            try:
                return await answer(request)
            except (InvalidRequest, NotFound, SnapshotError, StoreUnavailable) as error:
                row = next((TABLE[kind] for kind in type(error).__mro__ if kind in TABLE), FAULT)
                message = row.message or str(error)
                return await self._backstage.apart(
                    partial(self._templates.error, row.status, message)
                )

        return guard

    async def library(self, request: Request) -> Response:
        """Answer a list of maps as a page."""
        query = _place_query(request)
        return await self._kept(request, partial(self._library, query))

    async def results(self, request: Request) -> Response:
        """Answer the part of a list that changes while somebody types."""
        query = parse_query(request.query_string)
        return await self._kept(request, partial(self._results, query))

    async def feed(self, request: Request) -> Response:
        """Answer a list of maps as a feed."""
        query = parse_query(request.query_string)
        return await self._kept(request, partial(self._feed, query))

    async def map(self, request: Request) -> Response:
        """Answer the page of a map, or where it is."""
        record = self._found(request)
        public_id = request.parts["id"]
        right = self._addresses.map(public_id, record.title)
        asked = self._addresses.root + request.path
        if asked != unquote(right):
            return redirect(right, request.query_string)
        embedded = dict(parse_qsl(request.query_string.decode("latin-1"))).get("embed") == "1"
        response = await self._kept(request, partial(self._map, record, embedded=embedded))
        if not embedded:
            # A map that another page shows was not asked for by whoever reads that page.
            self._backstage.note_visit(request, record.file_id, VisitKind.VIEW)
        return response

    async def drawing(self, request: Request) -> Response:
        """Answer what the script on the page of a map draws from."""
        return await self._kept(request, partial(self._drawing, self._found(request)))

    async def outline(self, request: Request) -> Response:
        """Answer the outline of a map as a file."""
        store, record = self._backstage.store(), self._found(request)
        writer = FORMATS[request.parts["format"]]
        response = await self._backstage.apart(partial(export_outline, store, record, writer))
        self._backstage.note_visit(request, record.file_id, VisitKind.DOWNLOAD)
        return response

    async def original(self, request: Request) -> Response:
        """Answer the file that a map was read from."""
        store, record = self._backstage.store(), self._found(request)
        response = await self._backstage.apart(partial(original_file, store, record))
        self._backstage.note_visit(request, record.file_id, VisitKind.DOWNLOAD)
        return response

    async def oembed(self, request: Request) -> Response:
        """Answer how to embed a map."""
        public_id = asked_map(request.query_string, self._addresses)
        record = self._record(public_id)
        shown = card(record, self._addresses, [])
        body = description(shown, request.query_string, self._addresses)
        return data_response(b"application/json", body)

    async def reference(self, request: Request) -> Response:
        """Answer the reference of the API."""
        return await self._kept(
            request, partial(self._templates.page, "reference.html", {}, REFERENCE)
        )

    async def asset(self, request: Request) -> Response:
        """Answer a file that pages are made of."""
        edition, name = request.parts["edition"], request.parts["asset"]
        make = partial(self._assets.response, edition, name)
        return make() if self._assets.is_made(edition, name) else await self._backstage.apart(make)

    # -- made in threads ------------------------------------------------------------------

    def _listed(self, query: MapQuery) -> Library:
        snapshot = self._backstage.catalogue.edition().snapshot
        return Librarian(snapshot, self._backstage.store(), self._addresses).library(query)

    def _library(self, query: MapQuery) -> Response:
        return self._templates.page("library.html", {"library": self._listed(query)})

    def _results(self, query: MapQuery) -> Response:
        values = {"library": self._listed(query)}
        return fragment_response(self._templates.text("_list.html", values).encode())

    def _feed(self, query: MapQuery) -> Response:
        snapshot = self._backstage.catalogue.edition().snapshot
        values = feed_values(snapshot, query, self._addresses)
        body = self._templates.text("feed.atom", values).encode()
        return data_response(b"application/atom+xml; charset=utf-8", body)

    def _map(self, record: Record, *, embedded: bool) -> Response:
        snapshot = self._backstage.catalogue.edition().snapshot
        page = Cartographer(snapshot, self._backstage.store(), self._addresses).page(record)
        name = "embed.html" if embedded else "map.html"
        values = {"page": page, "absolute": self._addresses.absolute}
        return self._templates.page(name, values, EMBEDDED if embedded else STRICT)

    def _drawing(self, record: Record) -> Response:
        outline = self._backstage.store().outline(record.file_id)
        if outline is None:
            raise NotFound("This map has no outline.")
        return data_response(b"application/json", drawing(decode_outline(outline)))

    # -- around them ----------------------------------------------------------------------

    def _found(self, request: Request) -> Record:
        return self._record(request.parts["id"])

    def _record(self, public_id: str) -> Record:
        # Without the base URL: addresses of ours are told from others by having none.
        return find_map(self._backstage.catalogue.edition(), public_id, b"")

    async def _kept(self, request: Request, make: Callable[[], Response]) -> Response:
        """Return what ``make`` makes, or has made of the same snapshot before."""
        edition = self._backstage.catalogue.edition()
        key = (request.path, request.query_string)
        response = edition.kept(key)
        if response is None:
            response = await self._backstage.apart(make)
            if len(response.body) <= LARGEST_KEPT:
                edition.keep(key, response)
        return response


def _place_query(request: Request) -> MapQuery:
    """Return what a list is of: its parameters, and the owner or the category its path names.

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
