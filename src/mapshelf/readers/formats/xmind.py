"""XMind: an archive with ``content.json`` (since 2018) or ``content.xml`` (XMind 3 to 8).

* The newer kind also contains a ``content.xml``, a dummy that warns users of old versions: if there
  is JSON, only it is read. A few programs write only the XML, without an archive.
* Floating topics, summaries and callouts are attached to a topic, next to its ordinary children,
  and are children here too, where people look for them.
* The titles of sheets, relationships, boundaries and pictures are not read.
* ``Revisions/`` contains old versions of the map and is not read.
* Labels and markers are added to the note of their topic, because an outline has no other place for
  them.
* Templates (``.xmt``) are the same container; nothing in them distinguishes them.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, TypedDict
from xml.etree.ElementTree import Element

from mapshelf.errors import BrokenFile, UnreadableFile
from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.json_files import as_list, as_object, as_text, parse_json
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.parsing.notes import MARKERS, Note
from mapshelf.readers.parsing.text_cleaning import element_to_html
from mapshelf.readers.parsing.topic_tree import grow
from mapshelf.readers.parsing.xml_files import parse_xml, root_tag
from mapshelf.readers.parsing.zip_files import Archive

_ROOT: Final = "xmap-content"
_MANIFESTS: Final = ("META-INF/manifest.xml", "manifest.json")
_OWN_NAMES: Final = frozenset({"", "vana", "xmind"})
"""Names for XMind itself: for a while it wrote Vana, or nothing."""

_KINDS: Final = ("attached", "detached", "summary", "callout")


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of XMind, in an archive or alone."""
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
        return _xml_outline(content.text, content.limits)
    if _is_locked(archive):
        raise BrokenFile("it is protected by a password; save it without one")
    if "content.json" in archive.names:
        outline = Outline(
            sheets_of(_json_roots(decode(archive.read("content.json")), content.limits))
        )
    else:
        outline = _xml_outline(decode(archive.read("content.xml")), content.limits)
    return replace(outline, **_facts(archive, content.limits))


def _is_locked(archive: Archive) -> bool:
    return any(
        b"encryption-data" in archive.read(name) for name in _MANIFESTS if name in archive.names
    )


# --- XML ---------------------------------------------------------------------------------------


def _xml_outline(text: str, limits: Limits) -> Outline:
    document = parse_xml(text, limits)
    return Outline(
        sheets=sheets_of(grow(document.findall("sheet/topic"), _xml_topic, _xml_children, limits)),
        software="XMind",
        modified=milliseconds(document.get("timestamp")),
    )


def _xml_children(topic: Element) -> list[Element]:
    return topic.findall("children/topics/topic")


def _xml_topic(topic: Element) -> Topic:
    note = Note()
    rich = topic.find("notes/html")
    plain = topic.findtext("notes/plain", "")
    if rich is not None and plain.strip():
        note.add_both(plain, element_to_html(rich))
    else:
        note.add_text(plain)
        note.add_element(rich)
    note.add_fact("Labels", (label.text or "" for label in topic.findall("labels/label")))
    markers = topic.findall("marker-refs/marker-ref")
    note.add_fact(MARKERS, (marker.get("marker-id", "") for marker in markers))
    return Topic(
        id=topic.get("id", ""),
        text=topic.findtext("title", ""),
        note=note.plain,
        note_html=note.html,
        links=(topic.get("href", ""),),
    )


# --- JSON --------------------------------------------------------------------------------------


def _json_roots(text: str, limits: Limits) -> tuple[Topic, ...]:
    sheets = parse_json(text, limits)
    if not isinstance(sheets, list):
        raise BrokenFile("its content.json is not a list of sheets")
    roots = [as_object(as_object(sheet).get("rootTopic")) for sheet in sheets]
    return grow((root for root in roots if root), _json_topic, _json_children, limits)


def _json_children(topic: dict[str, object]) -> Iterator[dict[str, object]]:
    children = as_object(topic.get("children"))
    for kind in (*_KINDS, *(kind for kind in children if kind not in _KINDS)):
        for child in as_list(children.get(kind)):
            if isinstance(child, dict):
                yield child


def _json_topic(topic: dict[str, object]) -> Topic:
    note = Note()
    notes = as_object(topic.get("notes"))
    plain = as_text(as_object(notes.get("plain")).get("content"))
    rich = as_text(as_object(notes.get("realHTML")).get("content"))
    if rich and plain.strip():
        note.add_both(plain, rich)
    else:
        note.add_text(plain)
        note.add_html(rich)
    note.add_fact("Labels", map(as_text, as_list(topic.get("labels"))))
    markers = map(as_object, as_list(topic.get("markers")))
    note.add_fact(MARKERS, (as_text(marker.get("markerId")) for marker in markers))
    return Topic(
        id=as_text(topic.get("id")),
        text=as_text(topic.get("title")),
        note=note.plain,
        note_html=note.html,
        links=(as_text(topic.get("href")),),
    )


# --- Facts -------------------------------------------------------------------------------------


class _Facts(TypedDict, total=False):
    software: str
    software_version: str
    author: str
    created: int | None


def _facts(archive: Archive, limits: Limits) -> _Facts:
    """Return the metadata of the archive; damaged metadata is ignored."""
    try:
        facts = _told(archive, limits)
    except UnreadableFile:
        facts = {}
    name = facts.get("software", "")
    facts["software"] = "XMind" if name.lower() in _OWN_NAMES else name
    return facts


def _told(archive: Archive, limits: Limits) -> _Facts:
    if "metadata.json" in archive.names:
        metadata = parse_json(decode(archive.read("metadata.json")), limits)
        creator = as_object(as_object(metadata).get("creator"))
        return {
            "software": as_text(creator.get("name")),
            "software_version": as_text(creator.get("version")),
        }
    if "meta.xml" in archive.names:
        meta = parse_xml(decode(archive.read("meta.xml")), limits)
        return {
            "software": meta.findtext("Creator/Name", ""),
            "software_version": meta.findtext("Creator/Version", ""),
            "author": meta.findtext("Author/Name", ""),
            "created": milliseconds(meta.findtext("Create/Time")),
        }
    return {}
