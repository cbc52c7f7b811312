"""The schemas of the OpenAPI document: the content of the bodies of responses."""

from collections.abc import Sequence
from typing import Any, Final

from mapshelf.api.errors import ErrorRow
from mapshelf.api.openapi.comparing import comparing_schemas
from mapshelf.api.openapi.map_collections import collection_schemas
from mapshelf.api.openapi.publishing import publishing_schemas
from mapshelf.api.openapi.responses import reference
from mapshelf.formats.links import LinkKind
from mapshelf.formats.map_links import MOST_LINKS
from mapshelf.model import MAP_KEYS, TASK_STATES, USER_KEYS, TopicKind
from mapshelf.query import MAXIMUM_LIMIT
from mapshelf.search.snippets import API_BUDGET, LONGEST_EXCERPT, LONGEST_STEP
from mapshelf.snapshot.read.facets import MOST_VALUES
from mapshelf.writers.outline_json import FORMAT, VERSION

Json = dict[str, Any]

NUMBER: Final = "^[0-9]+$"
ADDRESS: Final = "^https?://"
DATE: Final = r"\d{4}-\d{2}-\d{2}"
"""Patterns of strings: all values of Map and User objects are strings."""


def schemas(errors: Sequence[ErrorRow]) -> Json:
    """Return all schemas, by the names that others refer to."""
    maps = _maps()
    return {
        **maps,
        **publishing_schemas(maps["Map"]),
        **collection_schemas(),
        **_searching(),
        **_counting(),
        "User": _user(),
        "Error": _error(errors),
        "Links": _links(),
        **comparing_schemas(),
        **_outline(),
    }


def _maps() -> Json:
    keys = {
        "File_ID": _text(
            "Number of the map in the catalogue; later maps have higher numbers.", NUMBER
        ),
        "ID": _text(
            "Public identifier of the map, never given to another map.", "^[0-9A-Za-z]{1,32}$"
        ),
        "Title": _text("Title."),
        "Description": _text("Description by the owner; may be empty."),
        "ThumbsUp": _text("Positive votes.", NUMBER),
        "ThumbsDown": _text("Negative votes.", NUMBER),
        "Views": _text("How often the map's page was opened.", NUMBER),
        "Downloads": _text("How often the map was downloaded.", NUMBER),
        "Thumbnail": _text("Absolute URL of a picture of the map.", ADDRESS),
        "URL": _text("Absolute URL of the map's page.", ADDRESS),
        "Category": _text("Name of its category."),
        "CategoryID": _text("Id of its category, as the `category` parameter takes it.", NUMBER),
        "DateAdded": _text(
            "When it was added, in UTC, as `YYYY-MM-DD HH:MM:SS.mmm`.",
            rf"^{DATE} \d{{2}}:\d{{2}}:\d{{2}}\.\d{{3}}$",
        ),
        "Owner": _text("Username of its owner, as the `owner` parameter takes it."),
        "Size": _text(
            "Size of its file in kilobytes of 1024 bytes, with two decimals; empty if unknown.",
            r"^([0-9]+\.[0-9]{2})?$",
        ),
        "Copyright": _text("Copyright or licence statement; may be empty."),
        "LicenceTypeID": _text("Id of its licence type; empty if unknown.", "^[0-9]*$"),
        "Software": _text("Name of the program that made the map; empty if unknown."),
    }
    return {
        "Map": _object(
            {name: keys[name] for name in MAP_KEYS},
            "A published mind map. Every value is a string, numbers included.",
        ),
        "Maps": _page("Map"),
    }


def _user() -> Json:
    keys = {
        "UserName": _text("Username."),
        "TotalMaps": _text("Number of this user's maps in the catalogue.", NUMBER),
        "DateRegistered": _text(
            "The day the user was registered, in UTC, as `YYYY-MM-DD`.", f"^{DATE}$"
        ),
    }
    return _object(
        {name: keys[name] for name in USER_KEYS},
        "The profile of a user. Every value is a string.",
    )


def _searching() -> Json:
    return {
        "Hit": _object(
            {
                "map": reference("schemas", "Map"),
                "topics": {
                    "type": "array",
                    "maxItems": API_BUDGET.snippets,
                    "items": reference("schemas", "Branch"),
                    "description": "Its best matching topics. Empty if it has no outline, if only "
                    "its title or other fields match, or if there is no query.",
                },
                "file": _object(
                    {
                        "path": _text("Its path below the imported folder."),
                        "marked": _text("The same as HTML, with matches in `mark` elements."),
                    },
                    "Its file, if name or folders match; else both are empty.",
                ),
            },
            "A map with the topics that match.",
        ),
        "Hits": _page("Hit"),
        "Branch": _object(
            {
                "id": _text("The identifier of the topic, as in the outline; may be empty."),
                "path": {
                    "type": "array",
                    "items": {"type": "string", "maxLength": LONGEST_STEP},
                    "description": "Texts of the topics above it, starting at the central topic; "
                    "long ones are cut. Empty for a central topic.",
                },
                "text": {
                    **_text("Its text; an excerpt with … if it is long."),
                    "maxLength": LONGEST_EXCERPT + len("……"),
                },
                "marked": _text(
                    "The same text as HTML: matches are in `mark` elements, everything else is "
                    "escaped."
                ),
                "note": _text(
                    "An excerpt of its note, in the same form; empty if the note does not match."
                ),
            },
            "A topic with the path to it.",
        ),
        "Suggestion": _object(
            {
                "text": _text("The title or topic."),
                "kind": {"type": "string", "enum": ["title", "topic"]},
            }
        ),
        "Suggestions": _page("Suggestion"),
    }


