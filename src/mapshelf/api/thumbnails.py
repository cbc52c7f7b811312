"""``GET /thumbnails/{ID}.png`` and ``.svg``: the thumbnail of a map.

Lists of maps contain these addresses, and other sites embed them: they need no token, and any cache
may store them for a while. In a private catalogue they need a token or a session, and only the
client may cache them. The ETag is the cache key of the picture, derived from its inputs, so it
changes with the map.

By default, the picture is our own drawing. With ``source=file``, it is the preview in the map's
file, if there is one: decoded and encoded again, never the original bytes
(``readers.parsing.pictures``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import urlencode

import orjson

from mapshelf.api.context import Context
from mapshelf.api.current_snapshot import Deferred
from mapshelf.api.http import Headers, Request, Response, body_response, provisional
from mapshelf.api.topic_pictures import PicturesTakeLong, TopicPictures
from mapshelf.api.visible_maps import find_map
from mapshelf.errors import InvalidParameter, NotFound, StoreDamaged
from mapshelf.formats.outline_lookup import outline_picture
from mapshelf.formats.outline_size import is_large
from mapshelf.model import UNCATEGORISED
from mapshelf.query import read_parameters
from mapshelf.render.render_request import WIDTHS, Pictures, PreviewRequest, RenderRequest
from mapshelf.render.render_worker import DrawingTakesLong, Picture
from mapshelf.render.themes import LIGHT, THEMES
from mapshelf.snapshot.read import Record
from mapshelf.store.contract import Maps

DEFAULT_WIDTH: Final = 320

MAXIMUM_AGE: Final = 300
"""Seconds for which a cache may reuse a picture without revalidating it.

