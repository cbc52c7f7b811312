"""Handle the page of shared topics: links from topics of a map to other maps that contain them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from time import thread_time
from typing import Final

import orjson

from mapshelf.api.context import Context
from mapshelf.api.http import Request, Response
from mapshelf.api.visible_maps import FoundMap, find_map
from mapshelf.formats.outline_lookup import first_texts
from mapshelf.query import MapQuery
from mapshelf.site.addresses import Addresses
from mapshelf.site.page_resources import PageResources
from mapshelf.snapshot.read import Snapshot

AT: Final = "/mindmaps/{id}/{slug}/elsewhere"

MOST_SEARCHED: Final = 100
"""Maximum number of distinct topics to search for in other maps, from the centre outwards."""

LONGEST_SEARCH: Final = 1.0
"""Seconds of processor time for these searches, which usually take milliseconds. The texts of a
hostile map repeat few words in hundreds of places, and would take minutes."""

_SHORTEST: Final = 5
_LONGEST: Final = 200
"""The shortest and the longest topics to search for, in characters. Shorter ones are in many maps
by chance."""


@dataclass(frozen=True, slots=True)
class SharedTopic:
    """A topic whose text other maps contain, too.

    Attributes:
        text: its text.
        address: the URL of the list of all maps that contain this text.
        count: the number of other maps.
    """

    text: str
    address: str
    count: int


class SharedTopicPages:
    """Handler of the page of shared topics."""

    def __init__(self, context: Context, resources: PageResources) -> None:
        """Create the handlers; ``resources`` are those of all pages."""
        self._context = context
        self._resources = resources

    async def page(self, request: Request) -> Response:
        """Answer the list of topics that a map shares with others."""
        found = await find_map(self._context, request, b"")
        make = partial(self._page, found)
        return await found.response(request, self._context.queues.pages, make, b"")

    def _page(self, found: FoundMap) -> Response:
        addresses = self._resources.addresses
        encoded = self._context.store.get().outline(found.record.file_id)
        texts = first_texts(encoded, MOST_SEARCHED) if encoded else []
        topics = shared_topics(texts, found.snapshot, addresses, own=found.is_cached)
        values = {
            "title": found.record.title,
            "address": addresses.map(orjson.loads(found.record.body)["ID"], found.record.title),
            "topics": topics,
        }
        return self._resources.templates.page("elsewhere.html", values)


def shared_topics(
    texts: Iterable[str], snapshot: Snapshot, addresses: Addresses, *, own: bool
) -> list[SharedTopic]:
    """Return the topics that other maps contain, too; those in the fewest maps come first.

    Args:
        texts: the texts of the topics.
        snapshot: the snapshot with the other maps.
        addresses: builds URLs.
        own: whether the snapshot contains the map itself, which is not counted.
    """
    found, began = [], thread_time()
    for text in dict.fromkeys(" ".join(text.replace('"', " ").split()) for text in texts):
        if not _SHORTEST <= len(text) <= _LONGEST:
            continue
        if thread_time() - began > LONGEST_SEARCH:
            break
        phrase = f'"{text}"'
        total = snapshot.search(MapQuery(phrase, order=None, limit=0), b"", correct=False).total
        if total > own:
            address = addresses.library({"query": phrase})
            found.append(SharedTopic(text, address, total - own))
    return sorted(found, key=lambda one: one.count)
