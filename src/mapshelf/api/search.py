"""``GET /search`` and ``GET /suggest``: maps with their matching topics, and completions.

Maps come from the snapshot, as in every list. Their topics are only in the store.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Final, TypeVar

import orjson

from mapshelf.api.context import Context
from mapshelf.api.current_snapshot import Deferred
from mapshelf.api.http import CHECKED_EACH_TIME, Request, Response, etag, json_response
from mapshelf.api.maps import list_response
from mapshelf.api.visible_maps import require_no_takeover
from mapshelf.errors import StoreDamaged
from mapshelf.formats.outline_codec import outline_texts
from mapshelf.formats.outline_size import size_up_to
from mapshelf.query import MapQuery, parse_query
from mapshelf.search.deadline import Deadline
from mapshelf.search.highlight import Highlighter
from mapshelf.search.snippets import API_BUDGET, Snippet, SnippetFinder, marked_line
from mapshelf.snapshot.format.records import record_ids
from mapshelf.snapshot.read import Details, Hits, Record, Snapshot
from mapshelf.store.contract import Maps
from mapshelf.text.normalize import normalize

T = TypeVar("T")

SUGGEST_MAPS: Final = 5  # maps whose topics may be suggested

SUGGEST_TITLES: Final = 6
"""Titles examined for each suggestion: several maps may share a title, which is suggested once."""

SUGGEST_OUTLINE_BYTES: Final = 131_072
"""Bytes of decompressed outlines read while a person types: a millisecond or two."""

SUGGEST_TOPICS: Final = 50  # topics matched word by word for one response: another millisecond

LONGEST_SUGGESTION: Final = 120  # characters; a longer topic does not help a person who types

SUGGEST_SECONDS: Final = 0.05
"""Seconds of processor time for finding topics. Only hostile ones take more than milliseconds."""

log = logging.getLogger(__name__)


async def search_maps(context: Context, request: Request) -> Response:
    """Return the requested page of maps, each with its best matching topics."""
    current, query = context.snapshot.get(), parse_query(request.query_string)
    make = partial(_search, context, current.snapshot, query)
    return await current.response(request, context.queues.searches, make)


async def suggest(context: Context, request: Request) -> Response:
    """Return completions of a query while it is being typed: titles first, then topics."""
    current, query = context.snapshot.get(), parse_query(request.query_string)
    make = partial(suggestions, current.snapshot, context.store.get(), query)
    return await current.response(request, context.queues.searches, make)


def _search(context: Context, snapshot: Snapshot, query: MapQuery) -> Response | Deferred:
    hits = snapshot.search(query, context.base_url)
    finder = SnippetFinder(hits.highlighter, API_BUDGET, context.store.get().takeovers())
    topics = _found_topics(context, hits, finder)
    if finder.is_interrupted:
        make = partial(_resumed_search, context, query, hits, finder)
        return Deferred(context.queues.long_searches, make)
    return _search_response(context, query, hits, topics)


def _resumed_search(
    context: Context, query: MapQuery, hits: Hits, finder: SnippetFinder
) -> Response:
    finder.resume()
    return _search_response(context, query, hits, _found_topics(context, hits, finder))


def _found_topics(context: Context, hits: Hits, finder: SnippetFinder) -> list[list[Snippet]]:
    store = context.store.get()
    read = partial(_snippets, finder, store)
    return topics_of_open(store, hits.records, read, finder.takeovers)


def _search_response(
    context: Context, query: MapQuery, hits: Hits, topics: list[list[Snippet]]
) -> Response:
    found = []
    for record, some in zip(hits.records, topics, strict=True):
        file = _file(record.details, hits.highlighter)
        topic_rows = [asdict(snippet) for snippet in some]
        found.append({"map": orjson.Fragment(record.body), "topics": topic_rows, "file": file})
    address = f"{context.base_url.decode()}/search"
    return list_response(orjson.dumps(found), query, hits.total, hits.corrected, address)


def topics_of_open(
    store: Maps, records: Sequence[Record], read: Callable[[Record], list[T]], takeovers: int
) -> list[list[T]]:
    """Return what ``read`` finds in the outline of each map; nothing if the map is hidden by now.

    Outlines are in the store, where they may be newer than the snapshot. So the store is asked
    *after* reading whether everybody may still see the maps.

    Args:
        store: the store.
        records: the maps.
        read: reads the outline of a map.
        takeovers: ``store.takeovers()`` before it read the first.

    Raises:
        StoreUnavailable: the store cannot be reached, or another server took over meanwhile.
    """
    found = [read(record) for record in records]
    if not any(found):  # true of every list without a search
        return found
    ids = [record_ids(record.body)[1] for record in records]
    shown = store.open_ids([one for one, some in zip(ids, found, strict=True) if some])
    require_no_takeover(store, takeovers)
    return [some if one in shown else [] for one, some in zip(ids, found, strict=True)]


def suggestions(snapshot: Snapshot, store: Maps, query: MapQuery) -> Response:
    """Return completions of what has been typed so far: titles first, then topics."""
    found: dict[str, dict[str, str]] = {}
    if query.text and query.limit:
        for title in snapshot.titled(query, SUGGEST_TITLES * query.limit):
            found.setdefault(normalize(title), {"text": title, "kind": "title"})
        if len(found) < query.limit:
            for topic in _topics(snapshot, store, query):
                found.setdefault(normalize(topic), {"text": topic, "kind": "topic"})
    body = orjson.dumps(list(found.values())[: query.limit])
    return json_response(200, body, [etag(body), *CHECKED_EACH_TIME])


def _file(details: Details, highlighter: Highlighter) -> dict[str, str]:
    marked = marked_line(details.source, highlighter.within(details.language))
    return {"path": details.source, "marked": marked} if marked else {"path": "", "marked": ""}


def _snippets(finder: SnippetFinder, store: Maps, record: Record) -> list[Snippet]:
    """Return the snippets of a map, none if its outline is damaged."""
    try:
        load = partial(store.outline, record.file_id)
        return finder.find(record.file_id, record.title, record.details.language, load)
    except StoreDamaged as error:
        _log_damage(record, error)
        return []


def _topics(snapshot: Snapshot, store: Maps, query: MapQuery) -> Iterator[str]:
    """Yield matching topics from the best matching maps."""
    if query.title_only:
        return
    best = MapQuery(query.text, order=None, filters=query.filters, limit=SUGGEST_MAPS)
    hits = snapshot.search(best, b"", correct=False)
    records = hits.records if len(hits.highlighter) else []
    deadline = Deadline(SUGGEST_SECONDS)
    all_languages = hits.highlighter.until(deadline)
    takeovers = store.takeovers()
    bytes_left, topics_left = SUGGEST_OUTLINE_BYTES, SUGGEST_TOPICS

    def read(record: Record) -> list[str]:
        nonlocal bytes_left
        texts, size = _texts(store, record, bytes_left)
        bytes_left -= size
        return texts

    found = topics_of_open(store, records, read, takeovers)
    for record, texts in zip(records, found, strict=True):
        highlighter = all_languages.within(record.details.language)
        short = [text for one in texts if len(text := " ".join(one.split())) <= LONGEST_SUGGESTION]
        for text in highlighter.candidates(short)[:topics_left]:
            if deadline.is_over():
                return
            topics_left -= 1
            if len(highlighter.matched_terms(text)) == len(highlighter):
                yield text


def _texts(store: Maps, record: Record, most: int) -> tuple[list[str], int]:
    """Return the texts of a map's topics, and the size of its outline in bytes.

    There are none if the outline is damaged, or larger than ``most`` bytes.
    """
    encoded = store.outline(record.file_id)
    try:
        size = size_up_to(encoded, most) if encoded else 0
        return (outline_texts(encoded), size) if encoded and size <= most else ([], 0)
    except StoreDamaged as error:
        _log_damage(record, error)
        return [], 0


def _log_damage(record: Record, error: StoreDamaged) -> None:
    # One damaged outline must not prevent other maps from being found.
    log.error("the topics of map %s cannot be shown: %s", record.file_id, error)
