"""``GET /thumbnails/{ID}.png`` and ``.svg``: the picture of a map.

Lists of maps name these addresses, and pages of other people show them: no token is asked for, and
anybody may keep a copy for a while. In a private catalogue they take a token, and only whoever
showed one may keep a copy, no cache that others share. The validator is the key of the picture,
made from what the picture is made from, so it changes when the map does.

Usually that is the picture we draw. With ``source=file`` it is the one that the map's file carries,
if it does: never the bytes of the file, but a copy (``readers.pictures``).
"""

from dataclasses import dataclass
from functools import partial
from typing import Final

import orjson

from mapshelf.api.context import Context
from mapshelf.api.current_snapshot import Deferred
from mapshelf.api.http import Headers, Request, Response, body_response
from mapshelf.api.map_detail import find_map
from mapshelf.errors import InvalidParameter, NotFound
from mapshelf.formats.outline_codec import outline_picture
from mapshelf.query import read_parameters
from mapshelf.render.render_request import WIDTHS, Copy, Order
from mapshelf.render.render_worker import Picture, Studio
from mapshelf.render.themes import LIGHT, THEMES
from mapshelf.snapshot.read import Record
from mapshelf.store.contract import Maps

DEFAULT_WIDTH: Final = 320

MAXIMUM_AGE: Final = 600
"""Seconds for which a picture may be shown again without asking whether it has changed."""

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
"""Who may keep a picture, of a catalogue for anybody and of a private one."""

_HARMLESS: Final = (b"content-security-policy", b"default-src 'none'; sandbox")
"""An SVG that is opened by itself is a document, and must not be able to do what documents can."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which picture of a map is asked for; see ``render.order.Order``.

    ``source`` is one of ``SOURCES``.
    """

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
        drawn = Deferred(context.queues.drawings, partial(draw_thumbnail, *wanted))
        return kept_thumbnail(*wanted) or drawn

    return await current.response(request, context.queues.thumbnails, make)


def parse_picture(query_string: bytes, picture_format: str) -> Asked:
    """Return what a request asks for.

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
    return Asked(int(width), theme, picture_format, source)


def kept_thumbnail(
    studio: Studio, store: Maps, record: Record, asked: Asked, caching: Headers
) -> Response | None:
    """Return the picture of a map if it has been made before; ``caching`` says who may keep it.

    Raises:
        NotFound: the file of the map carries none, and that is what is asked for.
    """
    if asked.source == FROM_FILE:
        kept = studio.kept_copy(_copy(store, record, asked))
    else:
        kept = studio.kept(_order(store, record, asked))
    return None if kept is None else _response(kept, asked.format, caching)


def draw_thumbnail(
    studio: Studio, store: Maps, record: Record, asked: Asked, caching: Headers
) -> Response:
    """Return the picture of a map, made now if need be; ``caching`` says who may keep it.

    Raises:
        NotFound: as ``kept_thumbnail``.
    """
    if asked.source == FROM_FILE:
        copy = _copy(store, record, asked)
        file = None if studio.has_refused(copy) else store.content(record.file_id)
        picture = studio.copy(copy, file) if file else None
        if picture is None:
            raise _nothing_carried()
        return _response(picture, asked.format, caching)
    return _response(studio.picture(_order(store, record, asked)), asked.format, caching)


def _copy(store: Maps, record: Record, asked: Asked) -> Copy:
    outline = store.outline(record.file_id)
    digest = outline_picture(outline) if outline else ""
    if not digest or asked.format != "png":  # what files carry is made of pixels
        raise _nothing_carried()
    return Copy(digest, asked.width)


def _nothing_carried() -> NotFound:
    return NotFound("The file of this map carries no picture.")


def _order(store: Maps, record: Record, asked: Asked) -> Order:
    found = orjson.loads(record.body)
    return Order(
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
