"""MindMup 1 to 3: JSON, ideas inside ideas.

* The keys of ``ideas`` are ranks, signed numbers: positive ones are on the right and read first,
  negative ones on the left, both from the centre outwards, as the program itself sorts them.
* Up to version 2 the file is the central topic; since version 3 the maps are one level down.
* Notes are in ``attr``, as ``note`` or as an ``attachment``, which is usually HTML.
* Links between ideas, pictures and styles are not read.
"""

import math
from typing import Final

from mapshelf.errors import NotAMap
from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.json_files import as_object, as_text, parse_json
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.topic_tree import grow

Idea = dict[str, object]

_MAPS_BELOW: Final = 3
"""The first version that has maps one level down."""


def sniff(content: Content) -> bool:
    """Return whether ``content`` may be a map of MindMup; ``read`` checks more."""
    if content.archive is not None or not content.text[:100].lstrip().startswith("{"):
        return False
    return '"ideas"' in content.text


def read(content: Content) -> Outline:
    """Return the outline of a MindMup file with all its maps.

    Raises:
        NotAMap: it is other JSON that contains the same words.
        BrokenFile: it is not well-formed or has no topic.
        TooLarge: it exceeds a limit.
    """
    file = as_object(parse_json(content.text, content.limits))
    if "ideas" not in file or not isinstance(file["ideas"], dict):
        raise NotAMap("not a mind map: it is JSON of another kind")
    roots = _children(file) if _has_maps_below(file) else [file]
    return Outline(
        sheets=sheets_of(grow(roots, _topic, _children, content.limits)), software="MindMup"
    )


def _has_maps_below(file: Idea) -> bool:
    version = file.get("formatVersion")
    return file.get("id") == "root" or (isinstance(version, int) and version >= _MAPS_BELOW)


def _children(idea: Idea) -> list[Idea]:
    ideas = as_object(idea.get("ideas"))
    return [as_object(ideas[rank]) for rank in sorted(ideas, key=_place)]


def _place(rank: str) -> tuple[bool, float]:
    try:
        number = float(rank)
    except ValueError:
        number = math.nan
    return number < 0, math.inf if math.isnan(number) else abs(number)


def _topic(idea: Idea) -> Topic:
    note = Note()
    attributes = as_object(idea.get("attr"))
    plain = attributes.get("note")
    note.add_text(as_text(plain) or as_text(as_object(plain).get("text")))
    attachment = as_object(attributes.get("attachment"))
    kind = as_text(attachment.get("contentType")) or "text/html"
    if kind == "text/html":
        note.add_html(as_text(attachment.get("content")))
    elif kind.startswith("text/"):
        note.add_text(as_text(attachment.get("content")))
    return Topic(
        id=as_text(idea.get("id")),
        text=as_text(idea.get("title")),
        note=note.plain,
        note_html=note.html,
    )
