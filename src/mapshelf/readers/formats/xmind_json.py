"""Read the newer XMind format (since 2018): ``content.json``.

The document is a list of sheets with their topics. The style of a topic is in the topic itself and
in the theme of its sheet.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Final

from mapshelf.errors import BrokenFile
from mapshelf.model import Relationship, Sheet, Topic, TopicKind
from mapshelf.readers.formats.xmind_markers import xmind_marker
from mapshelf.readers.formats.xmind_notes import add_json_note, note_pictures
from mapshelf.readers.formats.xmind_parts import (
    FORMULA,
    KINDS,
    PLACED,
    TASK,
    Bracket,
    Canvas,
    Parts,
    number,
    position_of,
    task_of,
)
from mapshelf.readers.formats.xmind_sides import PROVIDER, RIGHT_NUMBER
from mapshelf.readers.formats.xmind_styles import Theme
from mapshelf.readers.parsing.colours import colour
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.json_files import as_list, as_object, as_text, parse_json
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.topic_tree import grow, reference

_Object = dict[str, object]
_Node = tuple[TopicKind, bool, _Object]
"""The kind of a topic, whether its position is used, and its object. Positions of deeper topics
are leftovers from former places of the topic."""

_GROUPS: Final = ("attached", "detached", "summary", "callout")
_RUNS: Final = {
    ("fo:font-weight", "bold"): "b",
    ("fo:font-style", "italic"): "i",
    ("fo:text-decoration", "underline"): "u",
    ("fo:text-decoration", "line-through"): "s",
}

_LINE_END: Final = re.compile("\r\n?|\n")


def read_json(content: Content, text: str) -> tuple[Sheet, ...]:
    """Return the sheets in ``text``, a ``content.json``.

    Raises:
        BrokenFile: it is damaged or has no topic.
        TooLarge: it exceeds a limit.
    """
    document = parse_json(text, content.limits)
    if not isinstance(document, list):
        raise BrokenFile("its content.json is not a list of sheets")
    sheets = [sheet for sheet in map(as_object, document) if as_object(sheet.get("rootTopic"))]
    reading = _Reading(Parts(content))
    central = [as_object(sheet["rootTopic"]) for sheet in sheets]
    nodes = [(TopicKind.ATTACHED, False, topic) for topic in central]
    roots = grow(nodes, reading.topic, _Children(set(map(id, central))), content.limits)
    return reading.parts.sheets(roots, map(_canvas, sheets))


class _Children:
    """Returns the children of a topic, of all kinds."""

    def __init__(self, roots: set[int]) -> None:
        self._roots = roots

    def __call__(self, node: _Node) -> Iterator[_Node]:
        children = node[2].get("children")
        if not children or not isinstance(children, dict):
            return
        central = id(node[2]) in self._roots
        for group in (*_GROUPS, *(name for name in children if name not in _GROUPS)):
            kind = KINDS.get(group, TopicKind.ATTACHED)
            placed = central and kind in PLACED
            for child in as_list(children.get(group)):
                if isinstance(child, dict):
                    yield kind, placed, child


class _Reading:
    """Converts the topics of one file."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    def topic(self, node: _Node) -> Topic:
        kind, placed, data = node
        get = data.get
        topic = Topic(as_text(get("title")), as_text(get("id")), kind=kind)
        topic.folded = get("branch") == "folded"
        for name, value in data.items():
            if value and (read := _PARTS.get(name)):
                read(self, topic, value)
        if placed and (position := as_object(get("position"))):
            topic.position = position_of(_digits(position.get("x")), _digits(position.get("y")))
        if link := as_text(get("href")):
            self.parts.add_link(topic, link)
        if image := as_object(get("image")):
            self._add_picture(topic, image)
        if get("notes") or get("comments"):
            self._add_note(topic, as_object(get("notes")), as_list(get("comments")))
        self.parts.finish(topic)
        return topic

    def _add_runs(self, topic: Topic, runs: object) -> None:
        html = "".join(map(_run, map(as_object, as_list(runs))))
        # Line breaks alone are not formatting: plain text has them, too.
        topic.text_html = _LINE_END.sub("<br>", html) if "<" in html else ""

    def _add_labels(self, topic: Topic, labels: object) -> None:
        topic.tags = tuple(map(as_text, as_list(labels)))

    def _add_markers(self, topic: Topic, markers: object) -> None:
        names = (as_text(as_object(marker).get("markerId")) for marker in as_list(markers))
        topic.markers = tuple(xmind_marker(name) for name in names if name)

    def _add_style(self, topic: Topic, style: object) -> None:
        self.parts.properties[id(topic)] = _properties(style)

    def _add_boundaries(self, topic: Topic, boundaries: object) -> None:
        self.parts.boundaries[id(topic)] = list(map(_bracket, as_list(boundaries)))

    def _add_summaries(self, topic: Topic, summaries: object) -> None:
        self.parts.summaries[id(topic)] = list(map(_bracket, as_list(summaries)))

    def _add_picture(self, topic: Topic, image: _Object) -> None:
        source = as_text(image.get("src"))
        if source and not topic.formula:  # a formula has a picture of itself
            width, height = _digits(image.get("width")), _digits(image.get("height"))
            self.parts.add_picture(source, number(width), number(height))

    def _add_note(self, topic: Topic, notes: _Object, comments: list[object]) -> None:
        note = Note()
        add_json_note(note, notes)
        for comment in map(as_object, comments):
            author = as_text(comment.get("author")).strip()
            said = as_text(comment.get("content")).strip()
            note.add_text(f"{author}: {said}" if author and said else said)
        topic.note = note.plain
        topic.note_html = note.html
        for source in filter(None, note_pictures(notes)):
            self.parts.add_picture(source)

    def _add_extensions(self, topic: Topic, extensions: object) -> None:
        for extension in map(as_object, as_list(extensions)):
            provider, held = extension.get("provider"), extension.get("content")
            if provider in TASK:
                topic.task = task_of(_task_facts(held))
            elif provider == FORMULA:
                topic.formula = as_text(as_object(held).get("content")).strip().strip("$")
            for member in as_list(extension.get("resourceRefs")):
                if source := as_text(member) or as_text(as_object(member).get("resourceId")):
                    self.parts.add_attachment(topic, source)


