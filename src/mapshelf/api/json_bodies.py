"""Parses JSON request bodies, so that every operation refuses invalid ones in the same words."""

from collections.abc import Sequence
from typing import Any

import orjson

from mapshelf.errors import InvalidParameter, MalformedRequest


def parse_json(body: bytes) -> object:
    """Return the value in a body.

    Raises:
        MalformedRequest: the body is not JSON.
    """
    try:
        value: object = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MalformedRequest("The body is not valid JSON.") from error
    return value


def parse_object(body: bytes, keys: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the JSON object in a body.

    Args:
        body: the body.
        keys: the keys that the object may have; by default any.

    Raises:
        MalformedRequest: the body is not a JSON object.
        InvalidParameter: it has another key.
    """
    values = parse_json(body)
    if not isinstance(values, dict):
        raise MalformedRequest("The body must be a JSON object.")
    if keys is not None and not values.keys() <= set(keys):
        raise InvalidParameter(f"The keys of the body must be some of {', '.join(keys)}.")
    return values
