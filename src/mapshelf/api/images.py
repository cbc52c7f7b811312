"""``GET /maps/{ID}/images/{digest}.png``: a picture in a topic of a map.

The outline of a map contains these addresses, and its page shows them. So they are as public as its
thumbnail, and cached alike. The picture is always re-encoded (``render.image_worker``), never sent
as it is in the file. The address contains its digest, so it never changes.
"""

from functools import partial
from typing import Final
from urllib.parse import urlencode

from mapshelf.api.context import Context
from mapshelf.api.current_snapshot import Deferred
from mapshelf.api.documents import Body, Kind, document_response
from mapshelf.api.feedback_queue import TakesLong, must_be_quick
from mapshelf.api.http import Headers, Request, Response
from mapshelf.api.thumbnails import PRIVATE, PUBLIC
from mapshelf.api.visible_maps import find_map
from mapshelf.errors import InvalidParameter, NotFound
from mapshelf.query import read_parameters
from mapshelf.render.image_worker import (
    LARGEST_SIDE,
    ImageRequest,
    ImageTakesLong,
    ImageTime,
    ImageWorker,
)
from mapshelf.render.render_request import WIDTHS
from mapshelf.snapshot.read import Record
from mapshelf.store.contract import Maps

PARAMETERS: Final = ("w",)

PATIENCE: Final = 60.0
"""Seconds to wait while pictures for documents are converted."""

IMAGE_WIDTHS: Final = (*WIDTHS, LARGEST_SIDE)


async def show_image(context: Context, request: Request) -> Response:
    """Return a picture in a topic."""
    width = parse_width(request.query_string)
    caching = PRIVATE if context.settings.private else PUBLIC
    found = await find_map(context, request)
    asked = ImageRequest(request.parts["digest"], width)
    wanted = (context.image_worker, context.store.get(), found.record, asked, caching)

    def make() -> Response | Deferred:
        cached = cached_image(*wanted)
        return cached or Deferred(context.queues.images, partial(make_image, *wanted))

    query_string = urlencode({"w": width}).encode()
    return await found.response(request, context.queues.thumbnails, make, query_string)


def parse_width(query_string: bytes) -> int:
    """Return the requested maximum width of the picture.

    Raises:
        InvalidParameter: the value is not supported.
    """
    width = read_parameters(query_string, PARAMETERS).get("w", str(LARGEST_SIDE))
    if width not in map(str, IMAGE_WIDTHS):
        raise InvalidParameter(f"The w value must be one of {', '.join(map(str, IMAGE_WIDTHS))}.")
    return int(width)


def cached_image(
    worker: ImageWorker, store: Maps, record: Record, asked: ImageRequest, caching: Headers
) -> Response | None:
    """Return a picture if it is cached, with the headers ``caching``.

    Raises:
        NotFound: the map has no such picture, or it cannot be shown.
    """
    # The cached picture may belong to another map, or to an earlier version of this one.
    if not store.has_image(record.file_id, asked.digest):
        raise _no_image()
    # A cached width is shown even if another width has failed since.
    cached = worker.cached(asked)
    if cached is not None:
        return _response(cached, caching)
    if worker.has_refused(asked) or worker.has_spent_its_time(record.file_id):
        raise _no_image()
    return None


def make_image(
    worker: ImageWorker, store: Maps, record: Record, asked: ImageRequest, caching: Headers
) -> Response:
    """Return a picture, from the cache or converted now, with the headers ``caching``.

    Raises:
        NotFound: see ``cached_image``.
        TakesLong: it takes long, as far as is known, and this thread must be quick.
    """
    owner, file_id = record.owner, record.file_id
    quick = must_be_quick()
    if quick and worker.takes_long(owner, file_id):
        raise TakesLong
    data = store.image(file_id, asked.digest)
    try:
        time = ImageTime(PATIENCE, quick=quick)
        picture = worker.image(asked, data, file_id, time) if data is not None else None
    except ImageTakesLong:
        worker.note_long(owner, file_id)
        raise TakesLong from None
    if picture is None:
        raise _no_image()
    return _response(picture, caching)


def _no_image() -> NotFound:
    return NotFound("This map has no such picture.")


def _response(picture: Body, caching: Headers) -> Response:
    return document_response(Kind(b"image/png", caching), picture)
