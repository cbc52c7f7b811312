"""The schemas of the OpenAPI document: the content of the bodies of responses."""

from collections.abc import Sequence
from typing import Final

from mapshelf.api.errors import ErrorRow
from mapshelf.api.openapi.comparing import comparing_schemas
from mapshelf.api.openapi.json_schema import (
    Json,
    array,
    closed_object,
    growing_object,
    integer,
    page_of,
    text,
)
from mapshelf.api.openapi.map_collections import collection_schemas
from mapshelf.api.openapi.outline import outline_schemas
from mapshelf.api.openapi.publishing import publishing_schemas
from mapshelf.api.openapi.responses import reference
from mapshelf.api.openapi.saved_searches import search_schemas
from mapshelf.formats.map_links import MOST_LINKS
from mapshelf.model import MAP_KEYS, USER_KEYS
from mapshelf.search.snippets import API_BUDGET, LONGEST_EXCERPT, LONGEST_STEP
from mapshelf.snapshot.read.facets import MOST_VALUES

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
        **search_schemas(),
        **_searching(),
        **_counting(),
        "User": _user(),
        "Error": _error(errors),
        "Links": _links(),
        **comparing_schemas(),
        **outline_schemas(),
    }


def _maps() -> Json:
    keys = {
        "File_ID": text(
            "Number of the map in the catalogue; later maps have higher numbers.", NUMBER
        ),
        "ID": text(
            "Public identifier of the map, never given to another map.", "^[0-9A-Za-z]{1,32}$"
        ),
        "Title": text("Title."),
        "Description": text("Description by the owner; may be empty."),
        "ThumbsUp": text("Positive votes.", NUMBER),
        "ThumbsDown": text("Negative votes.", NUMBER),
        "Views": text("How often the map's page was opened.", NUMBER),
        "Downloads": text("How often the map was downloaded.", NUMBER),
        "Thumbnail": text("Absolute URL of a picture of the map.", ADDRESS),
        "URL": text("Absolute URL of the map's page.", ADDRESS),
        "Category": text("Name of its category."),
        "CategoryID": text("Id of its category, as the `category` parameter takes it.", NUMBER),
        "DateAdded": text(
            "When it was added, in UTC, as `YYYY-MM-DD HH:MM:SS.mmm`.",
            rf"^{DATE} \d{{2}}:\d{{2}}:\d{{2}}\.\d{{3}}$",
        ),
        "Owner": text("Username of its owner, as the `owner` parameter takes it."),
        "Size": text(
            "Size of its file in kilobytes of 1024 bytes, with two decimals; empty if unknown.",
            r"^([0-9]+\.[0-9]{2})?$",
        ),
        "Copyright": text("Copyright or licence statement; may be empty."),
        "LicenceTypeID": text("Id of its licence type; empty if unknown.", "^[0-9]*$"),
        "Software": text("Name of the program that made the map; empty if unknown."),
    }
    return {
        "Map": closed_object(
            {name: keys[name] for name in MAP_KEYS},
            "A published mind map. Every value is a string, numbers included.",
        ),
        "Maps": page_of("Map"),
    }


def _user() -> Json:
    keys = {
        "UserName": text("Username."),
        "TotalMaps": text("Number of this user's maps in the catalogue.", NUMBER),
        "DateRegistered": text(
            "The day the user was registered, in UTC, as `YYYY-MM-DD`.", f"^{DATE}$"
        ),
    }
    return closed_object(
        {name: keys[name] for name in USER_KEYS},
        "The profile of a user. Every value is a string.",
    )


def _searching() -> Json:
    return {
        "Hit": closed_object(
            {
                "map": reference("schemas", "Map"),
                "topics": {
                    "type": "array",
                    "maxItems": API_BUDGET.snippets,
                    "items": reference("schemas", "Branch"),
                    "description": "Its best matching topics. Empty if it has no outline, if only "
                    "its title or other fields match, or if there is no query.",
                },
                "file": closed_object(
                    {
                        "path": text("Its path below the imported folder."),
                        "marked": text("The same as HTML, with matches in `mark` elements."),
                    },
                    "Its file, if the file name or a folder matches; otherwise both are empty.",
                ),
            },
            "A map with the topics that match.",
        ),
        "Hits": page_of("Hit"),
        "Branch": closed_object(
            {
                "id": text("The identifier of the topic, as in the outline; may be empty."),
                "path": {
                    "type": "array",
                    "items": {"type": "string", "maxLength": LONGEST_STEP},
                    "description": "Texts of the topics above it, starting at the central topic; "
                    "long ones are cut. Empty for a central topic.",
                },
                "text": {
                    **text("Its text; an excerpt with … if it is long."),
                    "maxLength": LONGEST_EXCERPT + len("……"),
                },
                "marked": text(
                    "The same text as HTML: matches are in `mark` elements, everything else is "
                    "escaped."
                ),
                "note": text(
                    "An excerpt of its note, in the same form; empty if the note does not match."
                ),
            },
            "A topic with the path to it.",
        ),
        "Suggestion": closed_object(
            {
                "text": text("The title or topic."),
                "kind": {"type": "string", "enum": ["title", "topic"]},
            }
        ),
        "Suggestions": page_of("Suggestion"),
    }


def _counting() -> Json:
    counts, named = reference("schemas", "Counts"), reference("schemas", "NamedCounts")
    return {
        "Count": closed_object(
            {
                "id": {**integer(0), "description": "As the parameters take it."},
                "name": {"type": "string"},
                "count": integer(0),
            },
            "A value with an id, and the number of maps that have it.",
        ),
        "Counts": {"type": "array", "items": reference("schemas", "Count")},
        "NamedCounts": {
            "type": "array",
            "maxItems": MOST_VALUES,
            "items": closed_object({"name": {"type": "string"}, "count": integer(1)}),
        },
        "Folders": {
            "type": "array",
            "items": closed_object(
                {
                    "name": {"type": "string"},
                    "count": integer(1),
                    "path": text("As the `folder` parameter takes it."),
                }
            ),
        },
        "Tags": {
            "type": "array",
            "items": closed_object({"name": {"type": "string"}, "count": integer(1)}),
        },
        "Facets": closed_object(
            {
                "total": {**integer(0), "description": "Total number of matching maps."},
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
                    "description": "By folder: those directly below the one given as `folder`.",
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
    return closed_object(
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
                **text("Human-readable message; programs should not rely on its wording."),
                "minLength": 1,
            },
        },
        "What went wrong.",
    )


def _links() -> Json:
    leading = {
        "topic": text("Id of the topic that has the link; may be empty."),
        "target": text("The link as it is in the file."),
        "map": text("`ID` of the map it leads to, empty if that is not in this catalogue."),
    }
    coming = {
        "map": text("`ID` of the map that has the link."),
        "topic": text("Id of the topic in that map; may be empty."),
    }
    return growing_object(
        {
            "out": {
                **array(
                    growing_object(leading), "Links to files of maps, in the order of the topics."
                ),
                "maxItems": MOST_LINKS,
            },
            "in": {
                **array(growing_object(coming), "Links that lead to this map, oldest map first."),
                "maxItems": MOST_LINKS,
            },
        },
        "The links between a map and others.",
    )
