"""Read MindManager: an archive with ``Document.xml``, or only that XML (``.xmmap``).

* The root element of a template is ``MapTemplate`` instead of ``Map``.
* ``mindmanager_topics`` reads the topics. This module reads the other elements of a sheet. A
  boundary encloses a topic with all its descendants. The label of a relationship is a floating
  topic inside its element. The document ends with styles, markers and formatting rules that look
  like parts of topics but belong to none.
* The main topics are arranged clockwise. Their positions determine their sides.
* Metadata of the map is added to the central topic: keywords as tags, subject and comments as part
  of its note. Descriptions of the program's templates, which maps inherit, are left out.
* ``Version`` counts revisions of the document; the file does not contain the program's version.
* With a password, the document is ``Document.xml.zencr``, which only MindManager can read.
"""

import re
from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.errors import BrokenFile
from mapshelf.model import Boundary, Outline, Relationship, Sheet, Summary, Topic, TopicKind
from mapshelf.readers.formats.mindmanager_simple import is_simple, read_simple
from mapshelf.readers.formats.mindmanager_styles import Defaults, argb
from mapshelf.readers.formats.mindmanager_topics import Node, TopicReader, is_brace
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.detached_topics import DetachedTopics, detach, give_ids
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.topic_tree import grow, reference
from mapshelf.readers.parsing.xml_files import parse_xml, root_tag

_DOCUMENT: Final = "Document.xml"
_LOCKED: Final = "Document.xml.zencr"
_TEMPLATE: Final = "MapTemplate"
_ROOTS: Final = frozenset({"Map", _TEMPLATE})
_NAMESPACE: Final = "schemas.mindjet.com/MindManager"
_PAPER: Final = "#ffffff"
"""The default background, which counts as not set."""

_BLACK: Final = "#000000"
"""The default colour of relationships, which counts as not set."""

