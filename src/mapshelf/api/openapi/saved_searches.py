"""The operations of the OpenAPI document about saved searches, with their schemas."""

from functools import partial
from typing import Any, Final

from mapshelf.api.openapi.map_collections import ID_PATTERN
from mapshelf.api.openapi.operation import Operation
from mapshelf.api.openapi.responses import CHECKED, json_content, response
from mapshelf.api.saved_searches import SELECTING
from mapshelf.model import MOST_SEARCHES, SEARCH_NAME_LENGTH
from mapshelf.tokens import MAPS_WRITE

Json = dict[str, Any]

_AT: Final = "/users/me/searches"
_CHANGED: Final = ("Cache-Control",)
_ERRORS: Final = ("SearchNotFound", "Unavailable")

_Writing = partial(Operation, tag="searches", scope=MAPS_WRITE)


def search_operations() -> dict[str, dict[str, Operation]]:
    """Return the operations by path and method."""
    return {
        _AT: {"get": _list(), "post": _save()},
        f"{_AT}/{{search}}": {"patch": _edit(), "delete": _remove()},
    }


def _list() -> Operation:
    return Operation(
        "getSavedSearches",
        "List saved searches",
        "All saved searches of the token's owner, most recently saved first. Takes no parameters.",
        response("The saved searches.", CHECKED, json_content("SavedSearches")),
        not_modified="MapNotModified",
        tag="searches",
    )


def _save() -> Operation:
    return _Writing(
        "saveSearch",
        "Save a search",
        "Saves parameters of GET /maps under a name. The feed of a saved search contains the maps "
        "that match; its URL stays the same when the search changes.",
        response("The saved search.", ("Location", *_CHANGED), json_content("SavedSearch")),
        errors=("TooManySearches", "Unavailable"),
        status=201,
        body=json_content("NewSavedSearch"),
    )


def _edit() -> Operation:
    return _Writing(
        "editSavedSearch",
        "Change a saved search",
        "Sets the fields in the body and leaves the others unchanged.",
        response("The saved search.", _CHANGED, json_content("SavedSearch")),
        ("search",),
        errors=_ERRORS,
        body=json_content("SavedSearchDetails"),
    )


def _remove() -> Operation:
    return _Writing(
        "removeSavedSearch",
        "Delete a saved search",
        "Its feed is deleted, too.",
        response("The collection was deleted.", _CHANGED),
        ("search",),
        errors=_ERRORS,
        status=204,
    )


def search_parameters() -> Json:
    """Return the parameters that only these operations have."""
    return {
        "search": {
            "name": "search",
            "in": "path",
            "required": True,
            "description": "The `id` of a saved search.",
            "schema": {"type": "string", "pattern": ID_PATTERN},
            "example": "sQ4hN7vW",
        }
    }


def search_schemas() -> Json:
    """Return the schemas that only these operations have."""
    text = {"type": "string"}
    date = {**text, "pattern": r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{3}$"}
    address = {**text, "pattern": "^https?://"}
    details = {
        "name": {**text, "minLength": 1, "maxLength": SEARCH_NAME_LENGTH},
        "parameters": {
            "type": "object",
            "description": "Parameters of GET /maps that select and order maps, as texts.",
            "properties": dict.fromkeys(SELECTING, text),
            "additionalProperties": False,
        },
    }
    facts = {
        "id": {
            **text,
            "pattern": ID_PATTERN,
            "description": "Never given to another saved search.",
        },
        **details,
        "created": {**date, "description": "When it was saved, as `DateAdded`."},
        "changed": {**date, "description": "When it was changed last."},
        "url": {**address, "description": "Absolute URL of the list on the website."},
        "feed": {**address, "description": "Absolute URL of its Atom feed."},
    }
    return {
        "SavedSearch": _object(facts, "Search parameters, saved under a name.", required=True),
        "SavedSearches": {
            "type": "array",
            "maxItems": MOST_SEARCHES,
            "items": {"$ref": "#/components/schemas/SavedSearch"},
        },
        "SavedSearchDetails": _object(details, "The fields to change.", required=False),
        "NewSavedSearch": _object(details, "A new saved search.", required=True),
    }


def _object(properties: Json, description: str, *, required: bool) -> Json:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        **({"required": list(properties)} if required else {}),
        "additionalProperties": False,
    }
