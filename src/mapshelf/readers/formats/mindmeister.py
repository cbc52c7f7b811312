"""MindMeister ``.mind``: an archive with ``map.json``, whose ``root`` contains its children.

MindMeister publishes no description; the names are from files and converters that others published
(klueless-io/mindmeister_api, p2c2e/mindmeister-to-freemind).

* ``map_version`` (2.6, 3.0) is the version of the format, not of a program.
* Notes are plain text in older files, HTML in newer ones.
* Floating topics are ordinary children of the root.
"""

import re
from collections.abc import Iterator
from typing import Final

from mapshelf.errors import BrokenFile
from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.json_files import as_list, as_object, as_text, parse_json
from mapshelf.readers.parsing.text_cleaning import html_to_text
from mapshelf.readers.parsing.topic_tree import grow

_MEMBER: Final = "map.json"
_MARKUP: Final = re.compile(r"<(?:/?[a-z]+\b|!)[^<>]*>", re.IGNORECASE)


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of MindMeister; games have a ``map.json`` as well."""
    archive = content.archive
    return archive is not None and _MEMBER in archive.names and b'"root"' in archive.read(_MEMBER)


def read(content: Content) -> Outline:
    """Return the outline of a MindMeister map.

    Raises:
        BrokenFile: it is damaged or has no topic.
        TooLarge: it exceeds a limit.
    """
    if content.archive is None:
        raise BrokenFile("it is no archive")
    document = as_object(parse_json(decode(content.archive.read(_MEMBER)), content.limits))
    root = as_object(document.get("root"))
    return Outline(
        sheets=sheets_of(grow([root] if root else [], _topic, _children, content.limits)),
        software="MindMeister",
        created=milliseconds(as_text(root.get("created_at"))),
        modified=_modified(root),
    )


def _children(node: dict[str, object]) -> Iterator[dict[str, object]]:
    children = node.get("children")
    for child in as_object(children).values() or as_list(children):
        if isinstance(child, dict):
            yield child


def _topic(node: dict[str, object]) -> Topic:
    note = as_text(node.get("note"))
    is_html = _MARKUP.search(note) is not None
    return Topic(
        id=as_text(node.get("id")),
        text=as_text(node.get("title")),
        note=html_to_text(note) if is_html else note,
        note_html=note if is_html else "",
        links=(_link(node.get("link")),),
    )


def _link(link: object) -> str:
    return as_text(link) or as_text(as_object(link).get("url"))


def _modified(root: dict[str, object]) -> int | None:
    """Return when the last topic was edited; the map itself has no time."""
    latest = 0
    pending = [root]
    while pending:
        node = pending.pop()
        latest = max(latest, milliseconds(as_text(node.get("updated_at"))) or 0)
        pending.extend(_children(node))
    return latest or None
