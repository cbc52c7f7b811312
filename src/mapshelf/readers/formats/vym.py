"""VYM (View Your Mind): an archive with XML, one ``branch`` element inside another.

* The XML is ``map.xml``, or has the name of the map when it was saved.
* There may be several central topics; each becomes a root.
* Headings and notes are plain text or Qt's rich text, in an attribute or inside the element. In
  attributes VYM escapes quotation marks and line ends with a backslash.
* The comment on the map is added to the note of the first central topic, the status of a task to
  the note of its branch. Flags, pictures, frames and cross-links are not read.
* The XML begins with a DOCTYPE that declares nothing.
"""

import re
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.text_cleaning import element_to_text, html_to_text
from mapshelf.readers.parsing.topic_tree import grow
from mapshelf.readers.parsing.xml_files import parse_xml, root_tag
from mapshelf.readers.parsing.zip_files import Archive

_ROOT: Final = "vymmap"
_USUAL: Final = "map.xml"
_MOST_CANDIDATES: Final = 8
_RICH: Final = re.compile(r"\s*<(?:!doctype\s+html|html)\b|<br\s*/?>", re.IGNORECASE)
_ESCAPED: Final = re.compile(r'\\(["n])')


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of VYM, in an archive or alone."""
    if content.archive is None:
        return content.root_name == _ROOT
    return _member(content.archive) is not None


def read(content: Content) -> Outline:
    """Return the outline of a VYM map.

    Raises:
        BrokenFile: it is damaged or has no central topic.
        TooLarge: it exceeds a limit.
    """
    archive = content.archive
    text = content.text if archive is None else decode(archive.read(_member(archive) or _USUAL))
    document = parse_xml(text, content.limits, doctype=_ROOT)
    centres = document.findall("mapcenter")
    comment = document.get("comment", "")

    def topic_of(branch: Element) -> Topic:
        return _topic(branch, comment if branch is centres[0] else "")

    return Outline(
        sheets=sheets_of(
            grow(centres, topic_of, lambda branch: branch.findall("branch"), content.limits)
        ),
        software="VYM",
        software_version=document.get("version", ""),
        author=document.get("author", ""),
        modified=milliseconds(document.get("date")),
    )


def _member(archive: Archive) -> str | None:
    names = sorted(name for name in archive.names if name.endswith(".xml") and "/" not in name)
    names.sort(key=lambda name: name != _USUAL)
    for name in names[:_MOST_CANDIDATES]:
        if root_tag(decode(archive.read(name)))[0] == _ROOT:
            return name
    return None


def _topic(branch: Element, comment: str) -> Topic:
    note = Note()
    for part in branch.findall("vymnote"):
        _add(note, part)
    if _is_rich(comment):
        note.add_html(comment)
    else:
        note.add_text(comment)
    note.add_fact("Task", (task.get("status", "") for task in branch.findall("task")))
    heading = branch.find("heading")
    return Topic(
        id=branch.get("uuid", ""),
        text="" if heading is None else _heading(heading),
        note=note.plain,
        note_html=note.html,
        links=(branch.get("url", ""), branch.get("vymLink", "")),
    )


def _heading(heading: Element) -> str:
    if len(heading):
        return element_to_text(heading)
    text = _text(heading)
    return html_to_text(text) if _is_rich(text, heading.get("textMode", "")) else text


def _add(note: Note, part: Element) -> None:
    if len(part):
        note.add_element(part)
        return
    text = _text(part)
    if _is_rich(text, part.get("textMode", "")):
        note.add_html(text)
    else:
        note.add_text(text)


def _text(part: Element) -> str:
    if "text" not in part.attrib:
        return part.text or ""
    return _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else '"', part.attrib["text"])


def _is_rich(text: str, mode: str = "") -> bool:
    return mode == "richText" or (mode != "plainText" and _RICH.search(text[:4000]) is not None)
