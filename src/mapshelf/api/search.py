"""``GET /search`` and ``GET /suggest``: where in the maps it stands, and what is being typed.

Maps come from the snapshot like every list; their topics come from the store, which alone has them.
"""

import logging
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Final

import orjson

from mapshelf.api.context import Context
from mapshelf.api.http import CHECKED_EACH_TIME, Request, Response, json_response
from mapshelf.api.maps import list_etag, list_response
from mapshelf.errors import StoreDamaged
from mapshelf.formats.outline_codec import decode_outline, outline_texts
from mapshelf.model import Outline
from mapshelf.query import MapQuery, parse_query
from mapshelf.search.snippets import best_branches
from mapshelf.snapshot.read import Record, Snapshot
from mapshelf.store.contract import Maps
from mapshelf.text.normalize import fold

BRANCHES: Final = 3
"""Topics shown of each map."""

LOOKED_INTO: Final = 5
"""Maps whose topics are looked at to complete what is being typed."""

TITLES: Final = 6
"""Titles that are looked at for each suggestion: of those that several maps have, one is told."""

LARGE: Final = 24_576
"""Bytes of encoded outlines that are looked into while somebody types: a millisecond or two."""

READ_CLOSELY: Final = 50
"""Topics of which every word is looked at for one answer: another millisecond."""

LOOKED_THROUGH: Final = 10_000
"""Topics that are looked through for one answer, which takes a second at most. Maps for which no
room is left are found, but none of their topics is shown."""

LARGEST: Final = 262_144
"""Bytes of an encoded outline that is looked through at all; seldom has a map a tenth of that."""

LONGEST_SUGGESTION: Final = 120
"""Characters of a suggestion; a longer topic is no help to who types."""


log = logging.getLogger(__name__)


async def search_maps(context: Context, request: Request) -> Response:
    """Return the page of maps that a request asks for, each with its best matching topics."""
    current, query = context.snapshot.get(), parse_query(request.query_string)
    make = partial(_search, current.snapshot, context.store.get(), query, context.base_url)
    return await current.response(request, context.queues.searches, make)


async def suggest(context: Context, request: Request) -> Response:
    """Return what may be meant by what has been typed so far: titles first, then topics."""
    current, query = context.snapshot.get(), parse_query(request.query_string)
    make = partial(suggestions, current.snapshot, context.store.get(), query)
    return await current.response(request, context.queues.searches, make)


def _search(snapshot: Snapshot, store: Maps, query: MapQuery, base_url: bytes) -> Response:
    hits = snapshot.search(query, base_url)
    found, room = [], LOOKED_THROUGH
    for record in hits.records:
        encoded = _encoded(store, record) if len(hits.marker) and room > 0 else b""
        outline = _outline(encoded, record) if len(encoded) <= LARGEST else None
        branches = []
        if outline:
            branches = best_branches(outline, hits.marker, record.title, BRANCHES, room)
            room -= outline.topic_count
        topics = [asdict(branch) for branch in branches]
        found.append({"map": orjson.Fragment(record.body), "topics": topics})
    address = f"{base_url.decode()}/search"
    return list_response(orjson.dumps(found), query, hits.total, hits.corrected, address)


def suggestions(snapshot: Snapshot, store: Maps, query: MapQuery) -> Response:
    """Return what may be meant by the text of ``query``."""
    found: dict[str, dict[str, str]] = {}
    if query.text and query.limit:
        for title in snapshot.titled(query, TITLES * query.limit):
            found.setdefault(fold(title), {"text": title, "kind": "title"})
        if len(found) < query.limit:
            for topic in _topics(snapshot, store, query):
                found.setdefault(fold(topic), {"text": topic, "kind": "topic"})
    body = orjson.dumps(list(found.values())[: query.limit])
    return json_response(200, body, [(b"etag", list_etag(body, 0)), *CHECKED_EACH_TIME])


def _topics(snapshot: Snapshot, store: Maps, query: MapQuery) -> Iterator[str]:
    """Yield texts of topics that say all that was typed, from the maps that match best."""
    looked_into = MapQuery(query.text, order=None, filters=query.filters, limit=LOOKED_INTO)
    hits = snapshot.search(looked_into, b"", correct=False)
    marker, room, left = hits.marker, LARGE, READ_CLOSELY
    for record in hits.records if len(marker) else ():
        encoded = _encoded(store, record)
        if len(encoded) > room:
            continue
        room -= len(encoded)
        for topic in marker.hinted(_texts(encoded, record))[:left]:
            left -= 1
            text = " ".join(topic.split())
            if len(text) <= LONGEST_SUGGESTION and len(marker.said(text)) == len(marker):
                yield text


def _encoded(store: Maps, record: Record) -> bytes:
    """Return the encoded outline of a map, empty if it has none."""
    return store.outline(record.file_id) or b""


def _outline(encoded: bytes, record: Record) -> Outline | None:
    """Return the outline of a map, ``None`` if it has none, or a damaged one."""
    try:
        return decode_outline(encoded) if encoded else None
    except StoreDamaged as error:
        _tell(record, error)
        return None


def _texts(encoded: bytes, record: Record) -> list[str]:
    """Return the texts of a map's topics, none if its outline is damaged."""
    try:
        return outline_texts(encoded) if encoded else []
    except StoreDamaged as error:
        _tell(record, error)
        return []


def _tell(record: Record, error: StoreDamaged) -> None:
    # One damaged outline must not keep all other maps from being found.
    log.error("the topics of map %s cannot be shown: %s", record.file_id, error)
