"""Helpers that build the schemas of the OpenAPI document (JSON Schema 2020-12)."""

from typing import Any, Final

from mapshelf.api.openapi.responses import reference
from mapshelf.query import MAXIMUM_LIMIT

Json = dict[str, Any]

BINARY: Final = {"type": "string", "format": "binary"}
"""Binary data. Client generators only recognise it by this format, from older OpenAPI versions."""


def list_of(of: str) -> Json:
    """Return the schema of an array of items with a named schema."""
    return {"type": "array", "items": reference("schemas", of)}


def array(items: Json, description: str) -> Json:
    """Return the schema of an array."""
    return {"type": "array", "items": items, "description": description}


def text(description: str, pattern: str = "") -> Json:
    """Return the schema of a string that matches ``pattern``."""
    found: Json = {"type": "string", "description": description}
    return {**found, "pattern": pattern} if pattern else found


def integer(minimum: int) -> Json:
    """Return the schema of an integer that is at least ``minimum``."""
    return {"type": "integer", "minimum": minimum}


def closed_object(properties: Json, description: str = "") -> Json:
    """Return the schema of an object with exactly these keys."""
    return {**growing_object(properties, description), "additionalProperties": False}


def growing_object(properties: Json, description: str = "", optional: Json | None = None) -> Json:
    """Return the schema of an object with all of ``properties``; later versions may add others."""
    return {
        "type": "object",
        **({"description": description} if description else {}),
        "properties": {**properties, **(optional or {})},
        "required": list(properties),
    }


def page_of(of: str) -> Json:
    """Return the schema of a page of items with a named schema."""
    return {"type": "array", "maxItems": MAXIMUM_LIMIT, "items": reference("schemas", of)}
