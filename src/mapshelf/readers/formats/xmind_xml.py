"""Read the older XMind format (XMind 3 to 8): ``content.xml``, styles and comments.

``styles.xml`` contains the styles of topics and the themes of sheets, ``comments.xml`` the comments
on topics.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import starmap
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.errors import UnreadableFile
from mapshelf.model import Outline, Relationship, Topic, TopicKind
from mapshelf.readers.formats.xmind_markers import xmind_marker
from mapshelf.readers.formats.xmind_parts import (
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
from mapshelf.readers.formats.xmind_styles import Properties, Theme
from mapshelf.readers.parsing.colours import colour
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.text_cleaning import element_to_html
from mapshelf.readers.parsing.topic_tree import grow, reference
from mapshelf.readers.parsing.xml_files import parse_xml

_Node = tuple[TopicKind, bool, Element]
"""The kind of a topic, whether its position is used, and its element. Positions of deeper topics
are leftovers from former places of the topic."""

_AUDIO: Final = "org.xmind.ui.audionotes"


def read_xml(content: Content, text: str) -> Outline:
    """Return the outline of the map in ``text``, a ``content.xml``.

    Raises:
        BrokenFile: it is damaged or has no topic.
        TooLarge: it exceeds a limit.
    """
    document = parse_xml(text, content.limits)
    reading = _Reading(content)
    pairs = [
        (sheet, topic) for sheet in document.findall("sheet") for topic in sheet.findall("topic")
    ]
    roots = grow(
        [(TopicKind.ATTACHED, False, topic) for _, topic in pairs],
        reading.topic,
        _Children({id(topic) for _, topic in pairs}),
        content.limits,
    )
    return Outline(
        sheets=reading.parts.sheets(roots, starmap(reading.canvas, pairs)),
        software="XMind",
        modified=milliseconds(document.get("timestamp")),
    )


class _Children:
    """Returns the children of a topic, of all kinds."""

    def __init__(self, roots: set[int]) -> None:
        self._roots = roots

    def __call__(self, node: _Node) -> Iterator[_Node]:
        children = node[2].find("children")
        if children is None:
            return
        central = id(node[2]) in self._roots
        for group in children:
            kind = KINDS.get(group.get("type", ""), TopicKind.ATTACHED)
            placed = central and kind in PLACED
            for topic in group:
                if topic.tag == "topic":
                    yield kind, placed, topic


class _Reading:
    """Converts the topics of one file."""

    def __init__(self, content: Content) -> None:
        self.parts = Parts(content)
        styles = _member(content, "styles.xml")
        self._properties = _properties(styles)
        self._emphasis: dict[str, tuple[str, ...]] = {}  # by the id of a style
        self._themes = _themes(styles, self._properties)
        self._comments = _comments(_member(content, "comments.xml"))

    def topic(self, node: _Node) -> Topic:
        kind, placed, element = node
        attributes = element.attrib
        topic = Topic("", attributes.get("id", ""), kind=kind)
        topic.folded = attributes.get("branch") == "folded"
        notes = None
        for part in element:
            if part.tag == "title":
                topic.text = part.text or ""
            elif part.tag == "notes":
                notes = part
            elif read := _PARTS.get(part.tag):
                read(self, topic, part)
        if not placed:
            topic.position = None
        if link := attributes.get("href"):
            self.parts.add_link(topic, link)
        if look := self._properties.get(attributes.get("style-id", "")):
            self.parts.properties[id(topic)] = look
        if notes is not None or topic.id in self._comments:
            self._add_note(topic, notes)
        self.parts.finish(topic)
        return topic

    def canvas(self, sheet: Element, topic: Element) -> Canvas:
        """Return the properties of a sheet with the central topic ``topic``."""
        look = self._properties.get(sheet.get("style-id", ""), {})
        return Canvas(
            title=sheet.findtext("title", ""),
            background=colour(look.get("fill")),
            relationships=tuple(
                Relationship(
                    reference(found.get("end1", "")),
                    reference(found.get("end2", "")),
                    found.findtext("title", ""),
                    self._line_colour(found),
                )
                for found in sheet.findall("relationships/relationship")
            ),
            theme=self._themes.get(sheet.get("theme", "")) or Theme(),
            structure=topic.get("structure-class", ""),
            right_number=_right_number(topic),
        )

    def _line_colour(self, element: Element) -> str:
        return self._properties.get(element.get("style-id", ""), {}).get("line-color", "")

    def _add_note(self, topic: Topic, notes: Element | None) -> None:
        note = Note()
        if notes is not None:
            self._read_note(note, topic, notes)
        for comment in self._comments.get(topic.id, ()):
            note.add_text(comment)
        topic.note = note.plain
        topic.note_html = note.html

    def _read_note(self, note: Note, topic: Topic, notes: Element) -> None:
        rich = notes.find("html")
        plain = notes.findtext("plain", "")
        if rich is None:
            note.add_text(plain)
            return
        for picture in rich.iter("img"):
            self._add_picture(topic, picture)
        for span in list(rich.iter("span")):
            self._emphasize(span)
        if plain.strip():
            note.add_both(plain, element_to_html(rich))
        else:
            note.add_element(rich)

    def _emphasize(self, span: Element) -> None:
        """Wrap the content of a ``span`` with a style in the HTML elements for that style."""
        style = span.get("style-id", "")
        if style not in self._emphasis:
            self._emphasis[style] = _emphasis_of(self._properties.get(style, {}))
        for element in self._emphasis[style]:
            _wrap_content(span, element)

    def _add_labels(self, topic: Topic, labels: Element) -> None:
        topic.tags = tuple(label.text or "" for label in labels)

    def _add_markers(self, topic: Topic, markers: Element) -> None:
        names = (marker.get("marker-id", "") for marker in markers)
        topic.markers = tuple(xmind_marker(name) for name in names if name)

    def _add_picture(self, topic: Topic, picture: Element) -> None:
        if source := picture.get("src"):
            width, height = picture.get("width", ""), picture.get("height", "")
            self.parts.add_picture(source, number(width), number(height))

    def _add_position(self, topic: Topic, position: Element) -> None:
        topic.position = position_of(position.get("x", ""), position.get("y", ""))

    def _add_extensions(self, topic: Topic, extensions: Element) -> None:
        for extension in extensions:
            provider = extension.get("provider", "")
            if provider in TASK:
                facts = ((fact.tag, fact.text or "") for fact in extension.findall("content/*"))
                topic.task = task_of(facts)
            elif provider == _AUDIO:
                for member in extension.findall("resource-refs/resource-ref"):
                    self.parts.add_attachment(topic, member.get("resource-id", ""))

    def _add_boundaries(self, topic: Topic, boundaries: Element) -> None:
        self.parts.boundaries[id(topic)] = [
            Bracket(
                reference(found.get("id", "")),
                found.get("range", ""),
                found.findtext("title", ""),
                self._line_colour(found),
            )
            for found in boundaries
        ]

    def _add_summaries(self, topic: Topic, summaries: Element) -> None:
        self.parts.summaries[id(topic)] = [
            Bracket(
                found.get("id", ""),
                found.get("range", ""),
                topic=reference(found.get("topic-id", "")),
            )
            for found in summaries
        ]


_PARTS: Final[dict[str, Callable[[_Reading, Topic, Element], None]]] = {
    "labels": _Reading._add_labels,
    "marker-refs": _Reading._add_markers,
    "img": _Reading._add_picture,
    "position": _Reading._add_position,
    "extensions": _Reading._add_extensions,
    "boundaries": _Reading._add_boundaries,
    "summaries": _Reading._add_summaries,
}
"""Handlers for the child elements of a topic, except title and note. Others are only layout."""

_EMPHASIS: Final = (
    ("font-weight", "bold", "b"),
    ("font-style", "italic", "i"),
    ("text-decoration", "underline", "u"),
    ("text-decoration", "line-through", "s"),
)


def _emphasis_of(look: Mapping[str, str]) -> tuple[str, ...]:
    """Return the HTML elements for a style."""
    return tuple(tag for name, value, tag in _EMPHASIS if value in look.get(name, "").split())


def _wrap_content(parent: Element, tag: str) -> None:
    """Put the text and children of ``parent`` into a new child with this tag."""
    inner = Element(tag)
    inner.text, inner[:] = parent.text, parent[:]
    parent.text, parent[:] = None, [inner]


def _right_number(topic: Element) -> str:
    for extension in topic.iterfind("extensions/extension"):
        if extension.get("provider") == PROVIDER:
            return extension.findtext(f"content/{RIGHT_NUMBER}", "")
    return ""


def _member(content: Content, name: str) -> Element | None:
    """Return an optional XML member of the archive, ``None`` if it is missing or damaged."""
    archive = content.archive
    if archive is None or name not in archive.names:
        return None
    try:
        return parse_xml(decode(archive.read(name)), content.limits)
    except UnreadableFile:
        return None


def _properties(styles: Element | None) -> dict[str, dict[str, str]]:
    """Return the properties of each style by its id."""
    if styles is None:
        return {}
    return {
        style.get("id", ""): {
            name: value for properties in style for name, value in properties.attrib.items()
        }
        for style in styles.iter("style")
    }


def _themes(styles: Element | None, properties: Mapping[str, Properties]) -> dict[str, Theme]:
    """Return the themes by their ids."""
    if styles is None:
        return {}
    return {
        style.get("id", ""): Theme(
            {
                default.get("style-family", ""): properties.get(default.get("style-id", ""), {})
                for default in style.iter("default-style")
            }
        )
        for style in styles.iterfind("master-styles/style")
    }


def _comments(comments: Element | None) -> dict[str, list[str]]:
    """Return the comments on each topic, by the id of the topic."""
    found: dict[str, list[str]] = {}
    for comment in comments.iter("comment") if comments is not None else ():
        author = comment.get("author", "").strip()
        said = comment.findtext("content", "").strip()
        if said:
            line = f"{author}: {said}" if author else said
            found.setdefault(comment.get("object-id", ""), []).append(line)
    return found
