"""The operations of the OpenAPI document about collections, with their parameters and schemas."""

from functools import partial
from typing import Any, Final

from mapshelf.api.map_fields import VISIBILITIES
from mapshelf.api.openapi.json_schema import BINARY
from mapshelf.api.openapi.operation import Operation
from mapshelf.api.openapi.responses import (
    LIST,
    OF_MAP,
    OF_PICTURE,
    json_content,
    or_provisional,
    picture_response,
    reference,
    response,
)
from mapshelf.api.thumbnails import MAXIMUM_AGE
from mapshelf.model import COLLECTION_TEXT_LENGTH, COLLECTION_TITLE_LENGTH, MOST_COLLECTED
from mapshelf.query import MAXIMUM_LIMIT
from mapshelf.tokens import MAPS_WRITE

Json = dict[str, Any]

ID_PATTERN: Final = "^[0-9A-Za-z]{1,32}$"

_AT: Final = "/collections/{collection}"
_CHANGED: Final = ("Cache-Control",)
_ERRORS: Final = ("Forbidden", "CollectionNotFound", "Unavailable")

_Writing = partial(Operation, tag="collections", scope=MAPS_WRITE)


def collection_operations() -> dict[str, dict[str, Operation]]:
    """Return the operations by path and method."""
    return {
        "/collections": {"get": _list(), "post": _make()},
        _AT: {"get": _show(), "patch": _edit(), "delete": _remove()},
        f"{_AT}/maps": {"put": _arrange(), "post": _collect()},
        f"{_AT}/maps/{{map}}": {"delete": _take_out()},
        f"{_AT}/reports": {"post": _report()},
        f"{_AT}/picture.png": {"get": _picture()},
    }


def _list() -> Operation:
    return Operation(
        "getCollections",
        "List collections",
        "The published collections, and those of the token's owner, most recently changed first. "
        "`limit` and `offset` count collections.",
        response("The collections of this page.", LIST, json_content("Collections")),
        ("owner", "limit", "offset"),
        "ListNotModified",
        tag="collections",
    )


def _make() -> Operation:
    return _Writing(
        "makeCollection",
        "Create a collection",
        "Private by default. Maps are given by their IDs, in order.",
        response("The collection.", ("Location", *_CHANGED), json_content("Collection")),
        errors=("Forbidden", "TooManyCollections", "Unavailable"),
        status=201,
        body=json_content("NewCollection"),
    )


def _show() -> Operation:
    return Operation(
        "getCollection",
        "Show a collection",
        "The details of a collection, and the Map objects of its maps in order. Maps that the "
        "token's owner may not see are left out. An unlisted map is included only in an unlisted "
        "collection of its own owner.",
        response("The collection.", OF_MAP, json_content("Collection")),
        ("collection",),
        "MapNotModified",
        ("CollectionNotFound", "Unavailable"),
        tag="collections",
    )


def _edit() -> Operation:
    return _Writing(
        "editCollection",
        "Change the details of a collection",
        "Sets the fields in the body and leaves the others unchanged.",
        response("The collection.", _CHANGED, json_content("Collection")),
        ("collection",),
        errors=(*_ERRORS, "Conflict"),
        body=json_content("CollectionDetails"),
    )


def _remove() -> Operation:
    return _Writing(
        "removeCollection",
        "Delete a collection",
        "Deletes the collection permanently. Its maps are not affected.",
        response("The collection was deleted.", _CHANGED),
        ("collection",),
        errors=_ERRORS,
        status=204,
    )


def _arrange() -> Operation:
    return _Writing(
        "arrangeCollection",
        "Set the maps of a collection",
        "Replaces the maps of a collection with these, in this order.",
        response("The collection.", _CHANGED, json_content("Collection")),
        ("collection",),
        errors=(*_ERRORS, "TooManyCollections"),
        body=json_content("MapIds"),
    )


def _collect() -> Operation:
    return _Writing(
        "collectMaps",
        "Add maps to a collection",
        "Adds maps at the end of a collection. Maps that it already has keep their place.",
        response("The collection.", _CHANGED, json_content("Collection")),
        ("collection",),
        errors=(*_ERRORS, "TooManyCollections"),
        body=json_content("MapIds"),
    )


