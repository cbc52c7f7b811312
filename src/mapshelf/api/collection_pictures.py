"""``GET /collections/{ID}/picture.png``: a collage of the first maps of a collection.

It shows only what anonymous visitors see, so it can be cached like thumbnails. Only the picture of
a private collection depends on its reader. An empty collection has the card of a map without
topics. The same sandboxed child that draws ``thumbnails`` composes the picture.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Final

from mapshelf.accounts.permissions import is_shown
from mapshelf.api.context import Context
from mapshelf.api.http import Request, Response, body_response, provisional
from mapshelf.api.map_writing import map_object
from mapshelf.api.thumbnails import (
    DRAWN,
    PRIVATE,
    PUBLIC,
    PictureQuery,
    ThumbnailMaker,
    parse_picture,
)
from mapshelf.api.visible_collections import SeenCollection, find_collection, seen_collection
from mapshelf.api.visible_maps import require_no_takeover
from mapshelf.api.work_queue import WorkQueue
from mapshelf.errors import Overloaded
from mapshelf.model import Map, Visibility
from mapshelf.render.render_request import WIDTHS, CollageRequest, RenderRequest
from mapshelf.render.render_worker import DrawingTakesLong, Picture
from mapshelf.snapshot.format.records import record_ids
from mapshelf.snapshot.read import Record
from mapshelf.store import Store

MOST_PICTURES: Final = 4
"""Number of maps in the picture of a collection."""


async def show_collection_picture(context: Context, request: Request) -> Response:
    """Return the picture of a collection."""
    asked = parse_picture(request.query_string, "png")
    asked = replace(asked, source=DRAWN)
    found = await find_collection(context, request)
    first = islice(_shown(found), MOST_PICTURES)
    records = [Record(one.file_id, map_object(one, context.base_url)) for one in first]
    part, takeovers = _of_part(asked, records), context.store.get().takeovers()
    drawn = [(one, await _drawn(context, request, one, part, takeovers)) for one in records]
    picture = await context.queues.drawings.result(
        ("collage", *records, found.collection, asked, takeovers),
        partial(_put_together, context, found, drawn, asked, takeovers),
        request.disconnection,
        owner=request.owner,
    )
    caching = PRIVATE if context.settings.private else PUBLIC
    headers = [(b"etag", f'"{picture.key}"'.encode()), *caching]
    response = body_response(200, b"image/png", picture.body, headers)
    return found.guarded(response if picture.complete else provisional(response))


def _shown(found: SeenCollection) -> Iterator[Map]:
    """Yield the maps that the picture may show."""
    collection = found.collection
    reader = found.reader if collection.visibility is Visibility.PRIVATE else None
    return (one for one in found.maps if is_shown(one, collection, reader))


def _of_part(asked: PictureQuery, records: list[Record]) -> PictureQuery:
    """Return the picture query for each map: half the width, if there are several."""
    width = asked.width if len(records) == 1 else max(WIDTHS[0], asked.width // 2)
    return replace(asked, width=width)


async def _drawn(
    context: Context, request: Request, record: Record, asked: PictureQuery, takeovers: int
) -> Picture:
    """Return the thumbnail of a map. Each is drawn by itself, so that others get their turns."""
    maker, queues = ThumbnailMaker(context), context.queues

    def find() -> Picture | WorkQueue:
        cached = maker.cached_picture(record, asked)
        return cached or (queues.documents if maker.is_large(record) else queues.drawings)

    found = await queues.thumbnails.result(
        object(), find, request.disconnection, owner=request.owner
    )
    if isinstance(found, Picture):
        return found
    key, draw = (record, asked, takeovers), partial(maker.picture, record, asked)
    try:
        return await found.result(
            key, partial(draw, quick=True), request.disconnection, owner=request.owner
        )
    except DrawingTakesLong:
        return await queues.long_drawings.result(
            key, draw, request.disconnection, owner=request.owner
        )


def _put_together(
    context: Context,
    found: SeenCollection,
    drawn: list[tuple[Record, Picture]],
    asked: PictureQuery,
    takeovers: int,
) -> Picture:
    if not drawn:
        return context.render_worker.picture(_card(found, asked), quick=True)
    records, pictures = [one for one, _ in drawn], [picture for _, picture in drawn]
    _check_shown(context, found, records)
    _check_no_takeover(context.store.get(), records, takeovers)
    if len(pictures) == 1:
        return pictures[0]
    keys, bodies = (tuple(one.key for one in pictures), tuple(one.body for one in pictures))
    request = CollageRequest(keys, bodies, asked.width, asked.theme)
    complete = all(one.complete for one in pictures)
    return context.render_worker.collage(request, complete=complete)


def _check_shown(context: Context, found: SeenCollection, records: list[Record]) -> None:
    """Check, after drawing these maps, that the picture may still show them.

    Before its topics were read, somebody may have hidden a map and replaced its file.

    Raises:
        NotFound: the collection itself was hidden.
        Overloaded: a map was hidden, so the picture has to be made without it.
    """
    now = seen_collection(context.store.get(), found.collection.id, found.reader)
    if not {one.file_id for one in records} <= {one.file_id for one in _shown(now)}:
        raise Overloaded("A map of this collection was just hidden; try again.")


def _check_no_takeover(store: Store, records: list[Record], takeovers: int) -> None:
    """See ``require_no_takeover``. Reading a collection does not show a takeover, so read a map."""
    store.find_map(record_ids(records[0].body)[1])
    require_no_takeover(store, takeovers)


def _card(found: SeenCollection, asked: PictureQuery) -> RenderRequest:
    title, owner = found.collection.title, found.collection.owner
    return RenderRequest(None, title, owner, "", asked.width, asked.theme, "png")
