"""The operations of the OpenAPI document that publish and change maps."""

from functools import partial
from typing import Any, Final

from mapshelf.api.map_fields import FIELDS
from mapshelf.api.openapi.json_schema import BINARY
from mapshelf.api.openapi.operation import Operation
from mapshelf.api.openapi.responses import LIST, json_content, response
from mapshelf.api.uploads import FILE
from mapshelf.api.votes import VOTES
from mapshelf.model import NOTE_LENGTH, Reason
from mapshelf.tokens import MAPS_WRITE

Json = dict[str, Any]

_CHANGED: Final = ("Cache-Control",)
_ERRORS: Final = ("Forbidden", "MapNotFound", "Unavailable")
_OF_FILES: Final = ("Forbidden", "UnreadableFile", "TooManyUploads", "Unavailable")

_Writing = partial(Operation, tag="publishing", scope=MAPS_WRITE)


def publishing_operations(of_list: tuple[str, ...]) -> dict[str, dict[str, Operation]]:
    """Return the operations by path and method.

    Args:
        of_list: the parameters of lists.
    """
    return {
        "/maps": {"post": _publish()},
        "/maps/{ID}": {"patch": _edit(), "delete": _remove()},
        "/maps/{ID}/file": {"put": _replace()},
        "/maps/{ID}/restore": {"post": _undo()},
        "/maps/{ID}/vote": {"put": _vote()},
        "/maps/{ID}/reports": {"post": _report()},
        "/maps/{ID}/versions": {"get": _versions()},
        "/users/me/maps": {"get": _own_maps(of_list)},
        "/maps/{ID}/versions/{number}/restore": {"post": _restore()},
    }


def _publish() -> Operation:
    answer = partial(response, names=("Location", *_CHANGED), content=json_content("PublishedMap"))
    return _Writing(
        "publishMap",
        "Publish a map",
        "Adds the map in an uploaded file; it is read under the same limits as in an import. "
        "A title, description or template that is not given is taken from the file. The same file "
        "of "
        "the same user within a day, or the same Idempotency-Key, returns the existing map.",
        answer("The new map."),
        ("Idempotency-Key",),
        errors=_OF_FILES,
        status=201,
        repeated=answer("The map that the same upload added before."),
        body=_form(_in_form(_details())),
    )


def _edit() -> Operation:
    return _Writing(
        "editMap",
        "Change the details of a map",
        "Sets the fields in the body and leaves the others unchanged. Later imports do not "
        "overwrite what was set here.",
        response("The map.", _CHANGED, json_content("Map")),
        ("ID",),
        errors=(*_ERRORS, "Conflict"),
        body=json_content("MapDetails"),
    )


def _remove() -> Operation:
    return _Writing(
        "removeMap",
        "Remove a map",
        "The map can no longer be found, and no import brings it back.",
        response("The map was removed.", _CHANGED),
        ("ID",),
        errors=_ERRORS,
        status=204,
    )


def _replace() -> Operation:
    return _Writing(
        "replaceFile",
        "Replace the file of a map",
        "Adds a new version of an uploaded map's file: as a form, or as the whole body with the "
        "file name in Content-Disposition.",
        response("The map.", _CHANGED, json_content("Map")),
        ("ID", "Content-Disposition"),
        errors=(*_OF_FILES, "MapNotFound", "Conflict"),
        body={**_form({}), "application/octet-stream": {"schema": BINARY}},
    )


def _vote() -> Operation:
    return _Writing(
        "voteForMap",
        "Vote for a map",
        "Sets the vote of the token's owner. Each user has one vote per map, and none for their "
        "own maps.",
        response("The map, with its votes.", _CHANGED, json_content("Map")),
        ("ID",),
        errors=_ERRORS,
        body=json_content("Vote"),
    )


def _report() -> Operation:
    return _Writing(
        "reportMap",
        "Report a map",
        "Reports a map to the administrators. Each user has one open report per map: a new one "
        "replaces it. Users cannot report their own maps.",
        response("The report.", _CHANGED, json_content("Report")),
        ("ID",),
        errors=(*_ERRORS, "TooManyReports"),
        status=201,
        body=json_content("Report"),
    )


