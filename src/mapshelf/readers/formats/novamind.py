"""NovaMind 5 and 6: an archive whose ``content.xml`` looks like XMind's but is different.

* The tree (``topic-node``) and the texts of its topics (``topic``) are separate, joined by id.
* Topics on the lines between others become children of the central topic of the first map, where
  people look for them.
* The description of the document is added to the note of the first central topic. Pictures, tasks,
  tags, presentations and styles are not read.
"""

from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.errors import UnreadableFile
from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.topic_tree import grow
from mapshelf.readers.parsing.xml_files import parse_xml, root_tag
from mapshelf.readers.parsing.zip_files import Archive

_MEMBER: Final = "content.xml"
_META: Final = "meta.xml"


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of NovaMind."""
    archive = content.archive
    if archive is None or _MEMBER not in archive.names:
        return False
    data = archive.read(_MEMBER)
    return b"<topic-node" in data and root_tag(decode(data))[0] == "document"


def read(content: Content) -> Outline:
    """Return the outline of a NovaMind document with all its maps.

    Raises:
        BrokenFile: it is damaged or has no topic.
        TooLarge: it exceeds a limit.
    """
    archive = content.archive
    assert archive is not None  # or ``sniff`` would have refused it
    document = parse_xml(decode(archive.read(_MEMBER)), content.limits)
    said = {topic.get("id", ""): topic for topic in document.findall("topics/topic")}
    centres = document.findall("maps/map/topic-node")
    loose = document.findall("maps/map/link-lines/topic-node")

    def topic_of(node: Element) -> Topic:
        topic = said.get(node.get("topic-ref", ""), node)
        return _topic(node, topic, document if node is centres[0] else None)

    def children_of(node: Element) -> list[Element]:
        return node.findall("*/topic-node") + (loose if node is centres[0] else [])

    roots = grow(centres, topic_of, children_of, content.limits)
    meta = _meta(archive, content.limits)
    return Outline(
        sheets=sheets_of(roots),
        software="NovaMind",
        software_version=_at(meta, "last-saved/application", "version"),
        created=milliseconds(_at(meta, "created", "timestamp")),
        modified=milliseconds(_at(meta, "last-saved", "timestamp")),
    )


def _topic(node: Element, topic: Element, document: Element | None) -> Topic:
    note = Note()
    for part in topic.findall("notes//rich-text"):
        note.add_text(_words(part))
    if document is not None:
        note.add_text(document.get("description", ""))
    text = topic.find("rich-text")
    return Topic(
        id=node.get("id", ""),
        text="" if text is None else _words(text),
        note=note.plain,
        links=tuple(_links(topic)),
    )


def _words(rich: Element) -> str:
    pieces: list[str] = []
    for run in rich.iter("text-run"):
        pieces.append(run.text or "")
        for part in run:
            pieces.append("\n" if part.tag == "br" else part.text or "")
            pieces.append(part.tail or "")
    return "".join(pieces)


def _links(topic: Element) -> Iterator[str]:
    for link in topic.iter("hyperlink"):
        yield link.get("url", "")


def _meta(archive: Archive, limits: Limits) -> Element:
    """Return the metadata of the archive; damaged metadata is ignored."""
    try:
        return parse_xml(decode(archive.read(_META)), limits)
    except UnreadableFile:
        return Element("meta")


def _at(parent: Element, path: str, attribute: str) -> str:
    found = parent.find(path)
    return "" if found is None else found.get(attribute, "")
