"""The operations of the OpenAPI document, with their responses."""

from collections.abc import Sequence
from typing import Any, Final

from mapshelf.api.drawings import MEDIA_TYPES as DRAWINGS
from mapshelf.api.openapi.json_schema import BINARY
from mapshelf.api.openapi.map_collections import collection_operations
from mapshelf.api.openapi.operation import Operation
from mapshelf.api.openapi.publishing import publishing_operations
from mapshelf.api.openapi.responses import (
    CHECKED,
    KEPT,
    LIST,
    OF_MAP,
    OF_PICTURE,
    json_content,
    or_provisional,
    picture_response,
    response,
)
from mapshelf.api.openapi.saved_searches import search_operations
from mapshelf.api.thumbnails import MAXIMUM_AGE, MEDIA_TYPES
from mapshelf.api.thumbnails import PARAMETERS as OF_PICTURES
from mapshelf.query import Filter
from mapshelf.render.render_request import FORMATS
from mapshelf.search.snippets import API_BUDGET
from mapshelf.snapshot.read.facets import MOST_VALUES
from mapshelf.tokens import ACCOUNT
from mapshelf.writers import Writer

Json = dict[str, Any]

TAGS: Final = [
    {"name": "maps", "description": "The catalogue."},
    {"name": "publishing", "description": "Publishing and changing maps."},
    {"name": "collections", "description": "Ordered lists of maps, curated by users."},
    {"name": "searches", "description": "Saved searches."},
    {"name": "users", "description": "The user of the token."},
    {"name": "interface", "description": "The API itself."},
]


def paths(filters: Sequence[Filter], writers: Sequence[Writer], *, private: bool) -> Json:
    """Return all operations by path, with the filters and formats in these tables."""
    reading = {**_lists(filters), **_maps(writers), **_others()}
    operations = {path: {"get": operation} for path, operation in reading.items()}
    others = publishing_operations(_of_list(filters)) | collection_operations()
    others |= search_operations()
    for path, methods in others.items():
        operations[path] = operations.get(path, {}) | methods
    return {
        path: {
            method: (operation.in_private_catalogue() if private else operation).as_json()
            for method, operation in methods.items()
        }
        for path, methods in operations.items()
    }


def _lists(filters: Sequence[Filter]) -> dict[str, Operation]:
    by_filter = tuple(row.name for row in filters)
    of_list = _of_list(filters)
    return {
        "/maps": Operation(
            "getMaps",
            "List maps",
            "A page of the published maps. Filters combine with each other and with `query`: a map "
            "must match all of them. A parameter without a value counts as not given; parameters "
            "not listed here are ignored. The token is checked before the parameters.",
            response("The maps of this page, in order.", LIST, json_content("Maps")),
            of_list,
            "ListNotModified",
        ),
        "/search": Operation(
            "getSearch",
            "Search inside maps",
            "The maps that GET /maps returns for the same parameters, each with up to "
            f"{API_BUDGET.snippets} topics that match most of the query. Topics that only repeat "
            "the title are left out.",
            response("The maps of this page, in order.", LIST, json_content("Hits")),
            of_list,
            "ListNotModified",
        ),
        "/suggest": Operation(
            "getSuggest",
            "Complete what is being typed",
            "Titles, followed by topics, that contain all words typed so far; the last word may be "
            "incomplete. Suggestions that differ only in case and accents are returned once. Takes "
            "filters; `offset` and `order_by` are validated but have no effect.",
            response("The suggestions, best first.", CHECKED, json_content("Suggestions")),
            ("query", "title_only", "limit", *by_filter),
            "MapNotModified",
        ),
        "/facets": Operation(
            "getFacets",
            "Count search results",
            "Counts of the maps that match. All of them are counted, whatever `limit` and "
            "`offset` say. If nothing matches `query`, the counts are of the corrected query that "
            f"GET /maps would use. Each list has the {MOST_VALUES} most frequent "
            "values.",
            response("The counts.", CHECKED, json_content("Facets")),
            ("query", "title_only", *by_filter),
            "MapNotModified",
        ),
        "/categories": Operation(
            "getCategories",
            "List categories",
            "All categories of the catalogue by id, including those without maps. Takes no "
            "parameters.",
            response("The categories.", CHECKED, json_content("Counts")),
            not_modified="MapNotModified",
        ),
        "/software": Operation(
            "getSoftware",
            "List programs",
            "All programs that make maps by id, including those without maps. Takes no parameters.",
            response("The programs.", CHECKED, json_content("Counts")),
            not_modified="MapNotModified",
        ),
        "/folders": Operation(
            "getFolders",
            "List folders",
            "The folders that maps are in, by name, each with the number of maps in it and below "
            "it: those right below the folder `below`, without it those at the top. Paths are "
            "below the imported folder.",
            response("The folders.", CHECKED, json_content("Folders")),
            ("below",),
            "MapNotModified",
        ),
        "/tags": Operation(
            "getTags",
            "List tags",
            "All tags that maps have, the most frequent first. Takes no parameters.",
            response("The tags.", CHECKED, json_content("Tags")),
            not_modified="MapNotModified",
        ),
    }


def _of_list(filters: Sequence[Filter]) -> tuple[str, ...]:
    """Return the names of the parameters of lists."""
    return ("query", "title_only", "limit", "offset", "order_by", *(row.name for row in filters))


