"""Read iMindMap ``.imx``: an archive with ``data.xml``, a graph of ideas and branches.

The format is undocumented. The elements are known from two public projects (a loader and a script,
with tests) that derived them from real files.

* ``floatingIdea`` is the central topic of a map; further ones are floating topics. ``branch`` links
  ``source`` to ``target``. In real files it has the text, rather than its ``branchNode``.
* Text is a property, or HTML inside one.
* ``mapmeta.xml`` contains author and time, as elements with a ``value`` or as attributes.
* The names of notes and links are unknown, so they are not read; nor are relationships and images.
"""

from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.errors import BrokenFile, UnreadableFile
from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.flat_tree import Member, joined, regrow
from mapshelf.readers.parsing.text_cleaning import element_to_text, html_to_text
from mapshelf.readers.parsing.xml_files import parse_xml, root_tag
from mapshelf.readers.parsing.zip_files import Archive

_MEMBER: Final = "data.xml"
_META: Final = "mapmeta.xml"
_ROOT: Final = "mmGraphModel"
_CENTRE: Final = "floatingIdea"
_BRANCH: Final = "branch"
_TEXT: Final = "com.thinkbuzan.gaia.cell.text"
_LABEL: Final = "com.thinkbuzan.gaia.entities.HTMLLabel"


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of iMindMap."""
    archive = content.archive
    if archive is None or _MEMBER not in archive.names:
        return False
    return root_tag(decode(archive.read(_MEMBER)))[0] == _ROOT


def read(content: Content) -> Outline:
    """Return the outline of an iMindMap map.

    Raises:
        BrokenFile: it is damaged or has no topic.
        TooLarge: it exceeds a limit.
    """
    archive = content.archive
    if archive is None:
        raise BrokenFile("it is no archive")
    document = parse_xml(decode(archive.read(_MEMBER)), content.limits)
    author, created = _meta(archive, content)
    return Outline(
        sheets=sheets_of(regrow(joined(_members(document)), content.limits)),
        software="iMindMap",
        author=author,
        created=created,
    )


def _members(document: Element) -> dict[str, Member]:
    cells = [*document, *(cell for part in document for cell in part)]
    centres = [cell for cell in cells if cell.tag == _CENTRE]
    members = {
        cell.get("id") or f"#{position}": Member(Topic(_text(cell), id=cell.get("id", "")))
        for position, cell in enumerate(centres)
    }
    nodes = {cell.get("id"): cell for cell in cells}
    for position, branch in enumerate(cell for cell in cells if cell.tag == _BRANCH):
        # A branch without a node at its end is a topic, too.
        key = branch.get("target") or branch.get("id", "")
        node = nodes.get(key)
        text = _text(branch) or ("" if node is None else _text(node))
        member = members.setdefault(key or f"*{position}", Member(Topic(text, id=key)))
        member.parent = member.parent or branch.get("source", "")
    return members


def _text(cell: Element) -> str:
    """Return the text of a cell, from its own properties only."""
    label = ""
    for part in (*cell.findall("property"), *cell.findall("properties/property")):
        if part.get("key") == _TEXT:
            return part.get("value", part.text or "")
        if part.get("key") == _LABEL:
            label = label or element_to_text(part)
    # HTML may be escaped in the text, or be part of the XML.
    return html_to_text(label) if "<" in label else label


def _meta(archive: Archive, content: Content) -> tuple[str, int | None]:
    """Return author and creation time; damaged metadata is ignored."""
    try:
        meta = parse_xml(decode(archive.read(_META)), content.limits)
    except UnreadableFile:
        return "", None
    facts = next(meta.iter("MapMeta"), meta)
    author = facts.get("author") or _value(facts, "InitialAuthor")
    return author, milliseconds(facts.get("created") or _value(facts, "CreationTime"))


def _value(meta: Element, name: str) -> str:
    element = meta.find(name)
    return "" if element is None else element.get("value", "")
