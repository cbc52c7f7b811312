"""The schemas of the OpenAPI document for comparing maps."""

from typing import Any, Final

from mapshelf.comparison.differences import NAMES

Json = dict[str, Any]

_TEXT: Final[Json] = {"type": "string"}


def comparing_schemas() -> Json:
    """Return the schemas, by the names that others refer to."""
    spot = {
        "topic": {**_TEXT, "description": "Id of the topic; may be empty."},
        "path": {
            "type": "array",
            "items": _TEXT,
            "description": "Texts of the topics above it, from the central topic down. Long texts "
            "are cut, and an empty one stands for topics that are left out of a long path.",
        },
        "place": {"type": "integer", "minimum": 1, "description": "Position among its siblings."},
    }
    text = {**_TEXT, "description": "Text of the topic; as in `after` if both maps have it."}
    branch = _object(
        {
            "text": text,
            **spot,
            "topics": {
                "type": "integer",
                "minimum": 1,
                "description": "Number of topics of the branch that only this map has.",
            },
        }
    )
    move = {**_only(spot, "topic"), "text": text, "before": _object(spot), "after": _object(spot)}
    facts = _object(
        _only(spot, "topic"),
        "The properties of the topic that differ, as in the outline; pictures by their digests.",
        {name: {} for name in NAMES} | dict.fromkeys(("text", "note", "formula"), _TEXT),
    )
    change = {**spot, "before": facts, "after": facts}
    return {
        "Diff": _object(
            {
                "added": _list(branch, "Branches that only the other map has."),
                "removed": _list(branch, "Branches that only the first map has."),
                "moved": _list(_object(move), "Topics with another parent or position."),
                "changed": _list(_object(change), "Topics whose text or properties changed."),
            },
            "The differences between two maps; all lists are empty if there are none.",
        )
    }


def _only(properties: Json, name: str) -> Json:
    return {name: properties[name]}


def _list(items: Json, description: str) -> Json:
    return {"type": "array", "items": items, "description": description}


def _object(properties: Json, description: str = "", optional: Json | None = None) -> Json:
    """Return an object with all of ``properties``; later versions may add others."""
    return {
        "type": "object",
        **({"description": description} if description else {}),
        "properties": {**properties, **(optional or {})},
        "required": list(properties),
    }
