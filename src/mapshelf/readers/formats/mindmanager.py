"""MindManager: an archive with ``Document.xml``, or only that XML (``.xmmap``).

* The root element of a template is ``MapTemplate`` instead of ``Map``.
* ``mindmanager_topics`` reads topics. Here is what stands beside them: a boundary is around a topic
  and all below it; the words on a relationship are a topic that floats on it. Styles, markers and
  rules for formatting at the end of the document look like parts of topics, but belong to none.
* Main topics go round the central one as the hands of a clock do, on the sides where they are.
* What describes the whole map is added to the central topic: keywords as tags, the rest to its
  note; but not what the templates of the program say about themselves, which their maps inherit.
* ``Version`` counts revisions of the document; the file does not contain the program's version.
* With a password the document is ``Document.xml.zencr``, which only MindManager can read.
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
"""The background of a map whose author chose none."""

_BLACK: Final = "#000000"
"""The colour of arrows for which neither a map nor its author chose one."""

_BOILERPLATE: Final = re.compile(
    r"\b(?:blank|default|empty)\b.{0,40}\btemplate\b"
    r"|\b(?:leere|standard)\w*[ -]?vorlage|modèle (?:vierge|vide|par défaut)"
    r"|plantilla (?:en blanco|vacía|predeterminada)|modello (?:vuoto|predefinito)"
    r"|(?:空白|默认|預設).{0,4}(?:模板|範本)|(?:空白|既定)の?テンプレート",
    re.IGNORECASE,
)
"""Most descriptions in real files are of the template: "This is a blank template ..."."""


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
    """Add to the central topic what the file says about the whole map."""
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
    """Yield the sheets; all that is beside topics belongs to the first, real files have one."""
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
    # An end may be at a boundary: then the topic in it stands for it.
    places = {
        boundary.get("OId", ""): topic.id for topic, boundary in reader.boundaries if topic.id
    }
    usual = argb(_at(document, "StyleGroup/RelationshipDefaultsGroup/DefaultColor", "LineColor"))
    usual = "" if usual == _BLACK else usual  # that of the program
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
    # They are in the colour of the lines, which is that of the central topic.
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
