"""The parameters of the OpenAPI document, by the names that operations refer to."""

from collections.abc import Sequence
from typing import Any

from mapshelf.api.images import IMAGE_WIDTHS
from mapshelf.api.map_fields import VISIBILITIES
from mapshelf.api.openapi.map_collections import collection_parameters
from mapshelf.api.openapi.saved_searches import search_parameters
from mapshelf.api.thumbnails import DEFAULT_WIDTH, DRAWN, FROM_FILE, SOURCES
from mapshelf.query import (
    DEFAULT_LIMIT,
    DEFAULT_ORDER,
    ID_SCHEMA,
    MAXIMUM_LIMIT,
    MAXIMUM_OFFSET,
    MAXIMUM_QUERY_LENGTH,
    TEXT_SCHEMA,
    Filter,
    SortOrder,
)
from mapshelf.render.image_worker import LARGEST_SIDE
from mapshelf.render.render_request import DRAWING_FORMATS, FORMATS, WIDTHS
from mapshelf.render.themes import LIGHT, THEMES
from mapshelf.writers import Writer

Json = dict[str, Any]


def parameters(
    filters: Sequence[Filter], orders: Sequence[SortOrder], writers: Sequence[Writer]
) -> Json:
    """Return all parameters, with the filters, orders and formats of these tables."""
    return {
        **_selecting(orders),
        **{row.name: _query(row.name, row.description, dict(row.schema)) for row in filters},
        "If-None-Match": {
            "name": "If-None-Match",
            "in": "header",
            "description": "ETags of responses the client has; if one still matches, the response "
            "is 304, without a body.",
            "schema": {"type": "string"},
        },
        "below": _query("below", "Path of the folder to look into.", dict(TEXT_SCHEMA)),
        "visibility": _query(
            "visibility",
            "Only maps that these people see.",
            {"type": "string", "enum": [one.value for one in VISIBILITIES]},
        ),
        "Idempotency-Key": {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "What the client calls this upload: within a day, the same name means "
            "the same upload.",
            "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
        },
        "Content-Disposition": {
            "name": "Content-Disposition",
            "in": "header",
            "description": "The name of the file, if it is the whole body (RFC 6266).",
            "schema": {"type": "string"},
            "example": 'attachment; filename="light.mm"',
        },
        **_in_paths(writers),
        **collection_parameters(),
        **search_parameters(),
        **_of_pictures(),
    }


def _selecting(orders: Sequence[SortOrder]) -> Json:
    """Return the parameters of all lists, except filters."""
    return {
        "query": _query(
            "query",
            "Text to search for in titles, descriptions, all topics and notes, names of owners, "
            "categories and files. All words must occur, in any order and in any inflected form; "
            "words in quotes must occur exactly as written; a word after `-` must not occur; the "
            "last word may be incomplete. Case and accents are ignored. Every text is valid. If "
            "nothing matches, the nearest spelling is tried.",
            {**TEXT_SCHEMA, "maxLength": MAXIMUM_QUERY_LENGTH, "default": ""},
        ),
        "title_only": _query(
            "title_only",
            "Search in titles only, as if each word of `query` had the prefix `title:`.",
            {"type": "boolean", "default": False},
        ),
        "limit": _query(
            "limit",
            "Maximum number of maps. With 0 the list is empty, and X-Total-Count still has the "
            "total.",
            {**ID_SCHEMA, "maximum": MAXIMUM_LIMIT, "default": DEFAULT_LIMIT},
        ),
        "offset": _query(
            "offset",
            "Number of maps to skip. Beyond the end the list is empty.",
            {**ID_SCHEMA, "maximum": MAXIMUM_OFFSET, "default": 0},
        ),
        "order_by": _query(
            "order_by",
            "Which maps come first:\n\n"
            + "".join(f"* `{row.name}`: {row.description}\n" for row in orders)
            + "\nTies are ordered newest first, unless stated otherwise above. Without this "
            f"parameter, a search is ordered by relevance, other lists by `{DEFAULT_ORDER}`.",
            {"type": "string", "enum": [row.name for row in orders]},
        ),
    }


def _in_paths(writers: Sequence[Writer]) -> Json:
    formats = ", ".join(f"`{writer.suffix}` ({writer.name})" for writer in writers)
    return {
        "ID": _path(
            "ID",
            "The `ID` of a map.",
            {"type": "string", "pattern": "^[0-9A-Za-z]{1,32}$"},
            "pR4vT9xB",
        ),
        "OTHER": _path(
            "OTHER",
            "The `ID` of the map to compare with; it may be the same.",
            {"type": "string", "pattern": "^[0-9A-Za-z]{1,32}$"},
            "kL8mN2qS",
        ),
        "version": _query(
            "version",
            "The number of a former version, to compare that; by default the map as it is.",
            {**ID_SCHEMA, "minimum": 1},
        ),
        "other_version": _query(
            "other_version", "Likewise, of the other map.", {**ID_SCHEMA, "minimum": 1}
        ),
        "format": _path(
            "format",
            f"The format of the file: {formats}.",
            {"type": "string", "enum": [writer.suffix for writer in writers]},
            writers[0].suffix,
        ),
        "digest": _path(
            "digest",
            "Which picture of the map, as in `images` of its outline.",
            {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "0" * 64,
        ),
        "number": _path(
            "number",
            "The `number` of a version.",
            {"type": "string", "pattern": "^[1-9][0-9]{0,8}$"},
            "1",
        ),
        "picture": _path(
            "picture",
            "The format of the picture.",
            {"type": "string", "enum": list(FORMATS)},
            FORMATS[0],
        ),
        "drawing": _path(
            "drawing",
            "The format of the drawing.",
            {"type": "string", "enum": list(DRAWING_FORMATS)},
            DRAWING_FORMATS[0],
        ),
    }


def _of_pictures() -> Json:
    return {
        "w": _query(
            "w",
            "Width of the picture in pixels; the height is three quarters of it. A wider picture "
            "shows more topics.",
            {"type": "integer", "enum": list(WIDTHS), "default": DEFAULT_WIDTH},
        ),
        "most_width": _query(
            "w",
            "The most pixels across; a smaller picture is not enlarged. The height is at most "
            f"{LARGEST_SIDE} pixels.",
            {"type": "integer", "enum": list(IMAGE_WIDTHS), "default": LARGEST_SIDE},
        ),
        "theme": _query(
            "theme",
            "Colours on a light or on a dark background.",
            {"type": "string", "enum": list(THEMES), "default": LIGHT.name},
        ),
        "topic": _query(
            "topic",
            "The `id` of a topic, as in the outline: only its branch is drawn.",
            TEXT_SCHEMA,
        ),
        "sheet": _query(
            "sheet",
            "Which sheet of the map is drawn, counted from 1; by default the one that has `topic`, "
            "or else the first.",
            {**ID_SCHEMA, "minimum": 1},
        ),
        "source": _query(
            "source",
            f"`{DRAWN}`: drawn by Mapshelf. `{FROM_FILE}`: a copy of the picture in the map's "
            "file, as PNG only, in its original proportions and never enlarged; 404 if there is "
            "none. The theme does not change it.",
            {"type": "string", "enum": list(SOURCES), "default": DRAWN},
        ),
    }


def _query(name: str, description: str, schema: Json) -> Json:
    return {"name": name, "in": "query", "description": description, "schema": schema}


def _path(name: str, description: str, schema: Json, example: str) -> Json:
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": description,
        "schema": schema,
        "example": example,
    }