def _counting() -> Json:
    counts, named = reference("schemas", "Counts"), reference("schemas", "NamedCounts")
    return {
        "Count": _object(
            {
                "id": {**_integer(0), "description": "As the parameters take it."},
                "name": {"type": "string"},
                "count": _integer(0),
            },
            "A value with an id, and the number of maps that have it.",
        ),
        "Counts": {"type": "array", "items": reference("schemas", "Count")},
        "NamedCounts": {
            "type": "array",
            "maxItems": MOST_VALUES,
            "items": _object({"name": {"type": "string"}, "count": _integer(1)}),
        },
        "Folders": {
            "type": "array",
            "items": _object(
                {
                    "name": {"type": "string"},
                    "count": _integer(1),
                    "path": _text("As the `folder` parameter takes it."),
                }
            ),
        },
        "Tags": {
            "type": "array",
            "items": _object({"name": {"type": "string"}, "count": _integer(1)}),
        },
        "Facets": _object(
            {
                "total": {**_integer(0), "description": "Total number of matching maps."},
                "category": {**counts, "description": "By category."},
                "software": {
                    **counts,
                    "description": "By program; unknown programs are not counted.",
                },
                "owner": {**named, "description": "By username."},
                "licence": {
                    **counts,
                    "description": "By licence type; unknown types are not counted.",
                },
                "year": {**named, "description": "By year of DateAdded, latest first."},
                "folder": {
                    **reference("schemas", "Folders"),
                    "description": "By folder: those right below the one that `folder` says.",
                },
                "tag": {**named, "description": "By tag."},
                "language": {
                    **named,
                    "description": "By language; unknown languages are not counted.",
                },
                "size": {**named, "description": "By size, small maps first."},
                "with_notes": {**named, "description": "How many have notes, as `true`."},
                "with_tasks": {**named, "description": "How many have tasks, as `true`."},
            },
            "Counts of the matching maps; the most frequent values first.",
        ),
    }


def _error(errors: Sequence[ErrorRow]) -> Json:
    rows = sorted(errors, key=lambda row: row.status)
    return _object(
        {
            "code": {
                "type": "integer",
                "enum": sorted({row.code for row in rows}),
                "description": "The HTTP status, except for 401, where it is 0.",
            },
            "error": {
                "type": "string",
                "enum": list(dict.fromkeys(row.identifier for row in rows)),
                "description": "Short identifier of the error, for programs.",
            },
            "error_description": {
                **_text("Human-readable message; programs should not rely on its wording."),
                "minLength": 1,
            },
        },
        "What went wrong.",
    )


def _links() -> Json:
    leading = {
        "topic": _text("Id of the topic that has the link; may be empty."),
        "target": _text("The link as it is in the file."),
        "map": _text("`ID` of the map it leads to, empty if that is not in this catalogue."),
    }
    coming = {
        "map": _text("`ID` of the map that has the link."),
        "topic": _text("Id of the topic in that map; may be empty."),
    }
    return _growing(
        {
            "out": {
                **_array(_growing(leading), "Links to files of maps, in the order of the topics."),
                "maxItems": MOST_LINKS,
            },
            "in": {
                **_array(_growing(coming), "Links that lead to this map, oldest map first."),
                "maxItems": MOST_LINKS,
            },
        },
        "The links between a map and others.",
    )


def _outline() -> Json:
    moment = {"type": ["string", "null"], "format": "date-time"}
    outline = {
        "format": {"type": "string", "const": FORMAT},
        "version": {"type": "integer", "const": VERSION},
        "software": _text("Program that wrote the file, empty if unknown."),
        "software_version": _text("Its version, empty if unknown."),
        "template": {"type": "boolean", "description": "Whether the file is a template."},
        "author": _text("Who made the map, empty if the file does not say."),
        "copyright": _text("Copyright or licence statement, likewise."),
        "created": {**moment, "description": "When the map was made, UTC; null if unknown."},
        "modified": {**moment, "description": "When it was last edited, likewise."},
        "language": _text(
            "ISO 639-1 code, guessed from the words of the map; empty if unsure.",
            "^([a-z]{2})?$",
        ),
        "topic_count": {**_integer(1), "description": "Number of topics on all sheets."},
        "depth": {
            **_integer(1),
            "description": "Number of levels; the central topics are the first level.",
        },
        "sheets": {**_list("Sheet"), "minItems": 1, "description": "The sheets of the map."},
    }
    return {
        "Outline": _growing(
            outline,
            "Everything Mapshelf knows about a map's content. Later versions may add keys; "
            "`version` changes when a key is removed or changes its meaning.",
        ),
        "Sheet": _growing(_sheet(), "One canvas of a map.", optional={"background": _COLOUR}),
        "Topic": _growing(
            {
                "id": _text("Identifier of the topic; may be empty."),
                "text": _text("Its text, plain; may have several lines."),
                "children": {**_list("Topic"), "description": "The topics below it, in order."},
            },
            "A topic with all topics below it. Keys that are not required are left out where the "
            "topic has no such thing.",
            optional=_beside_topics(),
        ),
    }


