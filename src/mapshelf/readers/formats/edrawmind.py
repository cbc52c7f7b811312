"""EdrawMind (formerly MindMaster) ``.emmx`` up to version 8: an archive with XML pages.

A page is a drawing: a list of shapes, some of which are topics. Newer programs write
``mmpage/page.bin`` instead, an undocumented and partly encrypted binary form; such files are
recognised, and refused with advice.

* A shape names its parent (``Super``) and, in order, its children (``SubLevel``).
* Connectors are not topics, even if they have a label; boundaries and brackets are topics if they
  have a text.
* A page is a sheet; shapes without a parent (floating topics) are sheets after it.
* ``document.xml`` has author, times and version. Its times have no zone and count as UTC.
"""

import re
from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.errors import UnreadableFile
from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.flat_tree import Member, joined, regrow
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.parsing.xml_files import parse_xml
from mapshelf.readers.parsing.zip_files import Archive

_PAGE: Final = re.compile(r"page/page(?:-?([0-9]{1,6}))?\.xml")
_BINARY: Final = re.compile(r"mmpage/page[^/]*\.bin")
_FACTS: Final = "document.xml"
_CENTRE: Final = "MainIdea"
_TOPICS: Final = ("Idea", "Topic")
_CONNECTOR: Final = "Connector"


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of EdrawMind, of either kind."""
    archive = content.archive
    return archive is not None and any(
        _PAGE.fullmatch(name) or _BINARY.fullmatch(name) for name in archive.names
    )


def read(content: Content) -> Outline:
    """Return the outline of an EdrawMind map with all its pages.

    Raises:
        UnreadableFile: it is of the newer, binary kind.
        BrokenFile: it is damaged or has no topic.
        TooLarge: it exceeds a limit.
    """
    archive = content.archive
    pages = [] if archive is None else sorted(filter(_PAGE.fullmatch, archive.names), key=_number)
    if archive is None or not pages:
        raise UnreadableFile(
            "it is a map of EdrawMind 9 or later, whose binary form cannot be read;"
            " export it from EdrawMind in another format"
        )
    roots: list[Topic] = []
    for page in pages:
        document = parse_xml(decode(archive.read(page)), content.limits)
        roots += joined(dict(_members(document)))
    return _with_facts(regrow(roots, content.limits), archive, content.limits)


def _number(page: str) -> int:
    number = _PAGE.fullmatch(page)
    return int(number[1] or 0) if number else 0


def _members(page: Element) -> Iterator[tuple[str, Member]]:
    shapes = [shape for shape in page.findall("Shape") if _is_topic(shape)]
    # The central topic comes after the lines that lead to it.
    shapes.sort(key=lambda shape: shape.get("Type") != _CENTRE)
    for position, shape in enumerate(shapes):
        key = shape.get("ID", "")
        topic = Topic(_text(shape), id=key, note=_words(shape.find("Note")))
        heirs = _value(shape, "LevelData/SubLevel").split(";")
        yield key or f"#{position}", Member(topic, _value(shape, "LevelData/Super"), heirs)


def _is_topic(shape: Element) -> bool:
    kind = shape.get("Type", "")
    if kind.endswith(_CONNECTOR):
        return False
    return kind.endswith(_TOPICS) or bool(_text(shape).strip())


def _text(shape: Element) -> str:
    return _words(shape.find("Text"))


def _words(part: Element | None) -> str:
    """Return the text in ``part``: paragraphs (``pp``) of pieces (``tp``)."""
    if part is None:
        return ""
    paragraphs = part.findall("TextBlock/Text/pp")
    return "\n".join("".join(paragraph.itertext()).strip() for paragraph in paragraphs)


def _value(element: Element, path: str) -> str:
    found = element.find(path)
    return "" if found is None else found.get("V", "")


def _with_facts(roots: tuple[Topic, ...], archive: Archive, limits: Limits) -> Outline:
    """Return the outline with the metadata of the file; damaged metadata is ignored."""
    try:
        document = parse_xml(decode(archive.read(_FACTS)), limits)
    except UnreadableFile:
        return Outline(sheets_of(roots), software="EdrawMind")
    return Outline(
        sheets_of(roots),
        software="EdrawMind",
        software_version=document.get("Version", ""),
        author=_value(document, "Properties/Creator"),
        created=milliseconds(_value(document, "Properties/CreatedDate")),
        modified=milliseconds(_value(document, "Properties/ModifiedDate")),
    )
