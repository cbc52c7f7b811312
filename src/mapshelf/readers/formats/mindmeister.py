"""Read MindMeister ``.mind``: an archive with ``map.json``, a tree of objects below ``root``.

MindMeister publishes no description of the format. The names come from published files and
converters of others (klueless-io/mindmeister_api, p2c2e/mindmeister-to-freemind).

* ``map_version`` (2.6, 3.0) is the version of the format, not of a program.
* Notes are plain text in older files, HTML in newer ones.
* Floating topics are children of the root that are marked as floating.
* Icons, tasks, colours and files are read as in those converters. Any of them may be missing, empty
  or without content.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from mapshelf.errors import BrokenFile
from mapshelf.model import Attachment, Marker, Outline, Sheet, Style, Task, Topic
from mapshelf.model.markers import is_known, marker
from mapshelf.readers.parsing.colours import colour
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.json_files import as_list, as_object, as_text, parse_json
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.parsing.numbers import number
from mapshelf.readers.parsing.text_cleaning import html_to_text
from mapshelf.readers.parsing.topic_tree import grow

_MEMBER: Final = "map.json"
_MARKUP: Final = re.compile(r"<(?:/?[a-z]+\b|!)[^<>]*>", re.IGNORECASE)


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of MindMeister; games have a ``map.json``, too."""
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
        sheets=(_sheet(root, content.limits),),
        software="MindMeister",
        created=milliseconds(as_text(root.get("created_at"))),
        modified=_modified(root),
    )


def _children(node: dict[str, object]) -> Iterator[dict[str, object]]:
    children = node.get("children")
    for child in as_object(children).values() or as_list(children):
        if isinstance(child, dict):
            yield child


def _sheet(root: dict[str, object], limits: Limits) -> Sheet:
    loose = [child for child in _children(root) if _floats(child)]
    centres = [root, *loose] if root else []

    def children_of(node: dict[str, object]) -> Iterable[dict[str, object]]:
        children = _children(node)
        return (child for child in children if not _floats(child)) if node is root else children

    first, *others = grow(centres, _topic, children_of, limits)
    return Sheet(first, floating=tuple(others))


def _floats(node: dict[str, object]) -> bool:
    return bool(node.get("floating") or as_object(node.get("property")).get("floating"))


def _topic(node: dict[str, object]) -> Topic:
    note = as_text(node.get("note"))
    is_html = _MARKUP.search(note) is not None
    return Topic(
        id=as_text(node.get("id")),
        text=as_text(node.get("title")),
        note=html_to_text(note) if is_html else note,
        note_html=note if is_html else "",
        links=(_link(node.get("link")),),
        markers=tuple(_markers(node)),
        task=_task(as_object(node.get("task"))),
        attachments=tuple(_attachments(node)),
        style=_style(as_object(node.get("style"))),
    )


def _markers(node: dict[str, object]) -> Iterator[Marker]:
    for icon in (as_list(node.get("icon")), as_list(node.get("icons"))):
        for name in map(as_text, icon):
            if name:
                yield marker(name if is_known(name) else "", name)


def _task(facts: dict[str, object]) -> Task | None:
    task = Task(
        start=as_text(facts.get("from"))[:10],
        due=as_text(facts.get("until"))[:10],
        resources=(as_text(facts.get("resource")),),
    )
    return task if any((task.start, task.due, *task.resources)) else None


def _attachments(node: dict[str, object]) -> Iterator[Attachment]:
    for file in map(as_object, as_list(node.get("attachments"))):
        name = as_text(file.get("filename")) or as_text(file.get("name"))
        yield Attachment(name, int(number(file.get("size"))))


def _style(facts: dict[str, object]) -> Style | None:
    style = Style(
        text=colour(as_text(facts.get("color"))),
        fill=colour(as_text(facts.get("backgroundColor"))),
        border=colour(as_text(facts.get("borderColor"))),
        line=colour(as_text(facts.get("line_color"))),
        bold=bool(facts.get("bold")),
        italic=bool(facts.get("italic")),
    )
    return style if style != Style() else None


def _link(link: object) -> str:
    return as_text(link) or as_text(as_object(link).get("url"))


def _modified(root: dict[str, object]) -> int | None:
    """Return the latest time at which a topic was edited; the map itself has no such time."""
    latest = 0
    pending = [root]
    while pending:
        node = pending.pop()
        latest = max(latest, milliseconds(as_text(node.get("updated_at"))) or 0)
        pending.extend(_children(node))
    return latest or None
