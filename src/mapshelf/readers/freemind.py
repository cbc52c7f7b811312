"""FreeMind 0.8-1.1 and Freeplane 1.x: XML, one ``node`` element inside another.

Both programs, and the many that export for them, write the same format with habits of their own;
what is handled below was met in real files rather than in a description of the format.

* A topic's text is in ``TEXT``, or as HTML in ``richcontent``, or HTML escaped inside ``TEXT``,
  or a key of Freeplane's translations in ``LOCALIZED_TEXT``.
* A ``stylenode`` bears text too, but belongs to the style sheet, not to the map.
* A topic's note becomes what its author wrote about it anywhere: details, note, the note of old
  FreeMind plug-ins, and attributes as ``name: value`` lines, so that all of it is found.
* A clone repeats a topic elsewhere by naming its id. It is shown with the text it stands for;
  the branch below is not repeated, since clones of clones could grow without end.
* The content of an encrypted node stays closed; the node itself is a topic like any other.
* Nothing in the format marks a template.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.model import Outline, Topic
from mapshelf.readers.cleaning import element_to_text, html_to_text, is_html
from mapshelf.readers.content import Content
from mapshelf.readers.trees import grow
from mapshelf.readers.xml_files import parse_xml

_VERSION: Final = re.compile(r"""\sversion\s*=\s*["'](?:([A-Za-z]+)\s+)?(\d[^"']*)["']""")
_COMMENT: Final = re.compile(r"<!--(.{0,400}?)-->", re.DOTALL)
_OLD_NOTE: Final = "accessories/plugins/NodeNote.properties"
_PROGRAMS: Final = {"freeplane": "Freeplane", "docear": "Docear", "freemind": "FreeMind"}
_TRANSLATIONS: Final = {"new_mindmap": "New mind map"}


def sniff(content: Content) -> bool:
    """Tell whether ``content`` is a map of FreeMind or Freeplane.

    WiseMapping's root element is ``map`` as well, with other versions and other elements in it.
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
    roots = grow(document.findall("node"), partial(_topic, originals), _children, content.limits)
    software, version = _software(content)
    return Outline(roots=roots, software=software, software_version=version)


def _children(node: Element) -> list[Element]:
    return node.findall("node")


def _topic(originals: dict[str, Element], node: Element) -> Topic:
    content = node
    if "TEXT" not in node.attrib:
        content = originals.get(node.get("CONTENT_ID") or node.get("TREE_ID") or "", node)
    rich = {part.get("TYPE", "NODE").upper(): part for part in content.findall("richcontent")}
    return Topic(
        id=node.get("ID", ""),
        text=_text(content, rich.get("NODE")),
        note="\n".join(part for part in _notes(content, rich) if part),
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


def _notes(node: Element, rich: dict[str, Element]) -> Iterator[str]:
    for kind in ("DETAILS", "NOTE"):
        if kind in rich:
            yield _rich_text(rich[kind])
    for hook in node.findall("hook"):
        if hook.get("NAME") == _OLD_NOTE:
            yield hook.findtext("text", "").strip()
    for attribute in node.findall("attribute"):
        yield f"{attribute.get('NAME', '')}: {attribute.get('VALUE', '')}"


def _rich_text(rich: Element) -> str:
    # Of plain text and Markdown the line ends count, in HTML they do not.
    if rich.get("CONTENT-TYPE", "").startswith("plain"):
        return "".join(rich.itertext()).strip()
    return element_to_text(rich)


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
