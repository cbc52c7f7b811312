"""``GET /maps/{ID}/drawing.svg``, ``.png`` and ``.pdf``: a complete drawing of a map or a branch.

A thumbnail shows the part of a map that fits a given size; a drawing has every topic. Sandboxed
children make it (``documents``), because PDFs and pictures are slow even for small maps. Maps that
are large or have pictures take seconds, so they have their own queue and child, and drawings of
other maps never wait for them. As with thumbnails, no token is needed unless the catalogue is
private.
"""

from functools import partial
from typing import Final
from urllib.parse import urlencode

from mapshelf.api.content_disposition import inline
from mapshelf.api.context import Context
from mapshelf.api.current_snapshot import Deferred
from mapshelf.api.documents import TOO_LARGE, Documents, Kind, MapOutline
from mapshelf.api.feedback_queue import must_be_quick
from mapshelf.api.http import Headers, Request, Response, provisional, with_missing_pictures
from mapshelf.api.map_detail import encoded_outline
from mapshelf.api.thumbnails import HARMLESS, PRIVATE, PUBLIC
from mapshelf.api.topic_pictures import MOST_PICTURES, PICTURE_SECONDS, TopicPictures
from mapshelf.api.visible_maps import find_map
from mapshelf.errors import InvalidParameter, NotFound, TooLarge
from mapshelf.formats.outline_lookup import may_have
from mapshelf.formats.outline_size import is_large
from mapshelf.model import Outline
from mapshelf.query import number_up_to, read_parameters
from mapshelf.render.render_request import DrawingRequest, Pictures
from mapshelf.render.themes import LIGHT, THEMES
from mapshelf.snapshot.read import Record
from mapshelf.store.contract import Maps

MEDIA_TYPES: Final = {
    "svg": b"image/svg+xml",
    "png": b"image/png",
    "pdf": b"application/pdf",
}
"""The media types of drawings, by format."""

PARAMETERS: Final = ("topic", "sheet", "theme")

PICTURE_WIDTH: Final = 640
"""Maximum width of the pictures in a drawing, in pixels."""

MOST_PICTURE_BYTES: Final = 32 << 20
"""Maximum total size in bytes of the pictures in a drawing: the others become empty frames."""

_MOST_SHEETS: Final = 10**6
"""No map has that many sheets."""


async def show_drawing(context: Context, request: Request) -> Response:
    """Return the drawing of a map."""
    parsed = parse_drawing(request.query_string, request.parts["drawing"])
    caching = PRIVATE if context.settings.private else PUBLIC
    found = await find_map(context, request)
    maker = DrawingMaker(context)
    make = partial(maker.deferred, found.record, parsed, caching)
    # Only what differs from the defaults, as a request would say it: it is looked up by its query.
    given = {
        "topic": parsed.topic,
        "sheet": parsed.sheet,
        "theme": "" if parsed.theme == LIGHT.name else parsed.theme,
    }
    query_string = urlencode({name: value for name, value in given.items() if value}).encode()
    return await found.response(request, context.queues.drawing_lookups, make, query_string)


def parse_drawing(query_string: bytes, drawing_format: str) -> DrawingRequest:
    """Parse the parameters of a request; the drawing has no title yet.

    Raises:
        InvalidParameter: a value is not supported.
    """
    values = read_parameters(query_string, PARAMETERS)
    theme = values.get("theme", LIGHT.name)
    if theme not in THEMES:
        raise InvalidParameter(f"The theme value must be one of {', '.join(THEMES)}.")
    sheet = _sheet(values.get("sheet", ""))
    return DrawingRequest("", drawing_format, theme, sheet, values.get("topic", ""))


def _sheet(value: str) -> int:
    if not value:
        return 0
    number = number_up_to(value, _MOST_SHEETS)
    if not number:
        raise InvalidParameter("The sheet value must be the number of a sheet, from 1.")
    return number


class DrawingMaker:
    """Makes drawings, with the pictures in them."""

    def __init__(self, context: Context) -> None:
        self._store: Maps = context.store.get()
        self._pictures = TopicPictures(self._store, context.image_worker)
        self._slow = context.documents
        self._fast = context.small_drawings

    def deferred(self, record: Record, parsed: DrawingRequest, caching: Headers) -> Deferred:
        """Return the work of making a drawing with the headers ``caching``.

        Raises:
            NotFound: the map has no outline, no such sheet or no such topic.
            StoreDamaged: the outline cannot be decoded.
        """
        outline = self._outline(record, parsed)
        is_slow = is_large(outline) or bool(self._store.image_digests(record.file_id))
        documents = self._slow if is_slow else self._fast
        make = partial(self._response, record, parsed, caching, documents)
        return Deferred(documents.queue, make, lasting=True)

    def _outline(self, record: Record, parsed: DrawingRequest) -> bytes:
        outline = encoded_outline(self._store, record)
        # The child would also detect this, but there is no end of wrong values.
        try:
            known = may_have(outline, parsed.topic, parsed.sheet)
        except TooLarge:
            raise NotFound(TOO_LARGE) from None
        if not known:
            raise NotFound("This map has no such topic or sheet.")
        return outline

    def _response(
        self, record: Record, parsed: DrawingRequest, caching: Headers, documents: Documents
    ) -> Response:
        # Read it again: holding it would use memory while the request waits in the queue.
        outline = self._outline(record, parsed)
        drawing = DrawingRequest(
            record.title, parsed.format, parsed.theme, parsed.sheet, parsed.topic
        )
        kind = _kind(drawing, caching)
        pictures = self._pictures.of_map(
            record,
            self._store.image_digests(record.file_id),
            quick=must_be_quick(),
            most=MOST_PICTURES,
            width=PICTURE_WIDTH,
            most_bytes=MOST_PICTURE_BYTES,
            seconds=PICTURE_SECONDS,
        )
        source = MapOutline(outline, record.owner)
        response = documents.of_outline(draw_map, source, (drawing, pictures), kind)
        response = with_missing_pictures(response, pictures.missing)
        return response if pictures.complete else provisional(response)


def draw_map(outline: Outline, drawing: DrawingRequest, pictures: Pictures) -> bytes:
    """Return a drawing, in the child; only the child imports the drawing code."""
    from mapshelf.render.map_drawing import map_drawing  # noqa: PLC0415

    return map_drawing(outline, drawing, pictures)


def _kind(drawing: DrawingRequest, caching: Headers) -> Kind:
    headers = (
        (b"content-disposition", inline(drawing.title, drawing.format)),
        *caching,
        *((HARMLESS,) if drawing.format == "svg" else ()),
    )
    return Kind(MEDIA_TYPES[drawing.format], headers)
