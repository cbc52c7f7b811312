"""Search within one map: show a page of matching topics, for browsers without scripts.

The script of the drawn map searches as users type. This page works without it, and lists up to
``MOST_FOUND`` matches, of which the library shows only three.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import urlencode

import orjson

from mapshelf.api.context import Context
from mapshelf.api.http import Request, Response
from mapshelf.api.visible_maps import FoundMap, find_map
from mapshelf.formats.outline_bytes import unpacked_up_to
from mapshelf.formats.outline_texts import read_texts
from mapshelf.query import parse_query
from mapshelf.search.snippets import API_BUDGET, topics_with
from mapshelf.site.cards import FoundTopic, found_topic
from mapshelf.site.page_resources import PageResources

AT: Final = "/mindmaps/{id}/{slug}/find"

MOST_FOUND: Final = 100
"""Maximum number of topics on the page."""


@dataclass(frozen=True, slots=True)
class TopicMatches:
    """The matches in a map.

    Attributes:
        topics: the topics that match the most words, in the order of the map.
        too_large: whether the map is too large to search here.
    """

    topics: list[FoundTopic]
    too_large: bool = False

    @property
    def more(self) -> bool:
        """Whether there may be more matches than are shown."""
        return len(self.topics) == MOST_FOUND


class FindInMapPages:
    """Handler of the page of matching topics."""

    def __init__(self, context: Context, resources: PageResources) -> None:
        """Create the handlers; ``resources`` are those of all pages."""
        self._context = context
        self._resources = resources

    async def page(self, request: Request) -> Response:
        """Respond with the topics that match the parameter ``query``."""
        text = parse_query(request.query_string).text
        found = await find_map(self._context, request, b"")
        asked = urlencode({"query": text}).encode()
        make = partial(self._page, found, text)
        return await found.response(request, self._context.queues.long_searches, make, asked)

    def _page(self, found: FoundMap, text: str) -> Response:
        addresses, record = self._resources.addresses, found.record
        public_id = orjson.loads(record.body)["ID"]
        values = {
            "title": record.title,
            "text": text,
            "address": addresses.map(public_id, record.title),
            "library": addresses.library({"query": text} if text else {}),
            "found": self._findings(found, public_id, text),
        }
        return self._resources.templates.page("finding.html", values)

    def _findings(self, found: FoundMap, public_id: str, text: str) -> TopicMatches:
        highlighter = found.snapshot.highlighter(text).within(found.record.details.language)
        encoded = self._context.store.get().outline(found.record.file_id)
        if not encoded or not len(highlighter):
            return TopicMatches([])
        most = API_BUDGET.outline_bytes
        document = unpacked_up_to(encoded, most)
        if document is None:
            return TopicMatches([], too_large=True)
        outline = read_texts(document)
        snippets = topics_with(outline, highlighter, MOST_FOUND, API_BUDGET.topics_per_map)
        title, addresses = found.record.title, self._resources.addresses
        return TopicMatches([found_topic(one, public_id, title, addresses) for one in snippets])
