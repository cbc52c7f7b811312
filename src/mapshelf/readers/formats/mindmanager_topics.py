"""Convert the ``Topic`` elements of a MindManager map, with everything attached to them.

The parent of an element in ``FloatingTopics`` determines what it is: below the central topic it is
a floating topic, below any other topic a callout. Below a boundary it is a summary topic if the
boundary is drawn as a brace, otherwise a callout.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from mapshelf.model import Attachment, Marker, Task, Topic, TopicKind
from mapshelf.readers.formats.mindmanager_markers import mindmanager_marker
from mapshelf.readers.formats.mindmanager_styles import SUBTOPIC_SHAPE, Looks, looks_of, rich_text
from mapshelf.readers.parsing.beside import Beside
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.numbers import number
from mapshelf.readers.parsing.places import side_of
from mapshelf.readers.parsing.task_dates import task_date
from mapshelf.readers.parsing.topic_tree import reference

Node = tuple[TopicKind, bool, Element]
"""The kind of a topic, whether its position is relative to the central topic, and its element."""

PIXELS: Final = 96 / 25.4
"""Pixels per millimetre (at 96 per inch): MindManager stores sizes in millimetres."""

_MEMBER: Final = "mmarch://"
_PRIORITY: Final = "urn:mindjet:Prio"
_BRACE: Final = "urn:mindjet:Summary"
_WITHIN: Final = re.compile(r"#xpointer\(.{0,200}@OId=['\"]([^'\"]{1,200})['\"].{0,20}\)$")


def is_brace(boundary: Element) -> bool:
    """Return whether a boundary is drawn as a brace next to its topics."""
    shape = boundary.find("BoundaryShape")
    return shape is not None and shape.get("BoundaryShape", "").startswith(_BRACE)


class TopicReader:
    """Converts the topics of one file.

    Attributes:
        boundaries: pairs of a topic and the element of a boundary around it.
        looks: the style attributes set at each topic itself, by the ``id()`` of the topic.
    """

    def __init__(self, content: Content, central: Element | None) -> None:
        self.boundaries: list[tuple[Topic, Element]] = []
        self.looks: dict[int, Looks] = {}
        self._content = content
        self._central = central
        self._beside = Beside()

    def children(self, node: Node) -> Iterator[Node]:
        """Yield the nodes below ``node``, in the order of the file."""
        element = node[2]
        is_central = element is self._central
        for group in element:
            if group.tag == "SubTopics":
                for topic in group.iterfind("Topic"):
                    yield TopicKind.ATTACHED, is_central, topic
            elif group.tag == "FloatingTopics":
                kind = TopicKind.FLOATING if is_central else TopicKind.CALLOUT
                for topic in group.iterfind("Topic"):
                    yield kind, is_central, topic
            elif group.tag == "OneBoundary":
                for boundary in group.iterfind("Boundary"):
                    kind = TopicKind.SUMMARY if is_brace(boundary) else TopicKind.CALLOUT
                    for topic in boundary.iterfind("FloatingTopics/Topic"):
                        yield kind, False, topic

    def topic(self, node: Node) -> Topic:
        """Return the topic for ``node``, without its children."""
        kind, placed, element = node
        topic = Topic("", element.get("OId", ""), kind=kind)
        note, self._beside = Note(), Beside()
        styled = False
        for part in element:
            if part.tag == "Text":
                topic.text = part.get("PlainText", "")
                styled = styled or _add_letters(topic, part)
            elif part.tag in _LOOKS:
                styled = True
            elif read := _PARTS.get(part.tag):
                read(self, topic, part, note)
        if styled:
            self.looks[id(topic)] = looks_of(element, _SHAPES[kind])
        if not placed:
            topic.position = None
        elif topic.position and kind is TopicKind.ATTACHED:
            topic.side = side_of(topic.position[0])
        topic.folded = topic.folded and element.find("SubTopics/Topic") is not None
        topic.note = note.plain
        topic.note_html = note.html
        self._beside.add_to(topic)
        return topic

    def _add_note(self, topic: Topic, group: Element, note: Note) -> None:
        body = group.find("NotesXhtmlData")
        if body is None:
            return
        if len(body):
            note.add_element(body)
        else:
            note.add_html(body.get("PreviewPlainText", ""))

    def _add_comments(self, topic: Topic, comments: Element, note: Note) -> None:
        for comment in comments.iterfind("Comment"):
            author, said = comment.get("AuthorName", "").strip(), comment.get("Text", "").strip()
            note.add_text(f"{author}: {said}" if author and said else said)

    def _add_fold(self, topic: Topic, view: Element, note: Note) -> None:
        if view.get("ViewIndex", "0") == "0" and len(view):
            collapsed = view.find("Collapsed")
            topic.folded = collapsed is not None and collapsed.get("Collapsed") == "true"

    def _add_offset(self, topic: Topic, offset: Element, note: Note) -> None:
        topic.position = (
            number(offset.get("CX", "0")) * PIXELS,
            number(offset.get("CY", "0")) * PIXELS,
        )

    def _add_icons(self, topic: Topic, group: Element, note: Note) -> None:
        topic.markers = tuple(_icon(icon) for icon in group.iterfind("Icons/Icon"))

    def _add_picture(self, topic: Topic, group: Element, note: Note) -> None:
        for image in group.iterfind("Image"):
            size = image.find("ImageSize")
            width, height = ("", "") if size is None else (size.get("Width"), size.get("Height"))
            self._beside.images.append(
                self._content.images.add(
                    self._bytes(image.find("ImageData")),
                    round(number(width) * PIXELS, 1),
                    round(number(height) * PIXELS, 1),
                )
            )

    def _bytes(self, data: Element | None) -> bytes | None:
        """Return the bytes of a picture from an archive member, or else from Base64 in the XML."""
        if data is None:
            return None
        member = data.findtext("Uri", "").strip()
        if self._content.archive and member.startswith(_MEMBER):
            name = member.removeprefix(_MEMBER)
            return self._content.archive.read_if_sound(name, self._content.limits.picture)
        written = data.findtext("Base64", "")
        try:
            return base64.b64decode(written) if written.strip() else None
        except (binascii.Error, ValueError):
            return None

    def _add_files(self, topic: Topic, group: Element, note: Note) -> None:
        archive = self._content.archive
        for data in group.iterfind("AttachmentData"):
            member = data.findtext("Uri", "").strip().removeprefix(_MEMBER)
            size = archive.size(member) if archive else 0
            name = data.get("FileName", "") or member.rpartition("/")[2]
            self._beside.attachments.append(Attachment(name, size))

    def _add_task(self, topic: Topic, task: Element, note: Note) -> None:
        percent = task.get("TaskPercentage", "")
        priority = task.get("TaskPriority", "").removeprefix(_PRIORITY)
        topic.task = Task(
            progress=int(percent) if percent.isdecimal() and len(percent) < 4 else None,
            priority=int(priority) if priority.isdecimal() and len(priority) == 1 else None,
            start=task_date(task.get("StartDate", "")),
            due=task_date(task.get("DeadlineDate", "") or task.get("DueDate", "")),
            resources=tuple(re.split("[,;]", task.get("Resources", ""))),
        )

    def _add_labels(self, topic: Topic, labels: Element, note: Note) -> None:
        names = (label.get("TextLabelName", "") for label in labels.iterfind("TextLabel"))
        topic.tags = tuple(names)

    def _add_link(self, topic: Topic, link: Element, note: Note) -> None:
        self._beside.links.append(link_of(link.get("Url", "")))

    def _add_links(self, topic: Topic, group: Element, note: Note) -> None:
        for link in group.iterfind("IndexedHyperlink"):
            self._add_link(topic, link, note)

    def _add_boundary(self, topic: Topic, group: Element, note: Note) -> None:
        self.boundaries.extend((topic, boundary) for boundary in group.iterfind("Boundary"))


_PARTS: Final[dict[str, Callable[[TopicReader, Topic, Element, Note], None]]] = {
    "NotesGroup": TopicReader._add_note,
    "Comments": TopicReader._add_comments,
    "TopicViewGroup": TopicReader._add_fold,
    "Offset": TopicReader._add_offset,
    "IconsGroup": TopicReader._add_icons,
    "OneImage": TopicReader._add_picture,
    "AttachmentGroup": TopicReader._add_files,
    "Task": TopicReader._add_task,
    "TextLabels": TopicReader._add_labels,
    "Hyperlink": TopicReader._add_link,
    "HyperlinkGroup": TopicReader._add_links,
    "OneBoundary": TopicReader._add_boundary,
}
"""Handlers for the child elements of a topic, except text and style. Others are only layout."""

_SHAPES: Final = {
    TopicKind.ATTACHED: SUBTOPIC_SHAPE,
    TopicKind.FLOATING: "LabelFloatingTopicShape",
    TopicKind.CALLOUT: "CalloutFloatingTopicShape",
    TopicKind.SUMMARY: "CalloutFloatingTopicShape",
}
"""The element with the shape of a topic, by kind. A topic may contain all three; one is used."""

_LOOKS: Final = frozenset({"Color", *_SHAPES.values()})


def link_of(url: str) -> str:
    """Return a link target: ``#OId`` for a topic of this map, ``other.mmap#OId`` of another one."""
    if "#xpointer(" not in unquote(url):
        return url
    place = unquote(url)
    found = _WITHIN.search(place)
    return place[: found.start()] + "#" + reference(found[1]) if found else url


def _add_letters(topic: Topic, text: Element) -> bool:
    """Add the formatting of parts of the text; return whether the text as a whole has a font."""
    if not len(text):
        return False
    ranges = text.findall("FontRange")
    if ranges:
        topic.text_html = rich_text(topic.text, ranges)
    font = text.find("Font")
    return font is not None and bool(font.attrib)


def _icon(icon: Element) -> Marker:
    name = icon.get("IconType", "")
    return mindmanager_marker(name) if name else Marker("other-custom", "custom")
