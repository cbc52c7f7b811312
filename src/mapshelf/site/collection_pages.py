"""Handle the public pages of collections: the list of published ones, and pages, feeds and embeds.

Collections are read from the store for each request and not cached with the snapshot. The content
of a page depends on its reader, who may see maps that others do not. Embeds and feeds show only the
maps that anonymous visitors may see.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

from mapshelf.accounts.feed_addresses import feed_address
from mapshelf.accounts.permissions import is_shown, may_change
from mapshelf.api.context import Context
from mapshelf.api.http import Request, Response
from mapshelf.api.visible_collections import SeenCollection, find_collection
from mapshelf.errors import NotFound
from mapshelf.model import Collection, Role, Visibility
from mapshelf.query import parse_query
from mapshelf.site.addresses import Addresses
from mapshelf.site.cards import Card
from mapshelf.site.collections_shown import CollectionCard, cards_of, collection_card
from mapshelf.site.map_page import embed_code
from mapshelf.site.messages import say
from mapshelf.site.oembed import Embedded, description
from mapshelf.site.page_resources import PageResources
from mapshelf.site.private import private_response
from mapshelf.site.responses import EMBEDDED, data_response, redirect
from mapshelf.writers.plain import sound

PAGE_SIZE: Final = 24
"""Number of collections on a page of the list."""

SUMMARY: Final = 300
"""Maximum length of the description for search engines and other sites, in characters."""


@dataclass(frozen=True, slots=True)
class CollectionList:
    """A page of the list of collections.

    Attributes:
        title: the heading.
        cards: the collections of this page.
        total: the number of collections on all pages.
        page: the number of this page, from 1.
        pages: the number of pages.
        previous: the URL of the previous page, empty on the first.
        following: the URL of the next page, empty on the last.
        everybody: the URL of the list for all owners, empty if this list is not limited to one.
    """

    title: str
    cards: list[CollectionCard]
    total: int
    page: int
    pages: int
    previous: str
    following: str
    everybody: str


class CollectionPages:
    """Handlers of the collection pages that do not require signing in."""

    def __init__(self, context: Context, resources: PageResources) -> None:
        """Create the handlers; ``resources`` are those of all pages."""
        self._context = context
        self._queues = context.queues
        self._addresses = resources.addresses
        self._templates = resources.templates

    async def list(self, request: Request) -> Response:
        """Answer a page of the list of published collections, of all owners or of one."""
        query = parse_query(request.query_string)
        owner, offset = dict(query.given).get("owner"), query.offset // PAGE_SIZE * PAGE_SIZE
        await self._context.sessions.authenticator()  # wait until the store is open
        asked = (owner, None, offset, PAGE_SIZE)
        some, total = await self._queues.lookups.result(
            ("collections", *asked),
            partial(self._context.store.get().collections, *asked),
            request.disconnection,
            owner=request.owner,
        )
        shown = (owner, offset, tuple(some), total)
        return await self._queues.pages.result(
            ("collections", *shown),
            partial(self._list, *shown),
            request.disconnection,
            owner=request.owner,
        )

    async def collection(self, request: Request) -> Response:
        """Answer the page of a collection, or its embed; redirect if the URL is not current."""
        asked = dict(parse_qsl(request.query_string.decode("latin-1")))
        embedded = asked.get("embed") == "1"
        found = await find_collection(self._context, request, for_anybody=embedded)
        collection = found.collection
        right = self._addresses.collection(collection.id, collection.title)
        if self._addresses.root + request.path != unquote(right):
            return found.guarded(redirect(right, request.query_string))
        make = partial(self._embedded if embedded else self._page, found)
        response = await self._queues.pages.result(
            object(), make, request.disconnection, owner=request.owner
        )
        if found.reader is not None:
            response = private_response(response)
        return found.guarded(response)

    async def feed(self, request: Request) -> Response:
        """Answer the maps of a collection as a feed."""
        found = await find_collection(self._context, request, for_anybody=True)
        make = partial(self._feed, found)
        response = await self._queues.pages.result(
            object(), make, request.disconnection, owner=request.owner
        )
        return found.guarded(response)

    async def own_feed(self, request: Request) -> Response:
        """Answer the same feed at a reader's secret URL, even for a private collection.

        Feed entries are often shared, so the feed contains only the maps that everyone can see.
        """
        found = await find_collection(self._context, request)
        maps = [one for one in found.maps if is_shown(one, found.collection, None)]
        make = partial(self._feed, replace(found, maps=maps), own=True)
        return await self._queues.pages.result(
            object(), make, request.disconnection, owner=request.owner
        )

    async def oembed(self, request: Request, public_id: str) -> Response:
        """Answer the oEmbed description of a published collection.

        Raises:
            NotFound: there is no such collection, or it is not published.
        """
        found = await find_collection(self._context, request, public_id, for_anybody=True)
        if found.collection.visibility is not Visibility.PUBLISHED:
            raise NotFound("There is no collection at this address that may be embedded.")
        shown = collection_card(found.collection, self._addresses)
        embedded = Embedded(
            shown.title, shown.owner, shown.owner_address, shown.address, shown.large, (1280, 960)
        )
        body = description(embedded, request.query_string, self._addresses)
        return data_response(b"application/json", body)

    # -- run in threads -------------------------------------------------------------------

    def _list(
        self, owner: str | None, offset: int, some: Sequence[Collection], total: int
    ) -> Response:
        cards = [collection_card(one, self._addresses) for one in some]
        page = _page_of(self._addresses, owner, offset, total, cards)
        return self._templates.page("collections.html", {"list": page})

    def _page(self, found: SeenCollection) -> Response:
        return self._templates.page("collection.html", self._values(found))

    def _embedded(self, found: SeenCollection) -> Response:
        return self._templates.page("collection_embed.html", self._values(found), EMBEDDED)

    def _values(self, found: SeenCollection) -> dict[str, Any]:
        collection, reader = found.collection, found.reader
        shown = collection_card(collection, self._addresses)
        absolute = self._addresses.absolute(shown.address)
        may = reader is not None and may_change(collection, reader)
        return {
            "collection": shown,
            "cards": self._cards(found),
            "hidden": found.hidden if may else 0,
            "may_change": may,
            "may_pin": reader is not None and reader.role is Role.ADMINISTRATOR,
            "summary": " ".join(collection.text.split())[:SUMMARY],
            "listed": collection.visibility is Visibility.PUBLISHED,
            "feed": self._addresses.collection_feed(collection.id),
            "secret_feed": self._context.settings.private
            or collection.visibility is Visibility.PRIVATE,
            "own_feed": feed_address(self._addresses.base_url, "…", f"/collected/{collection.id}"),
            "embed": embed_code(absolute, collection.title),
            "oembed": self._addresses.oembed(absolute),
            "absolute": self._addresses.absolute,
        }

    def _feed(self, found: SeenCollection, *, own: bool = False) -> Response:
        addresses, collection = self._addresses, found.collection
        shown = collection_card(collection, addresses)
        values = {
            "title": sound(f"{say('site')}: {collection.title}"),
            "address": addresses.absolute(shown.address),
            "own": addresses.absolute(addresses.collection_feed(collection.id)),
            "updated": shown.changed.iso,
            "entries": [_entry(one, addresses) for one in self._cards(found)],
            "secret": own,
        }
        body = self._templates.text("feed.atom", values).encode()
        return data_response(b"application/atom+xml; charset=utf-8", body)

    def _cards(self, found: SeenCollection) -> Sequence[Card]:
        return cards_of(found.maps, self._addresses, self._context.snapshot.get().snapshot)


def _entry(one: Card, addresses: Addresses) -> dict[str, str]:
    return {
        "id": f"{addresses.base_url}/mindmaps/{one.id}",
        "title": sound(one.title),
        "address": addresses.absolute(one.address),
        "picture": addresses.absolute(one.large),
        "date": one.added,
        "owner": sound(one.owner),
        "category": sound(one.category),
        "summary": sound(one.description),
    }


def _page_of(
    addresses: Addresses, owner: str | None, offset: int, total: int, cards: list[CollectionCard]
) -> CollectionList:
    given = {"owner": owner} if owner else {}

    def at(place: int) -> str:
        return addresses.collections({**given, **({"offset": str(place)} if place else {})})

    end = offset + PAGE_SIZE
    return CollectionList(
        title=say("collections.of", name=owner) if owner else say("collections"),
        cards=cards,
        total=total,
        page=offset // PAGE_SIZE + 1,
        pages=max(1, -(-total // PAGE_SIZE)),
        previous=at(max(0, offset - PAGE_SIZE)) if offset > 0 else "",
        following=at(end) if end < total else "",
        everybody=addresses.collections({}) if owner else "",
    )