_PARTS: Final[dict[str, Callable[[_Reading, Topic, object], None]]] = {
    "attributedTitle": _Reading._add_runs,
    "labels": _Reading._add_labels,
    "markers": _Reading._add_markers,
    "style": _Reading._add_style,
    "extensions": _Reading._add_extensions,
    "boundaries": _Reading._add_boundaries,
    "summaries": _Reading._add_summaries,
}
"""Handlers for those members of a topic that do not depend on other members."""


def _task_facts(held: object) -> Iterator[tuple[str, str]]:
    """Yield the task properties in an extension: an object, or a list of names and values."""
    for name, value in as_object(held).items():
        yield name, _digits(value)
    for fact in map(as_object, as_list(held)):
        yield as_text(fact.get("name")), _digits(fact.get("content"))


def _canvas(sheet: _Object) -> Canvas:
    topic = as_object(sheet.get("rootTopic"))
    return Canvas(
        title=as_text(sheet.get("title")),
        background=colour(_properties(sheet.get("style")).get("fill")),
        relationships=tuple(
            Relationship(
                reference(as_text(found.get("end1Id"))),
                reference(as_text(found.get("end2Id"))),
                as_text(found.get("title")),
                _properties(found.get("style")).get("line-color", ""),
            )
            for found in map(as_object, as_list(sheet.get("relationships")))
        ),
        theme=Theme(
            {family: _properties(look) for family, look in as_object(sheet.get("theme")).items()}
        ),
        structure=as_text(topic.get("structureClass")),
        right_number=_right_number(topic),
    )


def _right_number(topic: _Object) -> str:
    for extension in map(as_object, as_list(topic.get("extensions"))):
        if extension.get("provider") == PROVIDER:
            for fact in map(as_object, as_list(extension.get("content"))):
                if fact.get("name") == RIGHT_NUMBER:
                    return _digits(fact.get("content"))
    return ""


def _bracket(value: object) -> Bracket:
    found = as_object(value)
    return Bracket(
        reference(as_text(found.get("id"))),
        as_text(found.get("range")),
        as_text(found.get("title")),
        _properties(found.get("style")).get("line-color", ""),
        reference(as_text(found.get("topicId"))),
    )


def _properties(style: object) -> Mapping[str, str]:
    """Return the properties of a style by their names without prefix."""
    if not isinstance(style, dict):
        return {}
    found = as_object(style.get("properties"))
    return {name.rpartition(":")[2]: as_text(value) for name, value in found.items()}


def _run(run: _Object) -> str:
    html = escape(as_text(run.get("text")), quote=False)
    for (name, value), element in _RUNS.items():
        if run.get(name) == value:
            html = f"<{element}>{html}</{element}>"
    return html


def _digits(value: object) -> str:
    return str(value) if isinstance(value, float) else as_text(value)