Of two caches, each may: nginx does not say how old its copy is, so a browser keeps it as long
again. Pictures of a hidden map are to disappear within ten minutes all the same.
"""

MEDIA_TYPES: Final = {"png": b"image/png", "svg": b"image/svg+xml"}

DRAWN: Final = "drawn"
FROM_FILE: Final = "file"
SOURCES: Final = (DRAWN, FROM_FILE)

PARAMETERS: Final = ("w", "theme", "source")

PUBLIC: Final[Headers] = ((b"cache-control", b"public, max-age=%d" % MAXIMUM_AGE),)
PRIVATE: Final[Headers] = (
    (b"cache-control", b"private, no-cache"),
    (b"vary", b"Authorization, Cookie"),
)
"""Caching headers of a public catalogue, and of a private one, where a browser must not show the
picture after its reader has signed out."""

LARGEST_PICTURE: Final = 640
MOST_PICTURE_BYTES: Final = 8 << 20
"""Maximum width in pixels, and total bytes, of pictures in topics of a thumbnail."""

PICTURE_SECONDS: Final = 3.0
"""Seconds for the pictures in topics of one thumbnail: the others become empty frames."""

HARMLESS: Final = (b"content-security-policy", b"default-src 'none'; img-src data:; sandbox")
"""Content Security Policy for an SVG opened as a document: it may only show embedded pictures."""


@dataclass(frozen=True, slots=True)
class PictureQuery:
    """The parameters of a request; see ``RenderRequest``. ``source`` is one of ``SOURCES``."""

    width: int
    theme: str
    format: str
    source: str = DRAWN


async def show_thumbnail(context: Context, request: Request) -> Response:
    """Return the picture of a map."""
    asked = parse_picture(request.query_string, request.parts["picture"])
    found = await find_map(context, request)
    record = found.record
    maker = ThumbnailMaker(context)

    def make() -> Response | Deferred:
        cached = maker.cached(record, asked)
        if cached is not None:
            return cached
        if asked.source == FROM_FILE:
            return Deferred(context.queues.drawings, partial(maker.made, record, asked))
        later = Deferred(context.queues.long_drawings, partial(maker.made, record, asked))
        if maker.takes_long(record, asked):
            return later
        large = maker.is_large(record)
        queue = context.queues.documents if large else context.queues.drawings
        return Deferred(queue, partial(maker.made_or, later, record, asked), lasting=large)

    usual = _query_string(asked)
    response = await found.response(request, context.queues.thumbnails, make, usual)
    if not request.query_string and found.current.cached(request.path, usual) is response:
        found.current.cache((request.path, b""), response)  # under the address in lists
    return response


def _query_string(asked: PictureQuery) -> bytes:
    """Return the query string of this picture on our pages."""
    values = {"theme": asked.theme, "source": asked.source}
    defaults = {"theme": LIGHT.name, "source": DRAWN}
    given = {name: value for name, value in values.items() if value != defaults[name]}
    return urlencode({"w": asked.width, **given}).encode()


def parse_picture(query_string: bytes, picture_format: str) -> PictureQuery:
    """Parse the parameters of a request.

    Raises:
        InvalidParameter: a value is not supported.
    """
    values = read_parameters(query_string, PARAMETERS)
    width = values.get("w", str(DEFAULT_WIDTH))
    if width not in map(str, WIDTHS):
        raise InvalidParameter(f"The w value must be one of {', '.join(map(str, WIDTHS))}.")
    theme = values.get("theme", LIGHT.name)
    if theme not in THEMES:
        raise InvalidParameter(f"The theme value must be one of {', '.join(THEMES)}.")
    source = values.get("source", DRAWN)
    if source not in SOURCES:
        raise InvalidParameter(f"The source value must be one of {', '.join(SOURCES)}.")
    return PictureQuery(int(width), theme, picture_format, source)


class ThumbnailMaker:
    """Makes thumbnails, with the pictures in their topics."""

    def __init__(self, context: Context) -> None:
        self._store: Maps = context.store.get()
        self._worker = context.render_worker
        self._pictures = TopicPictures(self._store, context.image_worker)
        self._caching = PRIVATE if context.settings.private else PUBLIC

    def is_large(self, record: Record) -> bool:
        """Return whether drawing the map is slow."""
        outline = self._store.outline(record.file_id)
        try:
            return outline is not None and is_large(outline)
        except StoreDamaged:
            return False  # the picture is then that of a map without topics

    def takes_long(self, record: Record, asked: PictureQuery) -> bool:
        """Return whether drawing this picture would probably take long."""
        return self._worker.takes_long(self._render_request(record, asked))

    def cached(self, record: Record, asked: PictureQuery) -> Response | None:
        """Return the picture of a map if it is cached.

        Raises:
            NotFound: ``source=file``, and the file of the map has no preview.
        """
        cached = self.cached_picture(record, asked)
        return None if cached is None else self._response(cached, asked)

    def cached_picture(self, record: Record, asked: PictureQuery) -> Picture | None:
        """Return the picture for ``cached``, without response headers.

        Raises:
            NotFound: see ``cached``.
        """
        if asked.source == FROM_FILE:
            return self._worker.cached_preview(self._preview_request(record, asked))
        return self._worker.cached(self._render_request(record, asked))

    def made(self, record: Record, asked: PictureQuery) -> Response:
        """Return the picture of a map, from the cache or drawn now.

        Raises:
            NotFound: see ``cached``.
        """
        return self._response(self.picture(record, asked), asked)

    def made_or(self, later: Deferred, record: Record, asked: PictureQuery) -> Response | Deferred:
        """Return the picture of a map, or ``later`` if drawing it takes long."""
        try:
            return self._response(self.picture(record, asked, quick=True), asked)
        except DrawingTakesLong:
            return later

    def picture(self, record: Record, asked: PictureQuery, *, quick: bool = False) -> Picture:
        """Return the picture for ``made``, without response headers.

        Raises:
            NotFound: see ``cached``.
            DrawingTakesLong: drawing it takes long, and ``quick`` was given.
        """
        if asked.source == FROM_FILE:
            return self._preview(record, asked)
        pictures_of = None
        if self._store.image_digests(record.file_id):
            pictures_of = partial(self._pictures_of, record, asked, quick)
        request = self._render_request(record, asked)
        return self._worker.picture(request, pictures_of, quick=quick)

    def _pictures_of(
        self, record: Record, asked: PictureQuery, quick: bool, digests: Sequence[str]
    ) -> Pictures:
        try:
            return self._pictures.of_map(
                record,
                digests,
                quick=quick,
                width=min(asked.width, LARGEST_PICTURE),
                most_bytes=MOST_PICTURE_BYTES,
                seconds=PICTURE_SECONDS,
            )
        except PicturesTakeLong:
            raise DrawingTakesLong from None

    def _preview(self, record: Record, asked: PictureQuery) -> Picture:
        request = self._preview_request(record, asked)
        file = None if self._worker.has_refused(request) else self._store.content(record.file_id)
        picture = self._worker.preview(request, file) if file else None
        if picture is None:
            raise _no_preview()
        return picture

    def _preview_request(self, record: Record, asked: PictureQuery) -> PreviewRequest:
        outline = self._store.outline(record.file_id)
        digest = outline_picture(outline) if outline else ""
        if not digest or asked.format != "png":  # previews are made of pixels
            raise _no_preview()
        return PreviewRequest(digest, asked.width)

    def _render_request(self, record: Record, asked: PictureQuery) -> RenderRequest:
        found = orjson.loads(record.body)
        return RenderRequest(
            outline=self._store.outline(record.file_id),
            title=found["Title"],
            owner=record.owner,
            category="" if found["Category"] == UNCATEGORISED else found["Category"],
            width=asked.width,
            theme=asked.theme,
            format=asked.format,
        )

    def _response(self, picture: Picture, asked: PictureQuery) -> Response:
        headers = [(b"etag", f'"{picture.key}"'.encode()), *self._caching]
        if asked.format == "svg":
            headers.append(HARMLESS)
        response = body_response(200, MEDIA_TYPES[asked.format], picture.body, headers)
        return response if picture.complete else provisional(response)


def _no_preview() -> NotFound:
    return NotFound("The file of this map carries no picture.")
