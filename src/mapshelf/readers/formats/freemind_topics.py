"""Convert nodes of FreeMind and Freeplane to topics, with everything attached to a node.

Arrows and clouds are stored at nodes too, but belong to the sheet. They are collected while the
topics are created, since every node is visited only once.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from html import unescape
from typing import Final
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from mapshelf.formats.links import file_path
from mapshelf.model import Boundary, Image, Marker, Relationship, Task, Topic
from mapshelf.readers.formats.freemind_arrows import heads_of, point_of
from mapshelf.readers.formats.freemind_attributes import ShownAttributes, attribute_of
from mapshelf.readers.formats.freemind_formulas import formula_of
from mapshelf.readers.formats.freemind_markers import markers_of, progress_of
from mapshelf.readers.formats.freemind_styles import Parts, Styles, parts_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.text_cleaning import (
    element_to_html,
    element_to_text,
    html_to_text,
    is_html,
)
from mapshelf.readers.parsing.topic_tree import MOST_BESIDE, reference

_OLD_NOTE: Final = "accessories/plugins/NodeNote.properties"
_REMINDER: Final = "plugins/TimeManagementReminder.xml"
_FORMULA: Final = "plugins/latex/LatexNodeHook.properties"
_PICTURE: Final = "ExternalObject"
_LATEX_FORMATS: Final = frozenset({"latexPatternFormat", "unparsedLatexPatternFormat"})
_TRANSLATIONS: Final = {"new_mindmap": "New mind map"}
_ENCRYPTED: Final = "Encrypted: what is below this topic can be read with its password only."
_LOCK: Final = Marker("lock", "encrypted")
_CLOCK: Final = Marker("clock", "clock")
"""Icons that Freeplane shows by itself, on encrypted topics and those with a reminder."""

_SIDES: Final = {
    "left": "left",
    "right": "right",
    "top_or_left": "left",
    "bottom_or_right": "right",
}

_FORMATS: Final = frozenset(
    {
        *("a", "b", "blockquote", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "i"),
        *("li", "ol", "pre", "s", "strike", "strong", "sub", "sup", "table", "tt", "u", "ul"),
    }
)
"""Elements that make a text formatted."""

_FORMAT_TAG: Final = re.compile(rf"<(?:{'|'.join(sorted(_FORMATS))})[\s>]", re.IGNORECASE)
_IMAGE_TAG: Final = re.compile(r"<img\b([^<>]*)>", re.IGNORECASE)
_LINK_TAG: Final = re.compile(r"<a\b([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(
    r"""\b(src|href|width|height|alt)\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE
)
_BODY: Final = re.compile(r"\A.{0,100000}?<body[^<>]*>|</body\s*>.*\Z", re.DOTALL | re.IGNORECASE)
_BLANKS: Final = re.compile(r"[ \t\r\n]+")
_BLANKS_AT_BLOCKS: Final = re.compile(
    r" ?(</?(?:blockquote|br|dd|dl|dt|h[1-6]|hr|li|ol|p|table|tbody|td|th|thead|tr|ul)\b[^<>]*>) ?"
)
_LENGTH: Final = re.compile(r"\d{1,5}(?:\.\d{1,9})?", re.ASCII)

_LABELS: Final = ("SOURCE_LABEL", "MIDDLE_LABEL", "TARGET_LABEL")
"""Labels of an arrow, from its start to its end."""


