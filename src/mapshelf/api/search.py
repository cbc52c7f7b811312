"""``GET /search`` and ``GET /suggest``: where in the maps it stands, and what is being typed.

Maps come from the snapshot like every list; their topics come from the store, which alone has them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Final

import orjson

from mapshelf.api.http import CHECKED_EACH_TIME, Response, json_response
from mapshelf.api.maps import list_etag, list_response
from mapshelf.branches import best_branches
from mapshelf.folding import fold
from mapshelf.marking import Marker
from mapshelf.outlines import decode_outline
from mapshelf.query import MapQuery
from mapshelf.snapshot import Hits, Snapshot
from mapshelf.store import Store

BRANCHES: Final = 3
"""Topics shown of each map."""

LOOKED_INTO: Final = 8
"""Maps whose topics are looked at to complete what is being typed."""

LARGE: Final = 32_768
"""Bytes of an encoded outline that takes too long to look into while somebody types."""

LONGEST_SUGGESTION: Final = 120
"""Characters of a suggestion; a longer topic is no help to who types."""


def search_maps(snapshot: Snapshot, store: Store, query: MapQuery, base_url: bytes) -> Response:
    """Return the page of maps that ``query`` asks for, each with its best matching topics.

    Raises:
        StoreDamaged: an outline cannot be read.
    """
    hits = snapshot.search(query, base_url)
    found = [
        {"map": orjson.Fragment(record.body), "topics": branches}
        for record, branches in zip(hits.records, _topics_of(hits, store), strict=True)
    ]
    address = f"{base_url.decode()}/search"
    return list_response(orjson.dumps(found), query, hits.total, hits.corrected, address)


def suggest(snapshot: Snapshot, store: Store, query: MapQuery) -> Response:
    """Return what may be meant by what has been typed so far: titles first, then topics.

    Raises:
        StoreDamaged: an outline cannot be read.
    """
    found: dict[str, dict[str, str]] = {}
    for title in snapshot.titled(query.text, 2 * query.limit) if query.text else ():
        found.setdefault(fold(title), {"text": title, "kind": "title"})
    if query.text and len(found) < query.limit:
        for topic in _topics(snapshot, store, query):
            found.setdefault(fold(topic), {"text": topic, "kind": "topic"})
    body = orjson.dumps(list(found.values())[: query.limit])
    return json_response(200, body, [(b"etag", list_etag(body, 0)), *CHECKED_EACH_TIME])


def _topics_of(hits: Hits, store: Store) -> Iterator[list[dict[str, object]]]:
    for record in hits.records:
        outline = store.outline(record.file_id) if len(hits.marker) else None
        yield _branches(outline, hits.marker, record.title) if outline else []


def _branches(outline: bytes, marker: Marker, title: str) -> list[dict[str, object]]:
    branches = best_branches(decode_outline(outline), marker, title, BRANCHES)
    return [asdict(branch) for branch in branches]


def _topics(snapshot: Snapshot, store: Store, query: MapQuery) -> Iterable[str]:
    """Yield texts of topics that say all that was typed, from the maps that match best."""
    looked_into = MapQuery(query.text, order=None, filters=query.filters, limit=LOOKED_INTO)
    hits = snapshot.search(looked_into, b"", correct=False)
    for record in hits.records:
        outline = store.outline(record.file_id)
        if outline is None or len(outline) > LARGE:
            continue
        for _, topic in decode_outline(outline).topics():
            text = " ".join(topic.text.split())
            if len(text) <= LONGEST_SUGGESTION:
                said = {mark.part for mark in hits.marker.marks(text)}
                if said and len(said) == len(hits.marker):
                    yield text
