r"""Read SimpleMind: an archive with ``document/mindmap.xml``, a flat list of topics.

* Each topic refers to its parent by id; the central topic and floating topics have -1. A topic
  whose parent is missing becomes a floating topic, so that it is not lost.
* In the text of a topic, ``\N`` is a line break.
* Relations, their labels, pictures, icons and check boxes are not read.
* The XML begins with a DOCTYPE that declares nothing.
"""

from collections import defaultdict
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.errors import BrokenFile
from mapshelf.model import Outline, Sheet, Topic
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.numbers import number
from mapshelf.readers.parsing.topic_tree import grow
from mapshelf.readers.parsing.xml_files import parse_xml

_MEMBER: Final = "document/mindmap.xml"
_ROOT: Final = "simplemind-mindmaps"
_LINKS: Final = ("urllink", "cloudmapref", "doclink")


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of SimpleMind, in an archive or alone."""
    if content.archive is None:
        return content.root_name == _ROOT
    return _MEMBER in content.archive.names


def read(content: Content) -> Outline:
    """Return the outline of a SimpleMind map.

    Raises:
        BrokenFile: it is damaged, has no topic, or its topics form a cycle.
        TooLarge: it exceeds a limit.
    """
    archive = content.archive
    text = content.text if archive is None else decode(archive.read(_MEMBER))
    document = parse_xml(text, content.limits, doctype=_ROOT)
    topics = document.findall("mindmap/topics/topic")
    roots, children = _tree(topics, document.find("mindmap/meta/main-centraltheme"))
    grown = grow(roots, _topic, lambda topic: children[topic], content.limits)
    _place(roots, grown)
    if sum(1 for root in grown for _ in root.walk()) < len(topics):
        raise BrokenFile("its topics are joined in a circle")
    return Outline(
        sheets=(Sheet(grown[0], floating=grown[1:]),),
        software="SimpleMind",
        software_version=document.get("gen-version", ""),
    )


def _tree(
    topics: list[Element], central: Element | None
) -> tuple[list[Element], dict[Element, list[Element]]]:
    """Return the topics without a parent, the central one first, and the children of each."""
    by_id: dict[str, Element] = {}
    for topic in topics:
        by_id.setdefault(topic.get("id", ""), topic)
    roots: list[Element] = []
    children: dict[Element, list[Element]] = defaultdict(list)
    for topic in topics:
        parent = by_id.get(topic.get("parent", "-1"))
        (roots if parent is None else children[parent]).append(topic)
    first = "" if central is None else central.get("id", "")
    return sorted(roots, key=lambda topic: topic.get("id") != first), children


def _place(roots: list[Element], grown: tuple[Topic, ...]) -> None:
    """Set the positions of floating topics relative to the central topic."""
    places = [(number(root.get("x")), number(root.get("y"))) for root in roots]
    for topic, (x, y) in zip(grown[1:], places[1:], strict=True):
        topic.position = (x - places[0][0], y - places[0][1])


def _topic(topic: Element) -> Topic:
    note = Note()
    for part in topic.findall("note"):
        note.add_text("".join(part.itertext()))
    links = topic.findall("link")
    return Topic(
        id=topic.get("guid", "") or topic.get("id", ""),
        text=topic.get("text", "").replace("\\N", "\n"),
        note=note.plain,
        links=tuple(link.get(name, "") for link in links for name in _LINKS),
    )
