"""iThoughts: an archive with ``mapdata.xml``, one ``topic`` element inside another.

* Notes are Markdown and kept as they were typed. ``author`` is the name of a device.
* Topics with only a picture have no text, but are topics too. Pictures and attached files are at
  ``assets/ID/NAME``. Topics without a picture have an ``image-width`` as well.
* Floating topics are further top topics, or lie inside the tree and say so; a topic that sums up
  siblings names the first and the last.
* The place of a topic counts from the topic above it. All have one, mostly by the program's own
  layout, so only that of floating topics is kept, and the side of main ones.
* Progress over 100 means that the program works it out from the topics below; the mean comes near.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.errors import UnreadableFile
from mapshelf.model import (
    Attachment,
    Boundary,
    Outline,
    Relationship,
    Sheet,
    Style,
    Summary,
    Task,
    Topic,
    TopicKind,
)
from mapshelf.readers.formats.ithoughts_icons import icon
from mapshelf.readers.parsing.colours import colour
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.places import Place, moved, place, side_of
from mapshelf.readers.parsing.sheets import MOST_RELATIONSHIPS
from mapshelf.readers.parsing.topic_tree import grow, reference
from mapshelf.readers.parsing.xml_files import parse_xml

_MEMBER: Final = "mapdata.xml"
_ROOT: Final = "iThoughts"
_PLAIN: Final = frozenset(
    {
        *("uuid", "text", "note", "link", "position", "created", "modified"),
        *("text-width", "text-alignment", "image-width"),
    }
)
"""What most topics have. Those that have nothing else are read without looking for more."""

_STYLE: Final = ("color", "text-color", "text-font", "text-size")
_TASK: Final = "task-"
_ICONS: Final = tuple(f"icon{number}" for number in range(1, 9))
_ATTRIBUTES: Final = (
    ("Effort", ("task-effort", "effort")),
    ("Cost", ("task-cost", "cost")),
)
_ALL: Final = 100
"""Per cent; more means that the topics below tell."""

_LONGEST_NAME: Final = 100
_MIDNIGHT: Final = re.compile(r"T00:00(:00.*)?\Z")
_MEMBERS: Final = re.compile(r"member\d{1,6}")
_PICTURES: Final = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp")


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of iThoughts, in an archive or alone."""
    if content.archive is None:
        return content.root_name == _ROOT
    return _MEMBER in content.archive.names


def read(content: Content) -> Outline:
    """Return the outline of an iThoughts map, which has one sheet.

    Raises:
        BrokenFile: it is damaged or has no topic.
        TooLarge: it exceeds a limit.
    """
    archive = content.archive
    text = content.text if archive is None else decode(archive.read(_MEMBER))
    document = parse_xml(text, content.limits)
    tops = document.findall("topics/topic")
    beside = _Beside()
    if 'floating="1"' in text or "summary1=" in text:
        beside = _set_apart(tops)
    mains = frozenset(map(id, tops[0])) if tops else frozenset()
    trees = (*tops, *beside.floating, *beside.summaries)

    def topic_of(element: Element) -> Topic:
        topic = _topic(element, content)
        if id(element) in mains:
            topic.side = side_of((place(element.get("position")) or (0.0, 0.0))[0])
        return topic

    grown = grow(trees, topic_of, lambda topic: topic.findall("topic"), content.limits)
    count = len(trees) - len(beside.summaries)
    for topic, element in zip(grown[1:count], trees[1:count], strict=True):
        topic.position = beside.places.get(id(element)) or place(element.get("position"))
    sheet = Sheet(
        grown[0],
        floating=grown[1:count],
        relationships=tuple(_relationships(document)),
        boundaries=tuple(_boundaries(document, text)),
        summaries=tuple(map(Summary, beside.siblings, grown[count:])),
    )
    return Outline(
        (sheet,),
        software="iThoughts",
        software_version=document.get("app-version", ""),
        created=milliseconds(tops[0].get("created")),
        modified=milliseconds(document.get("modified")),
    )


# --- What stands beside the tree ---------------------------------------------------------------


@dataclass(slots=True)
class _Beside:
    """Topics that lie inside the tree of the file, but not in that of the map.

    Attributes:
        floating: those that stand alone.
        places: where, by the id of the object.
        summaries: those that sum up others.
        siblings: the ids of these others, for each of ``summaries``.
    """

    floating: list[Element] = field(default_factory=list)
    places: dict[int, Place] = field(default_factory=dict)
    summaries: list[Element] = field(default_factory=list)
    siblings: list[tuple[str, ...]] = field(default_factory=list)
    _left: int = MOST_RELATIONSHIPS  # ids: thousands of summaries may span thousands of topics each

    def summarise(self, topics: Iterable[Element], summaries: Iterable[Element]) -> None:
        """Add ``summaries``, which sum up some of ``topics`` beside them, from first to last."""
        ids = [reference(topic.get("uuid", "")) for topic in topics]
        ranks = {topic: rank for rank, topic in enumerate(ids)}
        for summary in summaries:
            ends = (reference(summary.get(name, "")) for name in ("summary1", "summary2"))
            start, *end = sorted(ranks[topic] for topic in ends if topic in ranks) or (0, -1)
            last = end[0] if end else start
            span = tuple(ids[start : last + 1]) if self._left > 0 else ()
            self._left -= len(span)
            self.summaries.append(summary)
            self.siblings.append(span)


def _set_apart(tops: Iterable[Element]) -> _Beside:
    """Take floating topics and summaries out of the trees ``tops``."""
    beside = _Beside()
    pending = [(top, place(top.get("position")) or (0.0, 0.0)) for top in tops]
    while pending:
        above, origin = pending.pop()
        kept: list[Element] = []
        summaries: list[Element] = []
        for child in above.findall("topic"):
            at = moved(place(child.get("position")) or (0.0, 0.0), origin)
            pending.append((child, at))
            if child.get("floating") == "1":
                beside.floating.append(child)
                beside.places[id(child)] = at
            else:
                (summaries if "summary1" in child.attrib else kept).append(child)
        above[:] = kept
        beside.summarise(kept, summaries)
    return beside


def _relationships(document: Element) -> Iterable[Relationship]:
    for found in document.iterfind("relationships/relationship"):
        yield Relationship(
            reference(found.get("end1-uuid", "")),
            reference(found.get("end2-uuid", "")),
            found.get("center-text", ""),
            found.get("color", ""),
        )


def _boundaries(document: Element, text: str) -> Iterable[Boundary]:
    around = document.iter("topic") if 'boundary="1"' in text else ()
    for topic in (topic for topic in around if topic.get("boundary") == "1"):
        yield Boundary((reference(topic.get("uuid", "")),))
    for group in document.iter("group"):
        members = (name for name in group.attrib if _MEMBERS.fullmatch(name))
        topics = tuple(reference(group.get(name, "")) for name in members)
        yield Boundary(topics, group.get("text", ""), group.get("color", ""))


# --- A topic -----------------------------------------------------------------------------------


def _topic(element: Element, content: Content) -> Topic:
    own = element.attrib
    topic = Topic(
        id=own.get("uuid", ""),
        text=own.get("text", ""),
        note=own.get("note", ""),
        links=(own.get("link", ""),),
    )
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
    """Return the mean progress of the topics right below ``element`` that have one."""
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
    """Add the picture or the file that is attached to a topic."""
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
