"""Read iThoughts: an archive with ``mapdata.xml``, nested ``topic`` elements.

* ``author`` is the name of a device.
* Floating topics are further top-level topics, or marked topics inside the tree; a summary topic
  refers to the first and the last of the siblings it summarises.
* A topic without a colour inherits that of its parent; if there is none, it has the default colour
  of the program. Callouts have their own default colour. The defaults are not in the files, but
  visible in the previews.
* Positions are relative to the parent. All topics have one, mostly from automatic layout, so only
  those of floating topics are used, and the sides of main topics.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.model import (
    Boundary,
    Outline,
    Relationship,
    Sheet,
    Style,
    Summary,
    Topic,
    TopicKind,
)
from mapshelf.readers.formats.ithoughts_topic import topic_from
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.levels import levels
from mapshelf.readers.parsing.places import Place, moved, place, side_of
from mapshelf.readers.parsing.sheets import MOST_RELATIONSHIPS
from mapshelf.readers.parsing.topic_tree import grow, reference
from mapshelf.readers.parsing.xml_files import parse_xml

_MEMBER: Final = "mapdata.xml"
_ROOT: Final = "iThoughts"
_FILL: Final = "#b2b2fe"
_CALLOUT_FILL: Final = "#ffd8b2"
"""The default colours of topics and callouts."""

_MEMBERS: Final = re.compile(r"member\d{1,6}")


def sniff(content: Content) -> bool:
    """Return whether ``content`` is an iThoughts map, as an archive or bare XML."""
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
        made = topic_from(element, content)
        if id(element) in mains:
            made.side = side_of((place(element.get("position")) or (0.0, 0.0))[0])
        return made

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
        (_coloured(sheet),),
        software="iThoughts",
        software_version=document.get("app-version", ""),
        created=milliseconds(tops[0].get("created")),
        modified=milliseconds(document.get("modified")),
    )


def _coloured(sheet: Sheet) -> Sheet:
    """Return the sheet with the colours and shapes that the program would show."""
    fills: dict[str, str] = {}  # of topics with an id
    above: dict[int, str] = {}  # by the id() of the children
    shown: dict[Style, Style] = {}  # one object per distinct style
    for level in levels(sheet):
        topic = level.topic
        style = topic.style or Style()
        is_callout = topic.kind is TopicKind.CALLOUT
        usual = _CALLOUT_FILL if is_callout else above.get(id(topic), _FILL)
        fill = fills[topic.id] = style.fill or usual
        shape = "rectangle" if is_callout else "rounded"
        shape = "ellipse" if topic is sheet.root else shape
        style = replace(style, fill=fill, line=fill, shape=shape)
        topic.style = shown.setdefault(style, style)
        above.update((id(child), fill) for child in topic.children)
    boundaries = (
        one._replace(colour=one.colour or fills.get(one.topics[0] if one.topics else "", ""))
        for one in sheet.boundaries
    )
    return replace(sheet, boundaries=tuple(boundaries))


# --- Outside the tree --------------------------------------------------------------------------


@dataclass(slots=True)
class _Beside:
    """Topics that are inside the tree of the file, but not in that of the map.

    Attributes:
        floating: floating topics.
        places: their positions, by the id of the object.
        summaries: summary topics.
        siblings: for each of ``summaries``, the ids of the topics it summarises.
    """

    floating: list[Element] = field(default_factory=list)
    places: dict[int, Place] = field(default_factory=dict)
    summaries: list[Element] = field(default_factory=list)
    siblings: list[tuple[str, ...]] = field(default_factory=list)
    _left: int = MOST_RELATIONSHIPS  # ids: thousands of summaries may span thousands of topics each

    def summarise(self, topics: Iterable[Element], summaries: Iterable[Element]) -> None:
        """Add ``summaries``, each of which summarises a range of its siblings in ``topics``."""
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
    """Remove floating topics and summaries from the trees ``tops``."""
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