def _versions() -> Operation:
    return Operation(
        "getVersions",
        "List the versions of a map",
        "The files that an uploaded map has had, newest first; the ten newest are kept. Only for "
        "its owner and administrators.",
        response("The versions; none if the map was not uploaded.", _CHANGED, _array("Version")),
        ("ID",),
        errors=_ERRORS,
        tag="publishing",
    )


def _own_maps(of_list: tuple[str, ...]) -> Operation:
    return Operation(
        "getMyMaps",
        "List your own maps",
        "The maps of the token's owner, including unlisted and private ones. Takes the "
        "parameters of GET /maps. In a search by relevance, maps that are not published come last.",
        response("The maps of this page, in order.", LIST, json_content("Maps")),
        (*of_list, "visibility"),
        "ListNotModified",
        tag="publishing",
    )


def _undo() -> Operation:
    return _Writing(
        "restoreMap",
        "Undo the removal of a map",
        "Restores a map within 30 days of its removal, with its former visibility. Only "
        "administrators can restore what an administrator removed.",
        response("The map.", _CHANGED, json_content("Map")),
        ("ID",),
        errors=_ERRORS,
    )


def _restore() -> Operation:
    return _Writing(
        "restoreVersion",
        "Restore a version of a map",
        "Makes an earlier file of a map its newest version. The file is read again, so this "
        "counts as an upload.",
        response("The map.", _CHANGED, json_content("Map")),
        ("ID", "number"),
        errors=(*_OF_FILES, "MapNotFound"),
    )


def publishing_schemas(map_schema: Json) -> Json:
    """Return the schemas that only these operations have.

    Args:
        map_schema: of a Map object.
    """
    page = {"type": "string", "pattern": "^https?://", "description": "URL of the map's page."}
    number = {"type": "integer", "minimum": 1}
    text = {"type": "string"}
    version = {
        "number": {**number, "description": "Counts the files of the map from 1 on."},
        "name": {**text, "description": "Name of the file."},
        "size": {"type": "integer", "minimum": 0, "description": "Bytes of the file."},
        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "created": {**text, "description": "When it was uploaded, as `DateAdded`."},
        "created_by": {**text, "description": "Username of who did."},
        "current": {"type": "boolean", "description": "Whether it is the file of the map now."},
    }
    return {
        "PublishedMap": {
            **map_schema,
            "description": "A Map object with the URL of its page, under two names.",
            "properties": {**map_schema["properties"], "url": page, "map": page},
            "required": [*map_schema["required"], "url", "map"],
        },
        "MapDetails": {
            "type": "object",
            "description": "The details of a map that users can set.",
            "properties": _details(),
            "additionalProperties": False,
        },
        "Vote": {
            "type": "object",
            "properties": {"vote": {"type": "string", "enum": list(VOTES)}},
            "required": ["vote"],
            "additionalProperties": False,
        },
        "Report": {
            "type": "object",
            "properties": {
                "reason": {"type": "string", "enum": [str(reason) for reason in Reason]},
                "note": {**text, "maxLength": NOTE_LENGTH},
            },
            "required": ["reason"],
            "additionalProperties": False,
        },
        "Version": {
            "type": "object",
            "description": "A file that a map has, or had.",
            "properties": version,
            "required": list(version),
        },
    }


def _details() -> Json:
    return {
        row.name: {**row.schema, "description": f"{row.meaning[0].upper()}{row.meaning[1:]}."}
        for row in FIELDS
    }


def _in_form(details: Json) -> Json:
    """Return the schemas of details in a form, which has neither arrays nor nulls."""
    found = {}
    for name, schema in details.items():
        given = {key: value for key, value in schema.items() if key != "items"}
        if isinstance(given["type"], list):
            kinds = [one for one in given["type"] if one not in ("array", "null")]
            given["type"] = kinds if len(kinds) > 1 else kinds[0]
        found[name] = given
    return found


def _form(fields: Json) -> Json:
    properties = {**fields, FILE: {**BINARY, "description": "The file."}}
    schema = {"type": "object", "properties": properties, "required": [FILE]}
    return {"multipart/form-data": {"schema": schema}}


def _array(schema: str) -> Json:
    items = json_content(schema)["application/json"]["schema"]
    return {"application/json": {"schema": {"type": "array", "items": items}}}
