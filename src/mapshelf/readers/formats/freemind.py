"""FreeMind 0.8-1.1 and Freeplane 1.x: XML, one ``node`` element inside another.

Both programs, and the many that export for them, write variants of the same format. What is handled
below was found in real files, not in a description of the format.

* A topic's text is in ``TEXT``, or as HTML in ``richcontent``, or HTML escaped inside ``TEXT``,
  or a key of Freeplane's translations in ``LOCALIZED_TEXT``.
* A ``stylenode`` has text too, but belongs to the style sheet, not to the map.
* Everything that the author wrote about a topic becomes its note: details, note, the note of old
  FreeMind plug-ins, tags, and attributes as ``name: value`` lines. So search finds all of it. Icons
  are not included: ``idea`` would find every map with a light bulb.
* A clone repeats another topic by its id. It is shown with the text of that topic; the branch below
  is not repeated, because clones of clones could grow without limit.
* The content of an encrypted node is not read; the node itself is an ordinary topic, and its note
  says that it is encrypted.
* The format has no author and no mark for templates. Every node has its own times: the map was
  created when its central topic was, and modified when the latest change to a topic was made.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.text_cleaning import element_to_text, html_to_text, is_html
from mapshelf.readers.parsing.topic_tree import grow
from mapshelf.readers.parsing.xml_files import parse_xml

_VERSION: Final = re.compile(r"""\sversion\s*=\s*["'](?:([A-Za-z]+)\s+)?(\d[^"']*)["']""")
_COMMENT: Final = re.compile(r"<!--(.{0,400}?)-->", re.DOTALL)
_OLD_NOTE: Final = "accessories/plugins/NodeNote.properties"
_PROGRAMS: Final = {"freeplane": "Freeplane", "docear": "Docear", "freemind": "FreeMind"}
_TRANSLATIONS: Final = {"new_mindmap": "New mind map"}
_ENCRYPTED: Final = "Encrypted: what is below this topic can be read with its password only."


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of FreeMind or Freeplane.

    The root element of WiseMapping is ``map`` as well, with other versions and elements.
    """
    if content.root_name != "map":
        return False
    return bool(_VERSION.search(content.root_tag)) or "<node" in content.text


def read(content: Content) -> Outline:
    """Return the outline of a FreeMind or Freeplane map.

    Raises:
        BrokenFile: it is not well-formed or has no topic.
        TooLarge: it exceeds a limit.
    """
    document = parse_xml(content.text, content.limits)
    originals = {node.attrib["ID"]: node for node in document.iter("node") if node.get("ID")}
    centres = document.findall("node")
    roots = grow(centres, partial(_topic, originals), _children, content.limits)
    software, version = _software(content)
    return Outline(
        sheets=sheets_of(roots),
        software=software,
        software_version=version,
        created=milliseconds(centres[0].get("CREATED")),
        modified=max((time for time in _edits(document) if time is not None), default=None),
    )


def _edits(document: Element) -> Iterator[int | None]:
    for node in document.iter("node"):
        yield milliseconds(node.get("MODIFIED"))


def _children(node: Element) -> list[Element]:
    return node.findall("node")


def _topic(originals: dict[str, Element], node: Element) -> Topic:
    content = node
    if "TEXT" not in node.attrib:
        content = originals.get(node.get("CONTENT_ID") or node.get("TREE_ID") or "", node)
    rich = {part.get("TYPE", "NODE").upper(): part for part in content.findall("richcontent")}
    note = _note(content, rich)
    return Topic(
        id=node.get("ID", ""),
        text=_text(content, rich.get("NODE")),
        note=note.plain,
        note_html=note.html,
        links=(content.get("LINK", ""), *_links(rich.get("NODE"))),
    )


def _text(node: Element, rich: Element | None) -> str:
    text = node.get("TEXT")
    if text is not None:
        return html_to_text(text) if is_html(text) else text
    if rich is not None:
        return _rich_text(rich)
    key = node.get("LOCALIZED_TEXT", "")
    return _TRANSLATIONS.get(key, key.replace("_", " "))


def _note(node: Element, rich: dict[str, Element]) -> Note:
    note = Note()
    for kind in ("DETAILS", "NOTE"):
        if kind in rich:
            _add(note, rich[kind])
    for hook in node.findall("hook"):
        if hook.get("NAME") == _OLD_NOTE:
            note.add_text(hook.findtext("text", ""))
    note.add_fact("Tags", node.get("TAGS", "").splitlines())
    for attribute in node.findall("attribute"):
        note.add_text(f"{attribute.get('NAME', '')}: {attribute.get('VALUE', '')}")
    if "ENCRYPTED_CONTENT" in node.attrib:
        note.add_text(_ENCRYPTED)
    return note


def _add(note: Note, rich: Element) -> None:
    if _is_plain(rich):
        note.add_text("".join(rich.itertext()))
    else:
        note.add_element(rich)


def _rich_text(rich: Element) -> str:
    if _is_plain(rich):
        return "".join(rich.itertext()).strip()
    return element_to_text(rich)


def _is_plain(rich: Element) -> bool:
    # Line ends matter in plain text and Markdown, but not in HTML.
    return rich.get("CONTENT-TYPE", "").startswith("plain")


def _links(rich: Element | None) -> list[str]:
    return [] if rich is None else [link.get("href", "") for link in rich.iter("a")]


def _software(content: Content) -> tuple[str, str]:
    version = _VERSION.search(content.root_tag)
    name, number = version.groups("") if version else ("", "")
    if name:
        return _PROGRAMS.get(name.lower(), name), number.strip()
    head = content.text[: content.text.find("<node")]
    if any("freeplane" in comment.lower() for comment in _COMMENT.findall(head)):
        # The first Freeplanes wrote the version of FreeMind's format, not their own.
        return "Freeplane", ""
    return "FreeMind", number.strip()