class Topics:
    """Creates the topics of one map.

    Attributes:
        relationships: the arrows of the topics created so far.
        boundaries: the clouds around them.
    """

    def __init__(self, document: Element, styles: Styles, content: Content) -> None:
        self.relationships: list[Relationship] = []
        self.boundaries: list[Boundary] = []
        self._styles = styles
        self._images = content.images
        self._shown_attributes = ShownAttributes(document)
        self._originals = {
            node.attrib["ID"]: node for node in document.iter("node") if node.get("ID")
        }
        self._topics: dict[Element, Topic] = {}
        self._of_styles: dict[Element, tuple[tuple[Marker, ...], Element | None]] = {}
        self._unnamed = 0

    def create_topic(self, node: Element) -> Topic:
        """Create and record the topic of ``node``, without its children."""
        source = node
        if "TEXT" not in node.attrib:
            source = self._originals.get(node.get("CONTENT_ID") or node.get("TREE_ID") or "", node)
        own = source.attrib
        parts = parts_of(source)
        topic = Topic(
            text=own.get("TEXT", ""),
            id=node.get("ID", ""),
            links=_links(own["LINK"]) if "LINK" in own else (),
            style=self._styles.look(source, parts),
            folded=node.get("FOLDED") == "true",
            side=side_of(node) if "POSITION" in node.attrib else "",
        )
        self._topics[node] = topic
        self._set_text(topic, source, parts)
        if parts:
            self._add_attachments(topic, parts)
            if source is node and "arrowlink" in parts:
                self._add_arrows(topic, parts["arrowlink"])
        if own.get("TEXT_SHORTENED") == "true":  # Freeplane then shows nothing below the text
            topic.details, topic.shown_attributes = "", ()
        if (style := self._styles.named(source)) is not None:
            self._add_style(topic, style, parts)
        if "TAGS" in own:
            topic.tags = tuple(own["TAGS"].splitlines())
        if "ENCRYPTED_CONTENT" in own:
            self._add_note(topic, parts, _ENCRYPTED)
            topic.markers += (_LOCK,)
        return topic

    def id_of_node(self, node: Element) -> str:
        """Return the id of the topic created for ``node``; assign one if it has none."""
        return self._ensure_id(self._topics[node])

    def topic_of_node(self, node: Element) -> Topic:
        """Return the topic created for ``node``."""
        return self._topics[node]

    def find(self, node: Element) -> Topic | None:
        """Return the topic created for ``node``, ``None`` if there is none."""
        return self._topics.get(node)

    def _ensure_id(self, topic: Topic) -> str:
        """Return the id of ``topic``; assign one if it has none."""
        if not topic.id:
            self._unnamed += 1
            topic.id = f"unnamed-{self._unnamed}"
        return reference(topic.id)

    def _set_text(self, topic: Topic, node: Element, parts: Parts) -> None:
        """Set the text; rich text takes precedence over ``TEXT``, as in the programs."""
        if (rich := _rich_text_of(parts, "NODE")) is not None:
            self._set_rich_text(topic, rich)
        elif "TEXT" in node.attrib:
            self._set_text_attribute(topic, latex=node.get("FORMAT") in _LATEX_FORMATS)
        else:
            key = node.get("LOCALIZED_TEXT", "")
            topic.text = _TRANSLATIONS.get(key, key.replace("_", " "))

    def _set_rich_text(self, topic: Topic, rich: Element) -> None:
        """Set the text, its formatting and its links from a ``richcontent`` element."""
        if _is_plain_text(rich):
            topic.text = "".join(rich.itertext()).strip()
            return
        topic.text = element_to_text(rich)
        if any(part.tag in _FORMATS for part in rich.iter()):
            topic.text_html = _compact(element_to_html(_body(rich)))
            topic.links += _links(*(anchor.get("href", "") for anchor in rich.iter("a")))

    def _set_text_attribute(self, topic: Topic, *, latex: bool) -> None:
        """Set the text from ``TEXT``, which may also contain HTML or a formula."""
        text = topic.text
        if is_html(text):
            topic.text = html_to_text(text)
            if _FORMAT_TAG.search(text):
                topic.text_html = _compact(_BODY.sub("", text))
            topic.links += _links(*(tag.get("href", "") for tag in _tags(_LINK_TAG, text)))
            topic.images = tuple(map(self._image, _tags(_IMAGE_TAG, text)))
        elif latex or "$" in text or text.startswith(("\\latex", "\\unparsedlatex")):
            topic.formula, topic.text = formula_of(text, latex=latex)

    def _add_attachments(self, topic: Topic, parts: Parts) -> None:
        """Add what is attached to a node: icons, attributes, images, notes, hooks, the cloud."""
        if "icon" in parts:
            topic.markers = markers_of(parts["icon"])
            if (progress := progress_of(topic.markers)) is not None:
                topic.task = Task(progress=progress)
        if "attribute" in parts:
            topic.attributes = tuple(map(attribute_of, parts["attribute"]))
            topic.shown_attributes = self._shown_attributes.of(topic)
        if "richcontent" in parts:
            images = (image for rich in parts["richcontent"] for image in rich.iter("img"))
            topic.images += tuple(self._image(image.attrib) for image in images)
        if "hook" in parts or "richcontent" in parts:
            self._add_note(topic, parts)
        if "hook" in parts:
            self._add_hooks(topic, parts["hook"])
        if "cloud" in parts:
            self._add_cloud(topic, parts["cloud"][0])

    def _add_style(self, topic: Topic, style: Element, parts: Parts) -> None:
        """Add the icons and cloud of the topic's named style."""
        if style not in self._of_styles:  # thousands of topics may have the same one
            icons = markers_of(style.findall("icon"))[:MOST_BESIDE]
            self._of_styles[style] = icons, style.find("cloud")
        icons, cloud = self._of_styles[style]
        topic.markers += icons
        if cloud is not None and "cloud" not in parts:
            self._add_cloud(topic, cloud)

    def _add_hooks(self, topic: Topic, hooks: list[Element]) -> None:
        images: list[Image] = []
        markers: list[Marker] = []
        for hook in hooks:
            name = hook.get("NAME")
            if name == _PICTURE:
                images.append(self._scaled(hook.get("URI", ""), hook.get("SIZE", "")))
            elif name == _FORMULA:
                topic.formula = hook.get("EQUATION", "")
            elif name == _REMINDER:
                progress = topic.task.progress if topic.task else None
                topic.task = Task(progress=progress, due=_due(hook))
                markers.append(_CLOCK)
        # Not one by one: that would copy those before each time.
        topic.images += tuple(images)
        topic.markers += tuple(markers)

    def _add_note(self, topic: Topic, parts: Parts, remark: str = "") -> None:
        note = Note()
        if (rich := _rich_text_of(parts, "DETAILS")) is not None:
            _add_to_note(note, rich)
            topic.details = "" if rich.get("HIDDEN") == "true" else note.plain
        if (rich := _rich_text_of(parts, "NOTE")) is not None:
            _add_to_note(note, rich)
        for hook in parts.get("hook", ()):
            if hook.get("NAME") == _OLD_NOTE:
                note.add_text(hook.findtext("text", ""))
        note.add_text(remark)
        topic.note, topic.note_html = note.plain, note.html

    def _add_cloud(self, topic: Topic, cloud: Element) -> None:
        self.boundaries.append(Boundary((self._ensure_id(topic),), colour=cloud.get("COLOR", "")))

    def _add_arrows(self, topic: Topic, arrows: Iterable[Element]) -> None:
        for arrow in arrows:
            words = (arrow.get(name, "") for name in _LABELS)
            self.relationships.append(
                Relationship(
                    self._ensure_id(topic),
                    reference(arrow.get("DESTINATION", "")),
                    " / ".join(filter(None, words)),
                    arrow.get("COLOR", ""),
                    point_of(arrow, topic.id),
                    heads_of(arrow),
                )
            )

    def _image(self, image: dict[str, str]) -> Image:
        source = image.get("src", "")
        width, height = _length(image.get("width", "")), _length(image.get("height", ""))
        alt = image.get("alt", "")
        if source[:5].lower() == "data:":
            return self._images.add(_embedded(source), width, height, alt)
        if path := file_path(source):
            return self._images.add_beside(path, width, height, alt)
        return self._images.add(None, width, height, alt or source.rpartition("/")[2])

    def _scaled(self, source: str, factor: str) -> Image:
        """Return the image of a hook, which Freeplane scales and shows below the text."""
        image = self._image({"src": source})
        width, height = self._images.size(image)
        times = _length(factor) or 1.0
        return image._replace(width=width * times, height=height * times, below=True)


