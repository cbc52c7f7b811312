"""The operations of the OpenAPI document: what can be asked, and what answers it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from mapshelf.api.openapi.responses import (
    CHECKED,
    ERRORS,
    KEPT,
    LIST,
    json_content,
    picture_response,
    reference,
    response,
)
from mapshelf.api.thumbnails import MAXIMUM_AGE, MEDIA_TYPES
from mapshelf.api.thumbnails import PARAMETERS as OF_PICTURES
from mapshelf.query import Filter
from mapshelf.render.render_request import FORMATS
from mapshelf.search.snippets import API_BUDGET
from mapshelf.snapshot.read.facets import MOST_VALUES
from mapshelf.writers import Writer

Json = dict[str, Any]

TAGS: Final = [
    {"name": "maps", "description": "The catalogue."},
    {"name": "users", "description": "Who is asking."},
    {"name": "interface", "description": "The interface itself."},
]


@dataclass(frozen=True, slots=True)
class Operation:
    """What a GET of one path does.

    Attributes:
        id: its name in clients.
        summary: what it does, in a few words.
        description: what there is to know about it.
        answer: the response with status 200.
        parameters: names of its parameters.
        not_modified: name of the response with status 304, empty if it has none.
        errors: names of the other responses, besides those that every operation has.
        tag: name of one of ``TAGS``.
        public: whether it needs no token.
    """

    id: str
    summary: str
    description: str
    answer: Json
    parameters: tuple[str, ...] = ()
    not_modified: str = ""
    errors: tuple[str, ...] = ("Unavailable",)
    tag: str = "maps"
    public: bool = False

    def as_json(self) -> Json:
        """Return the operation as the document has it."""
        names = (*self.parameters, *(("If-None-Match",) if self.not_modified else ()))
        return {
            "operationId": self.id,
            "tags": [self.tag],
            "summary": self.summary,
            "description": self.description,
            **({"parameters": [reference("parameters", name) for name in names]} if names else {}),
            **({"security": []} if self.public else {}),
            "responses": {str(status): found for status, found in self._responses()},
        }

    def _responses(self) -> list[tuple[int, Json]]:
        named = {"BadRequest", "ContentTooLarge", "UriTooLong", "ServerError", *self.errors}
        if not self.public:
            named.add("Unauthorized")
        return [
            (200, self.answer),
            *([(304, reference("responses", self.not_modified))] if self.not_modified else []),
            *(
                (status, reference("responses", name))
                for name, (status, _, _) in ERRORS.items()
                if name in named
            ),
        ]


def paths(filters: Sequence[Filter], writers: Sequence[Writer]) -> Json:
    """Return all operations by their paths, with the filters and formats of these tables."""
    operations = {**_lists(filters), **_maps(writers), **_others()}
    return {path: {"get": operation.as_json()} for path, operation in operations.items()}


def _lists(filters: Sequence[Filter]) -> dict[str, Operation]:
    by_filter = tuple(row.name for row in filters)
    of_list = ("query", "limit", "offset", "order_by", *by_filter)
    return {
        "/maps": Operation(
            "getMaps",
            "List maps",
            "A page of the published maps. Filters combine with each other and with `query`: a map "
            "must pass all of them. A parameter without a value counts as not given, one that is "
            "not listed here is ignored. The token is looked at before the parameters.",
            response("The maps of this page, in order.", LIST, json_content("Maps")),
            of_list,
            "ListNotModified",
        ),
        "/search": Operation(
            "getSearch",
            "Search inside maps",
            "The maps that GET /maps answers to the same parameters, each with up to "
            f"{API_BUDGET.snippets} topics that say most of what was searched for. Topics that say "
            "what the title says already are left out.",
            response("The maps of this page, in order.", LIST, json_content("Hits")),
            of_list,
            "ListNotModified",
        ),
        "/suggest": Operation(
            "getSuggest",
            "Complete what is being typed",
            "Titles, and after them topics, that hold all words typed so far, the last of them "
            "perhaps unfinished. No two are the same but for case and accents. Takes filters; "
            "`offset` and `order_by` are checked and change nothing.",
            response("What may be meant, the best first.", CHECKED, json_content("Suggestions")),
            ("query", "limit", *by_filter),
            "MapNotModified",
        ),
        "/facets": Operation(
            "getFacets",
            "Count what a search finds",
            "How the maps that match divide. All of them are counted, whatever `limit` and "
            "`offset` say, and where nothing matches `query`, those that match what GET /maps "
            f"would search for instead. Of each kind the {MOST_VALUES} most frequent values are "
            "told.",
            response("The counts.", CHECKED, json_content("Facets")),
            ("query", *by_filter),
            "MapNotModified",
        ),
        "/categories": Operation(
            "getCategories",
            "List categories",
            "All categories of the catalogue by their ids, those without maps too. Takes no "
            "parameters.",
            response("The categories.", CHECKED, json_content("Counts")),
            not_modified="MapNotModified",
        ),
        "/software": Operation(
            "getSoftware",
            "List programs",
            "All programs that maps are made with by their ids, those without maps too. Takes no "
            "parameters.",
            response("The programs.", CHECKED, json_content("Counts")),
            not_modified="MapNotModified",
        ),
    }


def _maps(writers: Sequence[Writer]) -> dict[str, Operation]:
    errors = ("MapNotFound", "Unavailable")
    file = ("Content-Disposition", *CHECKED)
    return {
        "/maps/{ID}": Operation(
            "getMap",
            "Show a map",
            "The Map object with this ID, the same bytes as in lists.",
            response("The map.", CHECKED, json_content("Map")),
            ("ID",),
            "MapNotModified",
            errors,
        ),
        "/maps/{ID}/outline.{format}": Operation(
            "getOutline",
            "Export an outline",
            "The topics of a map as a file of another format. What a format has no place for is "
            "left out.",
            response("The file.", file, _outlines(writers)),
            ("ID", "format"),
            "MapNotModified",
            errors,
        ),
        "/maps/{ID}/file": Operation(
            "getFile",
            "Fetch the file",
            "The file the map was read from, byte by byte. Its ETag is the SHA-256 of it.",
            response("The file.", file, {"application/octet-stream": {"schema": {}}}),
            ("ID",),
            "MapNotModified",
            errors,
        ),
        "/thumbnails/{ID}.{picture}": Operation(
            "getThumbnail",
            "Show the picture of a map",
            "The map as it would look on paper, as far as it can be read at this size: a number "
            "with a plus sign counts topics that are left out. A map of which no topics are known "
            "gets a card with its title. Needs no token; anybody may keep a copy for "
            f"{MAXIMUM_AGE // 60} minutes. A private catalogue asks for a token here, too (401 "
            "without), and only whoever showed it may keep a copy.",
            picture_response("The picture.", (*KEPT, "Content-Security-Policy"), _pictures()),
            ("ID", "picture", *OF_PICTURES),
            "PictureNotModified",
            errors,
            public=True,
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
        ),
        "/openapi.json": Operation(
            "getOpenApi",
            "Describe the interface",
            "This document. Needs no token.",
            response("An OpenAPI 3.1 document.", KEPT, {"application/json": {"schema": document}}),
            not_modified="DocumentNotModified",
            errors=(),
            tag="interface",
            public=True,
        ),
    }


def _outlines(writers: Sequence[Writer]) -> Json:
    """Return the bodies of an outline: JSON has a schema, the other formats are text."""
    text = {"schema": {"type": "string"}}
    return {writer.media_type: text for writer in writers} | json_content("Outline")


def _pictures() -> Json:
    schemas: Json = {"png": {}, "svg": {"type": "string"}}
    return {MEDIA_TYPES[name].decode(): {"schema": schemas[name]} for name in FORMATS}