def _maps(writers: Sequence[Writer]) -> dict[str, Operation]:
    errors = ("MapNotFound", "Unavailable")
    file = ("Content-Disposition", *OF_MAP)
    return {
        "/maps/{ID}": Operation(
            "getMap",
            "Show a map",
            "The Map object with this ID, the same bytes as in lists.",
            response("The map.", OF_MAP, json_content("Map")),
            ("ID",),
            "MapNotModified",
            errors,
        ),
        "/maps/{ID}/outline.{format}": Operation(
            "getOutline",
            "Export an outline",
            "The topics of a map as a file in the given format. What the format cannot express is "
            "left out.",
            or_provisional(
                response("The file.", (*file, "X-Missing-Pictures"), _outlines(writers))
            ),
            ("ID", "format"),
            "MapNotModified",
            errors,
        ),
        "/maps/{ID}/file": Operation(
            "getFile",
            "Fetch the file",
            "The file the map was read from, byte for byte. The ETag is its SHA-256.",
            response("The file.", file, {"application/octet-stream": {"schema": BINARY}}),
            ("ID",),
            "MapNotModified",
            errors,
        ),
        "/maps/{ID}/drawing.{drawing}": Operation(
            "getDrawing",
            "Draw a whole map",
            "All topics of a sheet, or of a branch, with their complete text, in the author's "
            "colours. A PNG has at most 16 million pixels: a larger map is drawn smaller. As "
            "public as the thumbnail of the map, and cached like it.",
            or_provisional(
                picture_response(
                    "The drawing.",
                    (
                        "Content-Disposition",
                        *OF_PICTURE,
                        "X-Missing-Pictures",
                        "Content-Security-Policy",
                    ),
                    _drawings(),
                )
            ),
            ("ID", "drawing", "topic", "sheet", "theme"),
            "PictureNotModified",
            errors,
            scope=None,
            is_picture=True,
        ),
        "/maps/{ID}/diff/{OTHER}": Operation(
            "compareMaps",
            "Compare two maps",
            "The differences between two maps, or two versions of one: branches that were added "
            "or removed, topics that were moved, topics that changed. Styles, relationships and "
            "boundaries are not compared. Earlier versions are 404 for users who may not list "
            "them.",
            response("The differences.", OF_MAP, json_content("Diff")),
            ("ID", "OTHER", "version", "other_version"),
            "MapNotModified",
            (*errors, "UnreadableFile"),
        ),
        "/maps/{ID}/links": Operation(
            "getLinks",
            "List the links between maps",
            "The links of a map to files of maps, and the links of other maps to it. A link "
            "refers to the file at its path, relative to the map that contains it; if there is "
            "none in the catalogue, to the only file with that name. No link is followed.",
            response("The links.", OF_MAP, json_content("Links")),
            ("ID",),
            "MapNotModified",
            errors,
        ),
        "/maps/{ID}/images/{digest}.png": Operation(
            "getImage",
            "Show a picture in a topic",
            "A picture that the author put into a topic; its URL is in the outline. It is decoded "
            "and re-encoded; of an animation, only the first frame is kept. As public as "
            "the thumbnail of the map, and cached like it.",
            picture_response("The picture.", OF_PICTURE, {"image/png": {"schema": BINARY}}),
            ("ID", "digest", "most_width"),
            "PictureNotModified",
            errors,
            scope=None,
            is_picture=True,
        ),
        "/thumbnails/{ID}.{picture}": Operation(
            "getThumbnail",
            "Show the picture of a map",
            "The map, with as many topics as are readable at this size: a number with a plus sign "
            "counts topics that are left out. A map without known topics gets a card with its "
            "title. Needs no token; any cache may keep a copy for "
            f"{MAXIMUM_AGE // 60} minutes. A private catalogue requires a token here too (401 "
            "without), and only the client may keep a copy, which it must revalidate.",
            or_provisional(
                picture_response(
                    "The picture.", (*OF_PICTURE, "Content-Security-Policy"), _pictures()
                )
            ),
            ("ID", "picture", *OF_PICTURES),
            "PictureNotModified",
            errors,
            scope=None,
            is_picture=True,
        ),
    }


def _others() -> dict[str, Operation]:
    document = {"type": "object", "required": ["openapi", "info", "paths"]}
    return {
        "/users/me": Operation(
            "getMe",
            "Show the token's owner",
            "The profile of the user who owns the access token. It must not be cached.",
            response("The profile.", ("Cache-Control",), json_content("User")),
            tag="users",
            scope=ACCOUNT,
        ),
        "/openapi.json": Operation(
            "getOpenApi",
            "Describe the API",
            "This document. Needs no token.",
            response("An OpenAPI 3.1 document.", KEPT, {"application/json": {"schema": document}}),
            not_modified="DocumentNotModified",
            errors=(),
            tag="interface",
            scope=None,
        ),
    }


def _outlines(writers: Sequence[Writer]) -> Json:
    """Return the bodies of an outline: JSON has a schema, the other formats are text."""
    text = {"schema": {"type": "string"}}
    return {writer.media_type: text for writer in writers} | json_content("Outline")


def _drawings() -> Json:
    text = {"type": "string"}
    return {
        media_type.decode(): {"schema": text if name == "svg" else BINARY}
        for name, media_type in DRAWINGS.items()
    }


def _pictures() -> Json:
    schemas: Json = {"png": BINARY, "svg": {"type": "string"}}
    return {MEDIA_TYPES[name].decode(): {"schema": schemas[name]} for name in FORMATS}
