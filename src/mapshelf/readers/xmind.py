"""XMind: an archive with ``content.json`` (since 2018) or ``content.xml`` (XMind 3 to 8).

* The newer kind carries a ``content.xml`` as well, a dummy that warns the users of old versions:
  the JSON counts wherever there is one. A few programs write the XML alone, without an archive.
* Floating topics, summaries and callouts hang on a topic beside its ordinary children, and are
  children here too: nobody looks for them elsewhere.
* ``Revisions/`` keeps old states of the map and is not its content.
* Templates (``.xmt``) are the same container and nothing inside tells them apart.
"""

from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.errors import BrokenFile, UnreadableFile
from mapshelf.model import Outline, Topic
from mapshelf.readers.cleaning import element_to_text, html_to_text
from mapshelf.readers.content import Content
from mapshelf.readers.decoding import decode
from mapshelf.readers.json_files import parse_json
from mapshelf.readers.limits import Limits
from mapshelf.readers.trees import grow
from mapshelf.readers.xml_files import parse_xml, root_tag
from mapshelf.readers.zip_files import Archive

_ROOT: Final = "xmap-content"
_MANIFESTS: Final = ("META-INF/manifest.xml", "manifest.json")
_OWN_NAMES: Final = frozenset({"", "vana", "xmind"})
"""Creators that mean XMind itself: it called itself Vana for a while, or nothing."""

_KINDS: Final = ("attached", "detached", "summary", "callout")


def sniff(content: Content) -> bool:
    """Tell whether ``content`` is a map of XMind, in an archive or bare."""
    archive = content.archive
    if archive is None:
        return content.root_name == _ROOT
    if "content.json" in archive.names:
        return True
    # OpenDocument, NovaMind and others have a content.xml as well.
    return "content.xml" in archive.names and (
        root_tag(decode(archive.read("content.xml")))[0] == _ROOT or _is_locked(archive)
    )


def read(content: Content) -> Outline:
    """Return the outline of an XMind map with all its sheets.

    Raises:
        BrokenFile: it is damaged, protected by a password, or has no topic.
        TooLarge: it exceeds a limit.
    """
    archive = content.archive
    if archive is None:
        return Outline(roots=_xml_roots(content.text, content.limits), software="XMind")
    if _is_locked(archive):
        raise BrokenFile("it is protected by a password; save it without one")
    software, version = _software(archive, content.limits)
    if "content.json" in archive.names:
        roots = _json_roots(decode(archive.read("content.json")), content.limits)
    else:
        roots = _xml_roots(decode(archive.read("content.xml")), content.limits)
    return Outline(roots=roots, software=software, software_version=version)


def _is_locked(archive: Archive) -> bool:
    return any(
        b"encryption-data" in archive.read(name) for name in _MANIFESTS if name in archive.names
    )


# --- XML ---------------------------------------------------------------------------------------


def _xml_roots(text: str, limits: Limits) -> tuple[Topic, ...]:
    document = parse_xml(text, limits)
    return grow(document.findall("sheet/topic"), _xml_topic, _xml_children, limits)


def _xml_children(topic: Element) -> list[Element]:
    return topic.findall("children/topics/topic")


def _xml_topic(topic: Element) -> Topic:
    return Topic(
        id=topic.get("id", ""),
        text=topic.findtext("title", ""),
        note=_xml_note(topic),
        links=(topic.get("href", ""),),
    )


def _xml_note(topic: Element) -> str:
    plain = topic.findtext("notes/plain", "")
    if plain.strip():
        return plain
    html = topic.find("notes/html")
    return "" if html is None else element_to_text(html)


# --- JSON --------------------------------------------------------------------------------------


def _json_roots(text: str, limits: Limits) -> tuple[Topic, ...]:
    sheets = parse_json(text, limits)
    if not isinstance(sheets, list):
        raise BrokenFile("its content.json is not a list of sheets")
    roots = [_object(_object(sheet).get("rootTopic")) for sheet in sheets]
    return grow((root for root in roots if root), _json_topic, _json_children, limits)


def _json_children(topic: dict[str, object]) -> Iterator[dict[str, object]]:
    children = _object(topic.get("children"))
    for kind in (*_KINDS, *(kind for kind in children if kind not in _KINDS)):
        for child in _list(children.get(kind)):
            if isinstance(child, dict):
                yield child


def _json_topic(topic: dict[str, object]) -> Topic:
    return Topic(
        id=_string(topic.get("id")),
        text=_string(topic.get("title")),
        note=_json_note(_object(topic.get("notes"))),
        links=(_string(topic.get("href")),),
    )


def _json_note(notes: dict[str, object]) -> str:
    plain = _string(_object(notes.get("plain")).get("content"))
    if plain.strip():
        return plain
    return html_to_text(_string(_object(notes.get("realHTML")).get("content")))


def _object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


# --- The program -------------------------------------------------------------------------------


def _software(archive: Archive, limits: Limits) -> tuple[str, str]:
    """Return name and version of the program; a map is not lost for broken metadata."""
    try:
        name, version = _creator(archive, limits)
    except UnreadableFile:
        return "XMind", ""
    return ("XMind" if name.lower() in _OWN_NAMES else name), version


def _creator(archive: Archive, limits: Limits) -> tuple[str, str]:
    if "metadata.json" in archive.names:
        metadata = parse_json(decode(archive.read("metadata.json")), limits)
        creator = _object(_object(metadata).get("creator"))
        return _string(creator.get("name")), _string(creator.get("version"))
    if "meta.xml" in archive.names:
        meta = parse_xml(decode(archive.read("meta.xml")), limits)
        return meta.findtext("Creator/Name", ""), meta.findtext("Creator/Version", "")
    return "", ""
