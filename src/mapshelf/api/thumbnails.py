"""``GET /thumbnails/{ID}.png`` and ``.svg``: the picture of a map.

Lists of maps contain these addresses, and other sites show them: they need no token, and any cache
may keep them for a while. In a private catalogue they need a token, and shared caches may not keep
them. The ETag is the key of the picture, made from its inputs, so it changes when the map does.

By default it is the picture that we draw. With ``source=file`` it is the preview in the map's file,
if there is one: decoded and encoded again, never the original bytes (``readers.pictures``).
"""

from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import urlencode

import orjson

from mapshelf.api.context import Context
from mapshelf.api.current_snapshot import Deferred
from mapshelf.api.http import Headers, Request, Response, body_response
from mapshelf.api.map_detail import find_map
from mapshelf.errors import InvalidParameter, NotFound, StoreDamaged
from mapshelf.formats.outline_codec import is_large, outline_picture
from mapshelf.query import read_parameters
from mapshelf.render.render_request import WIDTHS, PreviewRequest, RenderRequest
from mapshelf.render.render_worker import Picture, RenderWorker
from mapshelf.render.themes import LIGHT, THEMES
from mapshelf.snapshot.read import Record
from mapshelf.store.contract import Maps

DEFAULT_WIDTH: Final = 320

MAXIMUM_AGE: Final = 600
"""Seconds for which a cache may reuse a picture without revalidating it."""

MEDIA_TYPES: Final = {"png": b"image/png", "svg": b"image/svg+xml"}

DRAWN: Final = "drawn"
FROM_FILE: Final = "file"
SOURCES: Final = (DRAWN, FROM_FILE)

PARAMETERS: Final = ("w", "theme", "source")

PUBLIC: Final[Headers] = ((b"cache-control", b"public, max-age=%d" % MAXIMUM_AGE),)
PRIVATE: Final[Headers] = (
    (b"cache-control", b"private, max-age=%d" % MAXIMUM_AGE),
    (b"vary", b"Authorization"),
)
"""Caching headers of a public catalogue and of a private one."""

_HARMLESS: Final = (b"content-security-policy", b"default-src 'none'; sandbox")
"""Opened by itself, an SVG is a document: forbid all that documents can do."""


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
    caching = PRIVATE if context.settings.private else PUBLIC
    current = context.snapshot.get()
    found = find_map(current, request.parts["id"], context.base_url)
    wanted = (context.render_worker, context.store.get(), found, asked, caching)

    def make() -> Response | Deferred:
        cached = cached_thumbnail(*wanted)
        if cached is not None:
            return cached
        large = asked.source == DRAWN and _is_large(context.store.get().outline(found.file_id))
        queue = context.queues.documents if large else context.queues.drawings
        return Deferred(queue, partial(draw_thumbnail, *wanted), lasting=large)

    return await current.response(request, context.queues.thumbnails, make, _query_string(asked))


def _is_large(outline: bytes | None) -> bool:
    try:
        return outline is not None and is_large(outline)
    except StoreDamaged:
        return False  # the picture says so: it is that of a map without topics


def _query_string(asked: PictureQuery) -> bytes:
    """Return the shortest query string that asks for this picture."""
    values = {"w": asked.width, "theme": asked.theme, "source": asked.source}
    defaults = {"w": DEFAULT_WIDTH, "theme": LIGHT.name, "source": DRAWN}
    given = {name: value for name, value in values.items() if value != defaults[name]}
    return urlencode(given).encode()


def parse_picture(query_string: bytes, picture_format: str) -> PictureQuery:
    """Parse the parameters of a request.

    Raises:
        InvalidParameter: a value the interface does not offer.
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


def cached_thumbnail(
    worker: RenderWorker, store: Maps, record: Record, asked: PictureQuery, caching: Headers
) -> Response | None:
    """Return the picture of a map if it is cached, with the headers ``caching``.

    Raises:
        NotFound: ``source=file``, and the file of the map has no preview.
    """
    if asked.source == FROM_FILE:
        cached = worker.cached_preview(_preview_request(store, record, asked))
    else:
        cached = worker.cached(_render_request(store, record, asked))
    return None if cached is None else _response(cached, asked.format, caching)


def draw_thumbnail(
    worker: RenderWorker, store: Maps, record: Record, asked: PictureQuery, caching: Headers
) -> Response:
    """Return the picture of a map, from the cache or made now, with the headers ``caching``.

    Raises:
        NotFound: as ``cached_thumbnail``.
    """
    if asked.source == FROM_FILE:
        request = _preview_request(store, record, asked)
        file = None if worker.has_refused(request) else store.content(record.file_id)
        picture = worker.preview(request, file) if file else None
        if picture is None:
            raise _no_preview()
        return _response(picture, asked.format, caching)
    return _response(worker.picture(_render_request(store, record, asked)), asked.format, caching)


def _preview_request(store: Maps, record: Record, asked: PictureQuery) -> PreviewRequest:
    outline = store.outline(record.file_id)
    digest = outline_picture(outline) if outline else ""
    if not digest or asked.format != "png":  # previews are made of pixels
        raise _no_preview()
    return PreviewRequest(digest, asked.width)


def _no_preview() -> NotFound:
    return NotFound("The file of this map carries no picture.")


def _render_request(store: Maps, record: Record, asked: PictureQuery) -> RenderRequest:
    found = orjson.loads(record.body)
    return RenderRequest(
        outline=store.outline(record.file_id),
        title=found["Title"],
        owner=found["Owner"],
        category=found["Category"],
        width=asked.width,
        theme=asked.theme,
        format=asked.format,
    )


def _response(picture: Picture, picture_format: str, caching: Headers) -> Response:
    headers = [(b"etag", f'"{picture.key}"'.encode()), *caching]
    if picture_format == "svg":
        headers.append(_HARMLESS)
    return body_response(200, MEDIA_TYPES[picture_format], picture.body, headers)
