"""Make the feed of a saved search: the maps that match it now, in the format of any list's feed.

The search is read from the store for each request, so changes apply at once. Its entries come from
the snapshot, which contains only published maps. Anyone with the URL can read the feed, because
feed readers cannot sign in. A private catalogue requires a session or the secret feed URL of the
owner.
"""

from dataclasses import replace
from functools import partial

from mapshelf.api.context import Context
from mapshelf.api.http import Request, Response
from mapshelf.api.saved_searches import no_search
from mapshelf.api.visible_maps import NO_INDEX
from mapshelf.model import SavedSearch, name_key
from mapshelf.query import parse_query
from mapshelf.site.feed import feed_values
from mapshelf.site.messages import say
from mapshelf.site.page_resources import PageResources
from mapshelf.site.responses import data_response
from mapshelf.snapshot.read import Snapshot
from mapshelf.writers.plain import sound


class SavedSearchFeeds:
    """Handlers of the feeds of saved searches."""

    def __init__(self, context: Context, resources: PageResources) -> None:
        """Create the handlers; ``resources`` are those of all pages."""
        self._context = context
        self._addresses = resources.addresses
        self._templates = resources.templates

    async def feed(self, request: Request) -> Response:
        """Answer the maps that match a saved search."""
        return await self._answer(request, await self._found(request), own=False)

    async def own_feed(self, request: Request) -> Response:
        """Answer the same feed at the secret URL of the user who saved the search.

        Raises:
            NotFound: the search does not exist, or the secret URL belongs to another user.
        """
        found = await self._found(request)
        if request.user is None or name_key(request.user.name) != name_key(found.owner):
            raise no_search()
        return await self._answer(request, found, own=True)

    async def _found(self, request: Request) -> SavedSearch:
        await self._context.sessions.authenticator()  # wait until the store is open
        public_id = request.parts["id"]
        find = partial(self._context.store.get().find_saved_search, public_id)
        key = ("saved search", public_id)
        found = await self._context.queues.lookups.result(
            key, find, request.disconnection, owner=request.owner
        )
        if found is None:
            raise no_search()
        return found

    async def _answer(self, request: Request, found: SavedSearch, *, own: bool) -> Response:
        limit = parse_query(request.query_string).limit
        snapshot = self._context.snapshot.get().snapshot
        make = partial(self._feed, found, limit, snapshot, own)
        queue = self._context.queues.pages
        return await queue.result(object(), make, request.disconnection, owner=request.owner)

    def _feed(self, found: SavedSearch, limit: int, snapshot: Snapshot, own: bool) -> Response:
        query = replace(parse_query(found.parameters.encode()), limit=limit)
        addresses = self._addresses
        values = {
            **feed_values(snapshot, query, addresses),
            "title": sound(f"{say('site')}: {found.name}"),
            "own": addresses.absolute(addresses.saved_feed(found.id)),
            "secret": own,
        }
        body = self._templates.text("feed.atom", values).encode()
        return _unlisted(data_response(b"application/atom+xml; charset=utf-8", body))


def _unlisted(response: Response) -> Response:
    """Return a response with a header that keeps it out of search engines."""
    compressed = response.compressed and _unlisted(response.compressed)
    return replace(response, headers=(*response.headers, NO_INDEX), compressed=compressed)