_COLOUR: Final = {"type": "string", "pattern": "^#[0-9a-f]{6}$"}
_IDS: Final = {"type": "array", "items": {"type": "string"}, "description": "Ids of topics."}


def _sheet() -> Json:
    arrow = {
        "from": _text("Id of the topic where the arrow begins."),
        "to": _text("Id of the topic where it ends."),
        "text": _text("The words on it."),
    }
    boundary = {"topics": _IDS, "text": _text("The words on it.")}
    summary = {"topics": _IDS, "topic": reference("schemas", "Topic")}
    return {
        "title": _text("Name of the sheet, empty if it has none."),
        "root": reference("schemas", "Topic"),
        "floating": {**_list("Topic"), "description": "Topics that hang from no other."},
        "relationships": _array(_growing(arrow, optional={"color": _COLOUR}), "Arrows."),
        "boundaries": _array(
            _growing(boundary, optional={"color": _COLOUR}),
            "Lines around topics with everything below them.",
        ),
        "summaries": _array(_growing(summary), "Topics that sum up several others."),
    }


def _beside_topics() -> Json:
    link = {
        "target": _text("The URL or path as it is in the file; `#` and an id for a topic."),
        "kind": {"type": "string", "enum": [kind.value for kind in LinkKind]},
        "map": _text("Id of the map it leads to, empty if it leads to none of this catalogue."),
    }
    image = {
        "url": _text("Address of the picture; missing if the picture is."),
        "width": _NUMBER,
        "height": _NUMBER,
        "alt": _text("What it shows, or its file name."),
    }
    return {
        "text_html": _text("Its text as HTML that is safe to show, if it has formatting."),
        "kind": {"type": "string", "enum": [kind.value for kind in TopicKind]},
        "note": _text("Its note, plain text."),
        "note_html": _text("The same note as HTML that is safe to show, if it has formatting."),
        "links": _array(_growing(link), "What it links to."),
        "markers": _array({"type": "string"}, "Its icons, in words that all formats share."),
        "tags": _array({"type": "string"}, "Words the author filed it under."),
        "task": {"type": "object", "properties": _task_facts()},
        "attributes": _array(
            {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
            "Names and values.",
        ),
        "images": _array(_growing({}, optional=image), "The pictures in it."),
        "attachments": _array(
            _growing({"name": {"type": "string"}, "size": _integer(0)}), "The files in it."
        ),
        "formula": _text("Mathematics in LaTeX."),
        "style": {"type": "object", "properties": _style_facts()},
        "folded": {"type": "boolean", "description": "Whether the author hid what is below it."},
        "side": {"type": "string", "enum": ["left", "right"]},
        "position": {
            **_array(_NUMBER, "Of its middle, in pixels from the middle of the central topic."),
            "minItems": 2,
            "maxItems": 2,
        },
    }


def _task_facts() -> Json:
    date = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d(T\d\d:\d\d)?$"}
    return {
        "state": {"type": "string", "enum": list(TASK_STATES)},
        "progress": {**_integer(0), "maximum": 100},
        "priority": {**_integer(1), "maximum": 9},
        "start": date,
        "due": date,
        "resources": _array({"type": "string"}, "Who or what works on it."),
    }


def _style_facts() -> Json:
    return {
        **dict.fromkeys(("text", "fill", "line", "border"), _COLOUR),
        **{key: {"type": "boolean"} for key in ("bold", "italic")},
        **dict.fromkeys(("size", "line_width"), _NUMBER),
        "shape": {"type": "string"},
    }


_NUMBER: Final = {"type": "number"}


def _list(of: str) -> Json:
    return {"type": "array", "items": reference("schemas", of)}


def _array(items: Json, description: str) -> Json:
    return {"type": "array", "items": items, "description": description}


def _text(description: str, pattern: str = "") -> Json:
    found: Json = {"type": "string", "description": description}
    return {**found, "pattern": pattern} if pattern else found


def _integer(minimum: int) -> Json:
    return {"type": "integer", "minimum": minimum}


def _object(properties: Json, description: str = "") -> Json:
    """Return an object with exactly these keys."""
    return {**_growing(properties, description), "additionalProperties": False}


def _growing(properties: Json, description: str = "", optional: Json | None = None) -> Json:
    """Return an object with all of ``properties``; later versions may add others."""
    return {
        "type": "object",
        **({"description": description} if description else {}),
        "properties": {**properties, **(optional or {})},
        "required": list(properties),
    }


def _page(of: str) -> Json:
    return {"type": "array", "maxItems": MAXIMUM_LIMIT, "items": reference("schemas", of)}
