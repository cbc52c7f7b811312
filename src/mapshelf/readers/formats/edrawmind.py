"""Read EdrawMind (formerly MindMaster) ``.emmx`` up to version 8: an archive with XML pages.

Each page is a drawing, and becomes a sheet of the map (``edrawmind_page``). Newer versions write
``mmpage/page.bin`` instead, in an undocumented and partly encrypted binary format; such files are
recognised, and refused with advice.

* ``document.xml`` contains author, times and version. Its times have no zone and count as UTC.
* ``rels/page_rels.xml`` contains the paths of the images on a page. Pages after the first have
  numbers.
"""

import re
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.errors import BrokenFile, UnreadableFile
from mapshelf.model import Outline, Sheet, Summary, Topic
from mapshelf.readers.formats.edrawmind_page import Drawing, Media, drawing, value
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.flat_tree import regrow
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.parsing.xml_files import parse_xml
from mapshelf.readers.parsing.zip_files import Archive

_PAGE: Final = re.compile(r"page/(page(?:-?([0-9]{1,6}))?)\.xml")
_BINARY: Final = re.compile(r"mmpage/page[^/]*\.bin")
_FACTS: Final = "document.xml"


def sniff(content: Content) -> bool:
    """Return whether ``content`` is an EdrawMind map, in either format."""
    archive = content.archive
    return archive is not None and any(
        _PAGE.fullmatch(name) or _BINARY.fullmatch(name) for name in archive.names
    )


def read(content: Content) -> Outline:
    """Return the outline of an EdrawMind map with all its pages.

    Raises:
        UnreadableFile: it has the newer, binary format.
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
    drawings: list[Drawing] = []
    for page in pages:
        document = parse_xml(decode(archive.read(page)), content.limits)
        media = Media(content.images, archive, _targets(page, archive, content.limits))
        # The numbering of shapes restarts on each page.
        drawn = drawing(document, media, f"{_number(page)}-" if drawings else "")
        if drawn.trees:
            drawings.append(drawn)
    return _with_facts(_sheets(drawings, content.limits), archive, content.limits)


def _number(page: str) -> int:
    number = _PAGE.fullmatch(page)
    return int(number[2] or 0) if number else 0


def _targets(page: str, archive: Archive, limits: Limits) -> dict[str, str]:
    """Return the archive members that a page refers to, by their names on the page."""
    found = _PAGE.fullmatch(page)
    member = f"rels/{found[1]}_rels.xml" if found else ""
    if member not in archive.names:
        return {}
    try:
        document = parse_xml(decode(archive.read(member)), limits)
    except BrokenFile:
        return {}
    return {_key(part): part.get("Target", "").removeprefix("../") for part in document}


def _key(relation: Element) -> str:
    return relation.get("Id") or relation.get("ID") or relation.get("id") or ""


def _sheets(drawings: list[Drawing], limits: Limits) -> tuple[Sheet, ...]:
    grown = iter(regrow((tree for drawn in drawings for tree in drawn.trees), limits))
    return tuple(_sheet(drawn, [next(grown) for _ in drawn.trees]) for drawn in drawings)


def _sheet(drawn: Drawing, trees: list[Topic]) -> Sheet:
    count = len(trees) - len(drawn.summed)
    return Sheet(
        trees[0],
        title=drawn.title,
        floating=tuple(trees[1:count]),
        relationships=drawn.relationships,
        boundaries=drawn.boundaries,
        summaries=tuple(map(Summary, drawn.summed, trees[count:])),
        background=drawn.background,
    )


def _with_facts(sheets: tuple[Sheet, ...], archive: Archive, limits: Limits) -> Outline:
    """Return the outline with the metadata of the file; damaged metadata is ignored."""
    try:
        document = parse_xml(decode(archive.read(_FACTS)), limits)
    except UnreadableFile:
        return Outline(sheets, software="EdrawMind")
    return Outline(
        sheets,
        software="EdrawMind",
        software_version=document.get("Version", ""),
        author=value(document, "Properties/Creator"),
        created=milliseconds(value(document, "Properties/CreatedDate")),
        modified=milliseconds(value(document, "Properties/ModifiedDate")),
    )
