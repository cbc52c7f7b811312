"""Small pieces that schemas of the OpenAPI document are made of (JSON Schema 2020-12)."""

from typing import Any, Final

from mapshelf.api.openapi.responses import reference
from mapshelf.query import MAXIMUM_LIMIT

Json = dict[str, Any]

BINARY: Final = {"type": "string", "format": "binary"}
"""Bytes. Generators of clients know them by this format, of older versions of OpenAPI, alone."""


def list_of(of: str) -> Json:
    """Return an array of what a schema of this name describes."""
    return {"type": "array", "items": reference("schemas", of)}


def array(items: Json, description: str) -> Json:
    """Return an array."""
    return {"type": "array", "items": items, "description": description}


def text(description: str, pattern: str = "") -> Json:
    """Return a string; it matches ``pattern``."""
    found: Json = {"type": "string", "description": description}
    return {**found, "pattern": pattern} if pattern else found


def integer(minimum: int) -> Json:
    """Return an integer that is not less than ``minimum``."""
    return {"type": "integer", "minimum": minimum}


def closed_object(properties: Json, description: str = "") -> Json:
    """Return an object with exactly these keys."""
    return {**growing_object(properties, description), "additionalProperties": False}


def growing_object(properties: Json, description: str = "", optional: Json | None = None) -> Json:
    """Return an object with all of ``properties``; later versions may add others."""
    return {
        "type": "object",
        **({"description": description} if description else {}),
        "properties": {**properties, **(optional or {})},
        "required": list(properties),
    }


def page_of(of: str) -> Json:
    """Return a page of what a schema of this name describes."""
    return {"type": "array", "maxItems": MAXIMUM_LIMIT, "items": reference("schemas", of)}