_BOILERPLATE: Final = re.compile(
    r"\b(?:blank|default|empty)\b.{0,40}\btemplate\b"
    r"|\b(?:leere|standard)\w*[ -]?vorlage|modèle (?:vierge|vide|par défaut)"
    r"|plantilla (?:en blanco|vacía|predeterminada)|modello (?:vuoto|predefinito)"
    r"|(?:空白|默认|預設).{0,4}(?:模板|範本)|(?:空白|既定)の?テンプレート",
    re.IGNORECASE,
)
"""Descriptions of templates, "This is a blank template ...": in real files, most are like this."""


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map or template of MindManager, in an archive or alone."""
    archive = content.archive
    if archive is None:
        if content.root_name not in _ROOTS:
            return False
        return _NAMESPACE in content.root_tag or is_simple(content)
    if _DOCUMENT not in archive.names:
        return _LOCKED in archive.names
    return root_tag(decode(archive.read(_DOCUMENT)))[0] in _ROOTS


def read(content: Content) -> Outline:
    """Return the outline of a MindManager map or template.

    Raises:
        BrokenFile: it is damaged, protected by a password, or has no topic.
        TooLarge: it exceeds a limit.
    """
    if content.archive is None and _NAMESPACE not in content.root_tag:
        return read_simple(content)
    document = parse_xml(_text(content), content.limits)
    facts = document.find("DocumentGroup")
    facts = Element("DocumentGroup") if facts is None else facts
    central = document.findall("OneTopic/Topic")
    reader = TopicReader(content, central[0] if central else None)
    nodes = [(TopicKind.ATTACHED, False, topic) for topic in central]
    apart = document.findall("FloatingTopics/Topic") if central else []
    floating = [(TopicKind.FLOATING, True, topic) for topic in apart]

    def topic_of(node: Node) -> Topic:
        topic = reader.topic(node)
        if node[2] is central[0]:
            _describe(topic, facts)
        return topic

    grown = grow(nodes + floating, topic_of, reader.children, content.limits)
    roots, apart_topics = grown[: len(nodes)], grown[len(nodes) :]
    sheets = tuple(_sheets(document, reader, roots, apart_topics))
    defaults = Defaults(document.find("StyleGroup"))
    for sheet in sheets:
        defaults.apply(sheet, reader.looks)
    return Outline(
        sheets=sheets,
        software="MindManager",
        template=document.tag == _TEMPLATE,
        author=_at(facts, "Author", "UserName") or _at(facts, "Creator", "UserName"),
        created=milliseconds(_at(facts, "DateTimeStamps", "Created")),
        modified=milliseconds(_at(facts, "DateTimeStamps", "LastModified")),
    )


def _text(content: Content) -> str:
    if content.archive is None:
        return content.text
    if _DOCUMENT not in content.archive.names:
        raise BrokenFile("it is protected by a password; save it without one")
    return decode(content.archive.read(_DOCUMENT))


def _describe(root: Topic, facts: Element) -> None:
    """Add the metadata of the map to the central topic: note and tags."""
    note = Note()
    said = (_at(facts, "Description", name) for name in ("Subject", "Comments"))
    texts = [text for text in said if text.strip() and not _BOILERPLATE.search(text)]
    if texts:
        if root.note_html:
            note.add_both(root.note, root.note_html)
        else:
            note.add_text(root.note)
        for text in texts:
            note.add_text(text)
        root.note, root.note_html = note.plain, note.html
    keywords = _at(facts, "Keywords", "Keywords")
    root.tags = (*root.tags, *re.split("[,;]", keywords))


def _sheets(
    document: Element, reader: TopicReader, roots: tuple[Topic, ...], apart: tuple[Topic, ...]
) -> Iterator[Sheet]:
    """Yield the sheets, one per central topic.

    All elements outside the trees go to the first sheet: real files have only one central topic.
    """
    detached = [detach(root) for root in roots]
    others = [detach(topic) for topic in apart]
    first = detached[0]
    floating = (*first.floating, *apart, *(each for other in others for each in other.floating))
    summaries = (*first.summaries, *(pair for other in others for pair in other.summaries))
    detached[0] = DetachedTopics(first.root, floating, summaries)
    if reader.boundaries:
        give_ids(detached)
    for number, (root, floating, summaries) in enumerate(detached):
        summing_up = tuple(Summary((parent.id,), topic) for parent, topic in summaries)
        if number:
            yield Sheet(root, floating=floating, summaries=summing_up)
            continue
        yield Sheet(
            root,
            floating=floating,
            relationships=tuple(_relationships(document, reader)),
            boundaries=tuple(_boundaries(document, reader)),
            summaries=summing_up,
            background=_background(document),
            clockwise=True,
        )


def _relationships(document: Element, reader: TopicReader) -> Iterator[Relationship]:
    # If an end is a boundary, the topic of the boundary is used instead.
    places = {
        boundary.get("OId", ""): topic.id for topic, boundary in reader.boundaries if topic.id
    }
    usual = argb(_at(document, "StyleGroup/RelationshipDefaultsGroup/DefaultColor", "LineColor"))
    usual = "" if usual == _BLACK else usual  # the default
    for found in document.iterfind("Relationships/Relationship"):
        ends = [
            reference(end.get("OIdRef", ""))
            for end in found.iterfind("ConnectionGroup/Connection/ObjectReference")
        ]
        if len(ends) == 2:
            start, end = (places.get(end, end) for end in ends)
            words = (text.get("PlainText", "") for text in found.iterfind("FloatingTopics//Text"))
            colour = argb(_at(found, "Color", "LineColor")) or usual
            yield Relationship(start, end, "\n".join(filter(None, words)), colour)


def _boundaries(document: Element, reader: TopicReader) -> Iterator[Boundary]:
    # By default, boundaries have the line colour of the central topic.
    usual = argb(_at(document, "StyleGroup/RootTopicDefaultsGroup/DefaultColor", "LineColor"))
    for topic, boundary in reader.boundaries:
        if not (is_brace(boundary) and boundary.find("FloatingTopics/Topic") is not None):
            colours = (argb(_at(boundary, "Color", f"{name}Color")) for name in ("Line", "Fill"))
            yield Boundary((topic.id,), "", next(filter(None, colours), usual))


def _background(document: Element) -> str:
    fill = argb(_at(document, "StyleGroup/BackgroundFill", "FillColor"))
    return fill if fill != _PAPER else ""


def _at(parent: Element, path: str, attribute: str) -> str:
    found = parent.find(path)
    return "" if found is None else found.get(attribute, "")