def _take_out() -> Operation:
    return _Writing(
        "takeMapOut",
        "Remove a map from a collection",
        "The map itself is not affected.",
        response("The map was removed from the collection.", _CHANGED),
        ("collection", "map"),
        errors=_ERRORS,
        status=204,
    )


def _report() -> Operation:
    return _Writing(
        "reportCollection",
        "Report a collection",
        "Reports a collection to the administrators. Each user has one open report per "
        "collection: a new one replaces it. Users cannot report their own collections.",
        response("The report.", _CHANGED, json_content("Report")),
        ("collection",),
        errors=(*_ERRORS, "TooManyReports"),
        status=201,
        body=json_content("Report"),
    )


def _picture() -> Operation:
    return Operation(
        "getCollectionPicture",
        "Show the picture of a collection",
        "The pictures of its first four maps. Needs no token if the collection is not private; "
        "any cache may keep a copy for "
        f"{MAXIMUM_AGE // 60} minutes if it is published.",
        or_provisional(
            picture_response("The picture.", OF_PICTURE, {"image/png": {"schema": BINARY}})
        ),
        ("collection", "w", "theme"),
        "PictureNotModified",
        ("CollectionNotFound", "Unavailable"),
        tag="collections",
        scope=None,
        is_picture=True,
    )


def collection_parameters() -> Json:
    """Return the parameters that only these operations have."""

    def path(name: str, description: str, example: str) -> Json:
        schema = {"type": "string", "pattern": ID_PATTERN}
        return {
            "name": name,
            "in": "path",
            "required": True,
            "description": description,
            "schema": schema,
            "example": example,
        }

    return {
        "collection": path("collection", "The `id` of a collection.", "cK8wQ2rT"),
        "map": path("map", "The `ID` of a map in it.", "pR4vT9xB"),
    }


def collection_schemas() -> Json:
    """Return the schemas that only these operations have."""
    text = {"type": "string"}
    date = {**text, "pattern": r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{3}$"}
    address = {**text, "pattern": "^https?://"}
    details = {
        "title": {**text, "minLength": 1, "maxLength": COLLECTION_TITLE_LENGTH},
        "text": {
            **text,
            "maxLength": COLLECTION_TEXT_LENGTH,
            "description": "Description by its owner; may be empty.",
        },
        "visibility": {**text, "enum": [one.value for one in VISIBILITIES]},
    }
    facts = {
        "id": {
            **text,
            "pattern": ID_PATTERN,
            "description": "Never given to another collection.",
        },
        "title": details["title"],
        "text": details["text"],
        "owner": {**text, "description": "Username of who made it."},
        "visibility": details["visibility"],
        "created": {**date, "description": "When it was made, as `DateAdded`."},
        "changed": {**date, "description": "When it, or the list of its maps, was changed last."},
        "pinned": {
            "type": "boolean",
            "description": "Whether an administrator has pinned it to the first page.",
        },
        "count": {
            "type": "integer",
            "minimum": 0,
            "description": "How many published maps it has.",
        },
        "url": {**address, "description": "Absolute URL of its page."},
        "picture": {**address, "description": "Absolute URL of its picture."},
    }
    maps = {"type": "array", "maxItems": MOST_COLLECTED}
    ids = {**maps, "items": {**text, "description": "The `ID` of a map."}}
    return {
        "Collection": _exactly(
            {**facts, "maps": {**maps, "items": reference("schemas", "Map")}},
            "An ordered list of maps.",
        ),
        "Collections": {
            "type": "array",
            "maxItems": MAXIMUM_LIMIT,
            "items": _exactly(facts, "The details of a collection."),
        },
        "CollectionDetails": {
            "type": "object",
            "description": "The details of a collection that its owner can set.",
            "properties": details,
            "additionalProperties": False,
        },
        "NewCollection": {
            "type": "object",
            "description": "A new collection.",
            "properties": {**details, "maps": ids},
            "required": ["title"],
            "additionalProperties": False,
        },
        "MapIds": {**ids, "description": "Maps in order."},
    }


def _exactly(properties: Json, description: str) -> Json:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