def side_of(node: Element) -> str:
    """Return the side of the central topic that ``node`` is on, empty if not set."""
    return _SIDES.get(node.get("POSITION", ""), "")


def _rich_text_of(parts: Parts, kind: str) -> Element | None:
    """Return the rich text of this kind: ``NODE`` (the topic's text), ``DETAILS`` or ``NOTE``."""
    found = (part for part in parts.get("richcontent", ()) if _kind(part) == kind)
    return next(found, None)


def _kind(rich: Element) -> str:
    return rich.get("TYPE", "NODE").upper()


def _add_to_note(note: Note, rich: Element) -> None:
    """Append a ``richcontent`` element to a note."""
    if _is_plain_text(rich):
        note.add_text("".join(rich.itertext()))
    else:
        note.add_element(_body(rich))


def _is_plain_text(rich: Element) -> bool:
    # Line breaks matter in plain text and Markdown, but not in HTML.
    return rich.get("CONTENT-TYPE", "").startswith("plain")


def _body(rich: Element) -> Element:
    body = rich.find("html/body")
    return rich if body is None else body


def _compact(html: str) -> str:
    """Return HTML without the white space that the programs indent it with."""
    if "<pre" not in html:
        html = _BLANKS_AT_BLOCKS.sub(r"\1", _BLANKS.sub(" ", html)).strip()
    if html.startswith("<p>") and html.endswith("</p>") and html.count("<p") == 1:
        html = html[len("<p>") : -len("</p>")]
    return html


def _links(*links: str) -> tuple[str, ...]:
    """Return the ``links`` that have a target; others are commands of the program."""
    return tuple(link for link in links if link and not link.startswith("menuitem:"))


def _due(reminder: Element) -> str:
    parameters = reminder.find("Parameters")
    due = milliseconds(parameters.get("REMINDUSERAT")) if parameters is not None else None
    if due is None:
        return ""
    return datetime.fromtimestamp(due // 1000, UTC).strftime("%Y-%m-%dT%H:%M")


def _tags(pattern: re.Pattern[str], html: str) -> Iterator[dict[str, str]]:
    """Yield the attributes of some tags in HTML source."""
    for tag in pattern.findall(html):
        found = _ATTRIBUTE.findall(tag)
        yield {name.lower(): unescape(double or single) for name, double, single in found}


def _length(text: str) -> float:
    found = _LENGTH.match(text.strip())
    return float(found[0]) if found and not text.rstrip().endswith("%") else 0.0


def _embedded(source: str) -> bytes | None:
    kind, _, data = source.partition(",")
    if not kind.lower().endswith(";base64"):
        return unquote(data).encode()
    try:
        return base64.b64decode(unquote(data))
    except (binascii.Error, ValueError):
        return None
