"""Read WiseMapping: XML with FreeMind's root element and nested ``topic`` elements.

* The version distinguishes the two formats: WiseMapping's versions are names (``tango``, ``pela``).
* A text of several lines is in a separate element. Newer versions write formatted text and notes as
  HTML, but do not always mark it as such. The oldest files (without a version) have notes in an
  attribute, possibly percent-encoded (``a%20note``), as JavaScript's ``escape`` does. (Other files
  named ``.wxml`` are usually WeChat templates.)
* Topics without a parent are floating topics, except the central one. Positions are from automatic
  layout, so only those of floating topics are used, and the sides of main topics.
* The program never folds the central topic, even if the file marks it as folded.
* Names of shapes are misspelt (``rectagle``, ``elipse``).
"""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from mapshelf.model import Image, Marker, Outline, Relationship, Sheet, Style, Topic
from mapshelf.model.markers import emoji, marker
from mapshelf.readers.formats.wisemapping_icons import icon
from mapshelf.readers.parsing.colours import colour
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.places import place, side_of
from mapshelf.readers.parsing.rich_text import data_of_url, has_elements, rich_text
from mapshelf.readers.parsing.topic_tree import grow, reference
from mapshelf.readers.parsing.xml_files import parse_xml

_VERSION: Final = re.compile(r"""\sversion\s*=\s*["'](?:tango|pela|beta)["']""")
_CENTRAL: Final = re.compile(r"""<topic\s[^<>]{0,400}?\bcentral\s*=\s*["']true["']""")
_HEAD: Final = 4000
_STYLE: Final = ("fontStyle", "bgColor", "brColor", "connColor", "shape")
_SHAPES: Final = {
    "line": "underline",
    "rectagle": "rectangle",
    "rectangle": "rectangle",
    "rounded rectagle": "rounded",
    "rounded rectangle": "rounded",
    "elipse": "ellipse",
    "ellipse": "ellipse",
    "none": "none",
}
_IMAGE: Final = re.compile(r"\s*(\d{1,6})\s*,\s*(\d{1,6})\s*:", re.ASCII)
_LONGEST_NAME: Final = 100
_LONGEST_EMOJI: Final = 16
_UNICODE: Final = re.compile(r"%u([0-9A-Fa-f]{4})")


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of WiseMapping."""
    if content.root_name != "map":
        return False
    version = _VERSION.search(content.root_tag)
    return bool(version or _CENTRAL.search(content.text[:_HEAD]))


def read(content: Content) -> Outline:
    """Return the outline of a WiseMapping map, which has one sheet.

    Raises:
        BrokenFile: it is not well-formed or has no topic.
        TooLarge: it exceeds a limit.
    """
    document = parse_xml(content.text, content.limits)
    tops = sorted(document.findall("topic"), key=lambda topic: not _is_central(topic))
    mains = frozenset(map(id, tops[0])) if tops else frozenset()

    def topic_of(element: Element) -> Topic:
        topic = _topic(element, content)
        if id(element) in mains:
            topic.side = side_of((place(element.get("position")) or (0.0, 0.0))[0])
        return topic

    root, *floating = grow(tops, topic_of, lambda topic: topic.findall("topic"), content.limits)
    for topic, element in zip(floating, tops[1:], strict=True):
        topic.position = place(element.get("position"))
    sheet = Sheet(
        root,
        floating=tuple(floating),
        relationships=tuple(map(_relationship, document.findall("relationship"))),
        background=document.get("backgroundColor", ""),
    )
    return Outline((sheet,), software="WiseMapping")


def _is_central(topic: Element) -> bool:
    return topic.get("central", "false") != "false"  # some files have -1


def _relationship(element: Element) -> Relationship:
    return Relationship(
        reference(element.get("srcTopicId", "")),
        reference(element.get("destTopicId", "")),
        colour=element.get("strokeColor", ""),
    )


def _topic(element: Element, content: Content) -> Topic:
    own = element.attrib
    topic = Topic(text=own.get("text", ""), id=own.get("id", ""))
    if len(element):
        _add_parts(topic, element)
    if own.get("contentType") == "html" or ("<" in topic.text and has_elements(topic.text)):
        topic.links += _set_text(topic, topic.text, formatted=True)
    if own.get("shrink") == "true" and not _is_central(element):
        topic.folded = element.find("topic") is not None
    if any(name in own for name in _STYLE):
        topic.style = _style(own)
    if emblem := own.get("imageEmoji"):
        topic.markers += (_emoji(emblem),)
    if emblem := own.get("imageGallery"):
        topic.markers += (marker("", emblem[:_LONGEST_NAME]),)
    if picture := own.get("image"):
        topic.images = (_image(picture, content),)
    return topic


def _add_parts(topic: Topic, element: Element) -> None:
    """Add the content of the child elements: notes, icons, links and text."""
    note = Note()
    markers: list[Marker] = []
    links: list[str] = []
    in_text: list[str] = []
    for part in element:
        if part.tag == "note":
            _add_note(note, part)
        elif part.tag == "icon":
            markers.append(icon(part.get("id", "")[:_LONGEST_NAME]))
        elif part.tag == "eicon":
            markers.append(_emoji(part.get("id", "")))
        elif part.tag == "link":
            links.append(part.get("url", ""))
        elif part.tag in {"text", "content"}:
            in_text += _set_text(topic, part.text or "", formatted=_is_html(part))
    topic.note, topic.note_html = note.plain, note.html
    topic.markers = tuple(found for found in markers if found.original)
    topic.links = (*in_text, *links)


def _emoji(text: str) -> Marker:
    return emoji(text) if len(text) <= _LONGEST_EMOJI else marker("", text[:_LONGEST_NAME])


def _set_text(topic: Topic, text: str, *, formatted: bool) -> tuple[str, ...]:
    """Set the text of a topic, and return the links in it."""
    topic.text = text
    if not (formatted or has_elements(text)):
        return ()
    topic.text, topic.text_html, links = rich_text(text)
    return links


def _add_note(note: Note, part: Element) -> None:
    body = _body(part)
    if _is_html(part) or has_elements(body):
        note.add_html(body)
    else:
        note.add_text(body)


def _body(note: Element) -> str:
    for name in ("content", "text"):
        part = note.find(name)
        if part is not None:
            return part.text or ""
    return note.text or _unescaped(note.get("text", ""))


def _unescaped(text: str) -> str:
    """Decode a percent-encoded note. Notes with white space inside are not encoded."""
    if "%" not in text or len(text.split(maxsplit=1)) != 1:
        return text
    wide = _UNICODE.sub(lambda found: chr(int(found[1], 16)), text)
    if wide != text:  # two escapes in a row may be a surrogate pair
        joined = wide.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return unquote(joined, encoding="latin-1")
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return unquote(text, encoding="latin-1")


def _is_html(part: Element) -> bool:
    return (
        part.get("contentType") == "html" or part.find("content[@contentType='html']") is not None
    )


def _style(own: Mapping[str, str]) -> Style | None:
    _, size, words, weight, slant, *_ = (*own.get("fontStyle", "").split(";"), "", "", "", "", "")
    style = Style(
        text=colour(words),
        fill=colour(own.get("bgColor")),
        line=colour(own.get("connColor")),
        border=colour(own.get("brColor")),
        bold=weight.strip() == "bold",
        italic=slant.strip() == "italic",
        size=float(size) if size.isascii() and size.isdecimal() and len(size) < 4 else 0.0,
        shape=_SHAPES.get(own.get("shape", "").strip(), ""),
    )
    return style if style != Style() else None


def _image(picture: str, content: Content) -> Image:
    """Return the picture for an ``image`` attribute, ``WIDTH,HEIGHT:URL``."""
    size = _IMAGE.match(picture)
    width, height = (float(size[1]), float(size[2])) if size else (0.0, 0.0)
    url = picture[size.end() :] if size else picture
    if url.startswith("data:"):
        return content.images.add(data_of_url(url), width, height)
    return content.images.add_beside(url, width, height)
