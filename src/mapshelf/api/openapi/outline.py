"""The schemas of ``GET /maps/{ID}/outline.json``: sheets, topics, and their parts."""

from typing import Final

from mapshelf.api.openapi.json_schema import Json, array, growing_object, integer, list_of, text
from mapshelf.api.openapi.responses import reference
from mapshelf.formats.links import TargetKind
from mapshelf.model import TASK_STATES, TopicKind
from mapshelf.writers.outline_json import FORMAT, VERSION


def outline_schemas() -> Json:
    """Return the schemas of ``outline.json``, version 2, by name."""
    moment = {"type": ["string", "null"], "format": "date-time"}
    outline = {
        "format": {"type": "string", "const": FORMAT},
        "version": {"type": "integer", "const": VERSION},
        "software": text("Program that wrote the file, empty if unknown."),
        "software_version": text("Its version, empty if unknown."),
        "template": {"type": "boolean", "description": "Whether the file is a template."},
        "author": text("Who made the map, empty if the file does not say."),
        "copyright": text("Copyright or licence statement, likewise."),
        "created": {**moment, "description": "When the map was made, UTC; null if unknown."},
        "modified": {**moment, "description": "When it was last edited, likewise."},
        "language": text(
            "ISO 639-1 code, guessed from the words of the map; empty if unsure.",
            "^([a-z]{2})?$",
        ),
        "topic_count": {**integer(1), "description": "Number of topics on all sheets."},
        "depth": {
            **integer(1),
            "description": "Number of levels; the central topics are the first level.",
        },
        "sheets": {**list_of("Sheet"), "minItems": 1, "description": "The sheets of the map."},
    }
    return {
        "Outline": growing_object(
            outline,
            "Everything Mapshelf knows about a map's content. Later versions may add keys; "
            "`version` changes when a key is removed or changes its meaning.",
        ),
        "Sheet": growing_object(_sheet(), "One canvas of a map.", optional={"background": _COLOUR}),
        "Topic": growing_object(
            {
                "id": text("Identifier of the topic; may be empty."),
                "text": text("Its text, plain; may have several lines."),
                "children": {**list_of("Topic"), "description": "The topics below it, in order."},
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
        "from": text("ID of the topic at its start."),
        "to": text("ID of the topic at its end."),
        "text": text("Its label."),
    }
    boundary = {"topics": _IDS, "text": text("Its label.")}
    summary = {"topics": _IDS, "topic": reference("schemas", "Topic")}
    return {
        "title": text("Name of the sheet, empty if it has none."),
        "root": reference("schemas", "Topic"),
        "floating": {**list_of("Topic"), "description": "Floating topics."},
        "relationships": array(growing_object(arrow, optional=_beside_arrows()), "Arrows."),
        "boundaries": array(
            growing_object(boundary, optional={"color": _COLOUR}),
            "Lines around topics with everything below them.",
        ),
        "summaries": array(growing_object(summary), "Topics that summarize several others."),
    }


def _beside_arrows() -> Json:
    return {
        "color": _COLOUR,
        "point": {
            **array(_NUMBER, "The place it points to, in pixels from the edge of the topic."),
            "minItems": 2,
            "maxItems": 2,
        },
        "heads": {"type": "string", "enum": ["start", "both", "none"]},
    }


def _beside_topics() -> Json:
    link = {
        "target": text("The URL or path as it is in the file; `#` and an id for a topic."),
        "kind": {"type": "string", "enum": [kind.value for kind in TargetKind]},
        "map": text("Id of the map it leads to, empty if it leads to none of this catalogue."),
    }
    image = {
        "url": text("Address of the picture; missing if the picture is."),
        "width": _NUMBER,
        "height": _NUMBER,
        "alt": text("What it shows, or its file name."),
        "below": {"type": "boolean", "description": "Whether it is below the text."},
    }
    return {
        "text_html": text("Its text as HTML that is safe to show, if it has formatting."),
        "kind": {"type": "string", "enum": [kind.value for kind in TopicKind]},
        "note": text("Its note, plain text."),
        "note_html": text("The same note as HTML that is safe to show, if it has formatting."),
        "links": array(growing_object(link), "What it links to."),
        "markers": array({"type": "string"}, "Its icons, in words that all formats share."),
        "tags": array({"type": "string"}, "Words the author filed it under."),
        "task": {"type": "object", "properties": _task_facts()},
        "attributes": array(
            {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
            "Names and values.",
        ),
        "shown_attributes": array(
            {"type": "string"}, "Names of the attributes that its program shows in the topic."
        ),
        "details": text("The part of the note that its program shows in the topic."),
        "number": text("The automatic number that its program shows before the text."),
        "images": array(growing_object({}, optional=image), "The pictures in it."),
        "attachments": array(
            growing_object({"name": {"type": "string"}, "size": integer(0)}), "The files in it."
        ),
        "formula": text("Mathematics in LaTeX."),
        "style": {"type": "object", "properties": _style_facts()},
        "folded": {"type": "boolean", "description": "Whether the author folded its branch."},
        "side": {"type": "string", "enum": ["left", "right"]},
        "position": {
            **array(
                _NUMBER,
                "Position of its centre, in pixels from the centre of the central topic;"
                " of a callout, from the centre of its parent.",
            ),
            "minItems": 2,
            "maxItems": 2,
        },
    }


def _task_facts() -> Json:
    date = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d(T\d\d:\d\d)?$"}
    return {
        "state": {"type": "string", "enum": list(TASK_STATES)},
        "progress": {**integer(0), "maximum": 100},
        "priority": {**integer(1), "maximum": 9},
        "start": date,
        "due": date,
        "resources": array({"type": "string"}, "Who or what works on it."),
    }


def _style_facts() -> Json:
    return {
        **dict.fromkeys(("text", "fill", "line", "border"), _COLOUR),
        **{key: {"type": "boolean"} for key in ("bold", "italic", "line_hidden")},
        **dict.fromkeys(("size", "line_width"), _NUMBER),
        "shape": {"type": "string"},
    }


_NUMBER: Final = {"type": "number"}
