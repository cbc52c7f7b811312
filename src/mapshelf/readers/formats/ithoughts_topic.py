"""Read a topic of iThoughts from the attributes of its element.

* Notes are Markdown and are preserved as typed.
* Topics that contain only an image have no text. Images and attached files are at
  ``assets/ID/NAME``. Topics without an image have an ``image-width`` as well.
* Progress over 100 means that the program computes it from the children; their mean is close.
"""

import re
from collections.abc import Mapping
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.errors import UnreadableFile
from mapshelf.model import Attachment, Style, Task, Topic, TopicKind
from mapshelf.readers.formats.ithoughts_icons import icon
from mapshelf.readers.parsing.colours import colour
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.inline_markdown import inline_markdown

_PLAIN: Final = frozenset(
    {
        *("uuid", "text", "note", "link", "position", "created", "modified"),
        *("text-width", "text-alignment", "image-width"),
    }
)
"""Attributes of most topics. Topics without further ones are read faster."""

_STYLE: Final = ("color", "text-color", "text-font", "text-size")
_TASK: Final = "task-"
_ICONS: Final = tuple(f"icon{number}" for number in range(1, 9))
_ATTRIBUTES: Final = (
    ("Effort", ("task-effort", "effort")),
    ("Cost", ("task-cost", "cost")),
)
_ALL: Final = 100
"""Per cent; a higher value means that it is computed from the children."""

_HEADING: Final = re.compile(r"^#{1,6}[ \t]+(?=\S)", re.MULTILINE)
_LONGEST_NAME: Final = 100
_MIDNIGHT: Final = re.compile(r"T00:00(:00.*)?\Z")
_PICTURES: Final = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp")


def topic_from(element: Element, content: Content) -> Topic:
    """Return the topic for ``element``, without its children."""
    own = element.attrib
    topic = Topic(
        id=own.get("uuid", ""),
        text=own.get("text", ""),
        note=own.get("note", ""),
        links=(own.get("link", ""),),
    )
    _format(topic)
    if own.keys() <= _PLAIN:
        return topic
    topic.markers = tuple(icon(own[name][:_LONGEST_NAME]) for name in _ICONS if own.get(name))
    topic.folded = own.get("folded") == "1" and element.find("topic") is not None
    if own.get("callout") == "1":
        topic.kind = TopicKind.CALLOUT
    if any(name in own for name in _STYLE):
        topic.style = _style(own)
    topic.task = _task(element)
    topic.attributes = tuple(
        (name, own[key]) for name, keys in _ATTRIBUTES for key in keys if own.get(key)
    )
    if "att-name" in own:
        _attach(topic, own, content)
    return topic


def _format(topic: Topic) -> None:
    """Convert the Markdown in the text to formatting, as the program does."""
    found = inline_markdown(_HEADING.sub("", topic.text))
    topic.text, topic.text_html = found.text, found.html
    topic.links = (*topic.links, *found.links)


def _style(own: Mapping[str, str]) -> Style | None:
    _, _, weight, slant, *_ = (part.strip() for part in f"{own.get('text-font', '')}|||".split("|"))
    style = Style(
        text=colour(own.get("text-color")),
        fill=colour(own.get("color")),
        bold=weight == "bold",
        italic=slant == "italic",
        size=float(_number(own.get("text-size")) or 0),
    )
    return style if style != Style() else None


def _task(element: Element) -> Task | None:
    own = element.attrib
    if not any(name.startswith(_TASK) or name == "resources" for name in own):
        return None
    progress = _number(own.get("task-progress"))
    if progress is not None and progress > _ALL:
        progress = _summed_progress(element)
    return Task(
        progress=progress,
        priority=_number(own.get("task-priority")),
        start=_date(own.get("task-start", "")),
        due=_date(own.get("task-due", "")),
        resources=tuple((own.get("task-resources") or own.get("resources", "")).split(",")),
    )


def _summed_progress(element: Element) -> int | None:
    """Return the mean progress of those children of ``element`` that have one."""
    found = (_number(child.get("task-progress")) for child in element.iterfind("topic"))
    known = [progress for progress in found if progress is not None and 0 <= progress <= _ALL]
    return round(sum(known) / len(known)) if known else None


def _number(text: str | None) -> int | None:
    try:
        return int(float((text or "")[:20]))
    except (ValueError, OverflowError):
        return None


def _date(text: str) -> str:
    return _MIDNIGHT.sub("", text.strip())[:16]


def _attach(topic: Topic, own: Mapping[str, str], content: Content) -> None:
    """Add the image or the attached file of a topic."""
    name = own["att-name"]
    data: bytes | None = None
    if content.archive is not None:
        try:
            data = content.archive.read(f"assets/{own.get('att-id', '')}/{name}")
        except UnreadableFile:
            data = None
    image = content.images.add(data, float(_number(own.get("image-width")) or 0), alt=name)
    if image.digest or name.lower().endswith(_PICTURES):
        topic.images = (image,)
    else:
        topic.attachments = (Attachment(name, len(data or b"")),)
