"""WiseMapping: XML with the same root element as FreeMind, and ``topic`` elements inside.

* The version distinguishes the two: those of WiseMapping are names (``tango``, ``pela``).
* A text of several lines is in a separate element; newer versions write formatted text and notes as
  HTML. The oldest files (without a version) have notes in an attribute, possibly percent-encoded
  (``a%20note``). (Other files named ``.wxml`` are usually WeChat templates.)
* Topics without a parent become further roots after the central one.
* Icons, relationships and positions are not read.
"""

import re
from typing import Final
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.text_cleaning import html_to_text
from mapshelf.readers.parsing.topic_tree import grow
from mapshelf.readers.parsing.xml_files import parse_xml

_VERSION: Final = re.compile(r"""\sversion\s*=\s*["'](?:tango|pela|beta)["']""")
_CENTRAL: Final = re.compile(r"""<topic\s[^<>]{0,400}?\bcentral\s*=\s*["']true["']""")
_HEAD: Final = 4000


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of WiseMapping."""
    if content.root_name != "map":
        return False
    version = _VERSION.search(content.root_tag)
    return bool(version or _CENTRAL.search(content.text[:_HEAD]))


def read(content: Content) -> Outline:
    """Return the outline of a WiseMapping map.

    Raises:
        BrokenFile: it is not well-formed or has no topic.
        TooLarge: it exceeds a limit.
    """
    document = parse_xml(content.text, content.limits)
    tops = sorted(document.findall("topic"), key=lambda topic: not _is_central(topic))
    roots = grow(tops, _topic, lambda topic: topic.findall("topic"), content.limits)
    return Outline(sheets=sheets_of(roots), software="WiseMapping")


def _is_central(topic: Element) -> bool:
    return topic.get("central", "false") != "false"  # some say -1


def _topic(topic: Element) -> Topic:
    note = Note()
    for part in topic.findall("note"):
        body = _body(part)
        if _is_html(part):
            note.add_html(body)
        else:
            note.add_text(body)
    return Topic(
        id=topic.get("id", ""),
        text=_text(topic),
        note=note.plain,
        note_html=note.html,
        links=tuple(link.get("url", "") for link in topic.findall("link")),
    )


def _text(topic: Element) -> str:
    for name in ("text", "content"):
        part = topic.find(name)
        if part is not None:
            return html_to_text(part.text or "") if _is_html(part) else part.text or ""
    text = topic.get("text", "")
    return html_to_text(text) if topic.get("contentType") == "html" else text


def _body(note: Element) -> str:
    for name in ("content", "text"):
        part = note.find(name)
        if part is not None:
            return part.text or ""
    return note.text or _unescaped(note.get("text", ""))


def _unescaped(text: str) -> str:
    """Return an escaped note as it was typed. Notes that contain spaces are not escaped."""
    if "%" not in text or len(text.split(maxsplit=1)) != 1:
        return text
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return unquote(text, encoding="latin-1")


def _is_html(part: Element) -> bool:
    return (
        part.get("contentType") == "html" or part.find("content[@contentType='html']") is not None
    )
