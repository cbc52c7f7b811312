"""Read MindManager's simpler XML without namespaces, written by converters and old versions.

The root is ``Map``; a ``Topic`` has its text in an attribute and its children directly inside, or
in ``SubTopics``.
"""

import re
from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.formats.mindmanager_markers import mindmanager_marker
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.topic_tree import grow
from mapshelf.readers.parsing.xml_files import parse_xml

_BEGINNING: Final = 20_000
"""Maximum offset of the first topic in characters, for the format to be recognized."""

_FIRST: Final = re.compile(r"""<Topic\s[^<>]{0,2000}?\bText\s*=\s*["']""")


def is_simple(content: Content) -> bool:
    """Return whether ``content`` is in this format."""
    return content.root_name == "Map" and bool(_FIRST.search(content.text[:_BEGINNING]))


def read_simple(content: Content) -> Outline:
    """Return the outline of a map in this format.

    Raises:
        BrokenFile: it is damaged or has no topic.
        TooLarge: it exceeds a limit.
    """
    document = parse_xml(content.text, content.limits)
    roots = grow([*_children(document)], _topic, _children, content.limits)
    return Outline(sheets=sheets_of(roots), software="MindManager")


def _children(element: Element) -> Iterator[Element]:
    for part in element:
        if part.tag == "Topic":
            yield part
        elif part.tag in ("SubTopics", "Topics"):
            yield from part.findall("Topic")


def _topic(element: Element) -> Topic:
    note = Note()
    for notes in element.findall("Notes"):
        if len(notes):
            note.add_element(notes)
        else:
            note.add_text(notes.text or "")
    icons = (icon.get("Name", "") for icon in element.iterfind("Icon"))
    return Topic(
        text=element.get("Text", ""),
        id=element.get("OId", "") or element.get("ID", ""),
        note=note.plain,
        note_html=note.html,
        links=tuple(link.get("URL", "") for link in element.iterfind("Hyperlink")),
        markers=tuple(mindmanager_marker(icon) for icon in icons if icon),
    )
