"""Handle requests for the catalogue pages and their data; ``routes.py`` maps URLs to the handlers.

Pages are rendered in threads, because rendering takes as long as a search. Rendered pages are
cached with their snapshot, like API responses.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final
from urllib.parse import parse_qsl, unquote, urlencode

from mapshelf.api.context import Context
from mapshelf.api.current_snapshot import Deferred
from mapshelf.api.documents import Kind, MapOutline
from mapshelf.api.http import Headers, Request, Response, provisional
from mapshelf.api.map_detail import (
    FORMATS,
    Export,
    encoded_outline,
    export_outline,
    original_file,
)
from mapshelf.api.visible_maps import FoundMap, find_map
from mapshelf.errors import InvalidParameter, NotFound
from mapshelf.formats.outline_codec import decode_outline
from mapshelf.formats.outline_size import is_large
from mapshelf.model import Visibility, VisitKind
from mapshelf.query import MapQuery, parse_query, read_parameters
from mapshelf.search.snippets import SnippetFinder
from mapshelf.site.cards import card
from mapshelf.site.choices import Choice
from mapshelf.site.collection_pages import CollectionPages
from mapshelf.site.feed import feed_values
from mapshelf.site.library import Library, LibraryPages
from mapshelf.site.list_navigation import CARDS, VIEW, VIEWS
from mapshelf.site.map_data import large_map_data, map_data
from mapshelf.site.map_page import Known, PageContent, known_of, large_map_body, map_body
from mapshelf.site.oembed import Embedded, asked_page, description
from mapshelf.site.page_resources import PageResources
from mapshelf.site.responses import (
    EMBEDDED,
    FRESH,
    HTML,
    REFERENCE,
    STRICT,
    data_response,
    fragment_response,
    page_response,
    redirect,
)
from mapshelf.site.twins import EACH
from mapshelf.snapshot.read import Record, Snapshot
from mapshelf.text.normalize import normalize

JSON: Final = b"application/json"

TAGS_SHOWN: Final = 500
"""Maximum number of tags on the page of tags, the most frequent ones."""


class Pages:
    """The pages of one application."""

    def __init__(
        self, context: Context, resources: PageResources, collections: CollectionPages
    ) -> None:
        """Create the handlers; ``collections`` answers oEmbed requests for collections."""
        self._context = context
        self._collections = collections
        self._queues = context.queues
        self._addresses = resources.addresses
        self._library_pages = LibraryPages(resources.addresses)
        self._assets = resources.assets
        self._common = resources.common
        self._templates = resources.templates

    async def library(self, request: Request) -> Response:
        """Respond with a list of maps as a page."""
        make = partial(self._listed, self._library, _place_query(request), _view(request))
        if request.path == "/" and not request.query_string:
            self._context.snapshot.popular.note(request, make)
        return await self._made(request, make)

    async def results(self, request: Request) -> Response:
        """Respond with the part of a list that search-as-you-type updates."""
        query = _list_query(request.query_string)
        make = partial(self._listed, self._results, query, _view(request))
        return await self._made(request, make)

    async def tags(self, request: Request) -> Response:
        """Respond with the page of all tags."""
        return await self._made(request, self._tags)

    async def feed(self, request: Request) -> Response:
        """Respond with a list of maps as a feed."""
        return await self._made(request, partial(self._feed, parse_query(request.query_string)))

    async def own_feed(self, request: Request) -> Response:
        """Respond with a list of maps as a feed at a secret URL, without caching."""
        snapshot = self._context.snapshot.get().snapshot
        query = parse_query(request.query_string)
        make = partial(self._feed, query, snapshot, own=True)
        return await self._queues.pages.result(
            object(), make, request.disconnection, owner=request.owner
        )

    async def map(self, request: Request) -> Response:
        """Respond with the page of a map, or redirect to its canonical URL."""
        found = await self._found(request)
        right = self._page_of(found, request)
        if not self._is_at(right, request):
            # The snapshots of two nodes may have two titles. If each redirected to its own, their
            # visitors would go round in circles. So only the title in the store counts.
            present = await found.present()
            if present:
                found, right = present, self._page_of(present, request)
                if not self._is_at(right, request):
                    return found.guarded(redirect(right, request.query_string))
            # Otherwise it is cached as if it were there: there is no end of wrong addresses.
            request = replace(request, path=unquote(right).removeprefix(self._addresses.root))
        embedded = dict(parse_qsl(request.query_string.decode("latin-1"))).get("embed") == "1"
        make = partial(self._map, found, embedded=embedded)
        depends_on = b"embed=1" if embedded else b""
        response = await found.response(request, self._queues.pages, make, depends_on)
        if not embedded:
            # Readers of the embedding page did not request the map, so no view is counted.
            self._note_visit(request, found, VisitKind.VIEW)
        return response

    async def map_data(self, request: Request) -> Response:
        """Respond with the data from which the script draws a map."""
        found = await self._found(request)
        make = partial(self._map_data, found.record)
        return await found.response(request, self._queues.pages, make, query_string=b"")

    async def outline(self, request: Request) -> Response:
        """Respond with the outline of a map as a file."""
        writer, context = FORMATS[request.parts["format"]], self._context

        def make(snapshot: Snapshot, record: Record) -> Response | Deferred:
            export = Export.within(context, writer, snapshot)
            return export_outline(context.store.get(), record, export)

        return await self._download(request, make)

    async def original(self, request: Request) -> Response:
        """Respond with the original file of a map."""
        context = self._context

        def make(_: Snapshot, record: Record) -> Response:
            return original_file(context.store.get(), record, context.documents)

        return await self._download(request, make)

    async def oembed(self, request: Request) -> Response:
        """Respond with the oEmbed description of a map or a collection."""
        place, public_id = asked_page(request.query_string, self._addresses)
        if place == "collected":
            return await self._collections.oembed(request, public_id)
        found = await self._found(request, public_id)
        if found.visibility is not Visibility.PUBLISHED:  # only its owner may share it
            raise NotFound("There is no map at this address that may be embedded.")
        shown = card(found.record, self._addresses, [])
        embedded = Embedded(
            shown.title, shown.owner, shown.owner_address, shown.address, shown.large
        )
        body = description(embedded, request.query_string, self._addresses)
        return data_response(b"application/json", body)

    async def reference(self, request: Request) -> Response:
        """Respond with the API reference."""
        return await self._queues.pages.result(
            ("reference",),
            partial(self._templates.page, "reference.html", {}, REFERENCE),
            request.disconnection,
            owner=request.owner,
        )

    async def asset(self, request: Request) -> Response:
        """Respond with a static file."""
        edition, name = request.parts["edition"], request.parts["asset"]
        make = partial(self._assets.response, edition, name)
        if self._assets.is_made(edition, name):
            return make()
        return await self._queues.pages.result(
            (request.path,), make, request.disconnection, owner=request.owner
        )

    # -- rendered in threads --------------------------------------------------------------

    def _listed(
        self,
        respond: Callable[[Library], Response],
        query: MapQuery,
        view: str,
        snapshot: Snapshot,
    ) -> Response | Deferred:
        """Return the response to a list; another queue may have to find the matching topics."""
        library = self._library_pages.page(query, snapshot, self._context.store.get(), view)
        if library.unfinished:
            make = partial(self._finished, respond, query, view, snapshot, library.unfinished)
            return Deferred(self._queues.long_searches, make)
        return respond(library)

    def _finished(
        self,
        respond: Callable[[Library], Response],
        query: MapQuery,
        view: str,
        snapshot: Snapshot,
        finder: SnippetFinder,
    ) -> Response:
        store = self._context.store.get()
        return respond(self._library_pages.page(query, snapshot, store, view, finder))

    def _library(self, library: Library) -> Response:
        return self._templates.page("library.html", {"library": library})

    def _results(self, library: Library) -> Response:
        return fragment_response(self._templates.text("_list.html", {"library": library}).encode())

    def _tags(self, snapshot: Snapshot) -> Response:
        tags = snapshot.tags()
        shown = sorted(tags[:TAGS_SHOWN], key=lambda tag: (normalize(tag.name), tag.name))
        choices = [
            Choice(tag.name, self._addresses.library({"tag": tag.name}), tag.count) for tag in shown
        ]
        return self._templates.page("tags.html", {"tags": choices, "total": len(tags)})

    def _feed(self, query: MapQuery, snapshot: Snapshot, *, own: bool = False) -> Response:
        values = {**feed_values(snapshot, query, self._addresses), "secret": own}
        body = self._templates.text("feed.atom", values).encode()
        return data_response(b"application/atom+xml; charset=utf-8", body)

    def _map(self, found: FoundMap, *, embedded: bool) -> Response | Deferred:
        store, facts = self._context.store.get(), (found.record, found.snapshot, found.visibility)
        encoded = store.outline(found.record.file_id)
        if encoded and is_large(encoded):
            make = partial(self._large_map, *facts, embedded=embedded)
            return Deferred(self._queues.documents, make, lasting=True)
        known = known_of(store, self._addresses, *facts)
        content = None
        complete = True
        if encoded:
            outline = decode_outline(encoded)
            formulas, complete = self._context.formula_worker.mathml(outline)
            content = PageContent(outline, formulas)
        body = self._map_body(content, known, embedded)
        response = page_response(200, body, _map_headers(embedded))
        return response if complete else provisional(response)

    def _map_body(self, content: PageContent | None, known: Known, embedded: bool) -> bytes:
        return map_body(content, known, self._addresses, self._templates, embedded=embedded)

    def _large_map(
        self, record: Record, snapshot: Snapshot, visibility: Visibility, *, embedded: bool
    ) -> Response:
        store, headers = self._context.store.get(), _map_headers(embedded)
        # Not before: it may have thousands of links, and many requests may wait.
        known = known_of(store, self._addresses, record, snapshot, visibility)
        outline = store.outline(record.file_id)
        try:
            if outline:
                facts = (known, self._context.settings.base_url, self._common, embedded)
                kind = Kind(HTML, headers, compress=True)
                return self._context.documents.of_outline(
                    large_map_body, MapOutline(outline, record.owner), facts, kind
                )
        except NotFound:
            pass  # too large even for that: the page shows only its facts
        return page_response(200, self._map_body(None, known, embedded), headers)

    def _map_data(self, record: Record) -> Response | Deferred:
        encoded = encoded_outline(self._context.store.get(), record)
        if is_large(encoded):
            make = partial(self._large_map_data, record)
            return Deferred(self._queues.documents, make, lasting=True)
        outline = decode_outline(encoded)
        formulas, complete = self._context.formula_worker.drawings(outline)
        response = data_response(JSON, map_data(outline, formulas))
        return response if complete else provisional(response)

    def _large_map_data(self, record: Record) -> Response:
        kind = Kind(JSON, (FRESH,), compress=True)
        outline = MapOutline(encoded_outline(self._context.store.get(), record), record.owner)
        return self._context.documents.of_outline(large_map_data, outline, (), kind)

    # -- common ---------------------------------------------------------------------------

    def _page_of(self, found: FoundMap, request: Request) -> str:
        return self._addresses.map(request.parts["id"], found.record.title)

    def _is_at(self, address: str, request: Request) -> bool:
        return self._addresses.root + request.path == unquote(address)

    async def _made(
        self, request: Request, make: Callable[[Snapshot], Response | Deferred]
    ) -> Response:
        """Return the result of ``make`` for the current snapshot."""
        current = self._context.snapshot.get()
        return await current.response(request, self._queues.pages, partial(make, current.snapshot))

    async def _download(
        self, request: Request, make: Callable[[Snapshot, Record], Response | Deferred]
    ) -> Response:
        """Return a file of a map."""
        found = await self._found(request)
        made = partial(make, found.snapshot, found.record)
        response = await found.response(request, self._queues.pages, made, query_string=b"")
        self._note_visit(request, found, VisitKind.DOWNLOAD)
        return response

    async def _found(self, request: Request, public_id: str = "") -> FoundMap:
        # With an empty base URL, URLs of this site in the record are recognisable.
        return await find_map(self._context, request, b"", public_id=public_id)

    def _note_visit(self, request: Request, found: FoundMap, kind: VisitKind) -> None:
        if found.visibility is not Visibility.PRIVATE:  # owners do not count as visitors
            self._context.note_visit(request, found.record.file_id, kind)


def _map_headers(embedded: bool) -> Headers:
    return (*(EMBEDDED if embedded else STRICT), FRESH)


def _list_query(query_string: bytes) -> MapQuery:
    """Return the query of a list, with the page-only parameter."""
    query = parse_query(query_string)
    given = read_parameters(query_string, EACH[:1])
    return replace(query, given=(*query.given, EACH)) if EACH in given.items() else query


def _place_query(request: Request) -> MapQuery:
    """Return the query of a list from its parameters and the owner or category in its path.

    Raises:
        InvalidParameter: a value is invalid.
        NotFound: the path does not name an existing category.
    """
    name = request.parts.get("name")
    if name is None:
        return _list_query(request.query_string)
    parameter = "owner" if request.path.startswith("/owners/") else "category"
    if parameter == "category" and not (name.isascii() and name.isdigit()):
        raise NotFound("There is no category at this address.")
    query = _list_query(request.query_string)
    given = tuple((key, value) for key, value in query.given if key != parameter)
    whole = _list_query(urlencode((*given, (parameter, name))).encode())
    return replace(whole, offset=query.offset)


def _view(request: Request) -> str:
    """Return the requested view of a list.

    Raises:
        InvalidParameter: there is no such view.
    """
    view = read_parameters(request.query_string, (VIEW,)).get(VIEW, CARDS)
    if view not in VIEWS:
        raise InvalidParameter(f"The {VIEW} value must be one of {', '.join(VIEWS)}.")
    return view
