"""Read XMind: an archive with ``content.json`` (since 2018) or ``content.xml`` (XMind 3 to 8).

* The newer format also contains a ``content.xml``, a dummy that warns users of old versions. So if
  there is JSON, only the JSON is read. A few programs write only the XML, without an archive.
* ``Revisions/`` contains old versions of the map and is not read.
* Templates (``.xmt``) have the same format, and nothing in them tells them from maps.

``xmind_json`` and ``xmind_xml`` read the two formats; ``xmind_parts`` is shared by them.
"""

from dataclasses import replace
from typing import Final, TypedDict

from mapshelf.errors import BrokenFile, UnreadableFile
from mapshelf.model import Outline
from mapshelf.readers.formats.xmind_json import read_json
from mapshelf.readers.formats.xmind_xml import read_xml
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.json_files import as_object, as_text, parse_json
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.parsing.xml_files import parse_xml, root_tag
from mapshelf.readers.parsing.zip_files import Archive

_ROOT: Final = "xmap-content"
_MANIFESTS: Final = ("META-INF/manifest.xml", "manifest.json")
_OWN_NAMES: Final = frozenset({"", "vana", "xmind"})
"""Program names that mean XMind, in lower case: for a while it wrote Vana, or nothing."""


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
        return read_xml(content, content.text)
    if _is_locked(archive):
        raise BrokenFile("it is protected by a password; save it without one")
    facts = _facts(archive, content.limits)
    if "content.json" in archive.names:
        outline = Outline(read_json(content, decode(archive.read("content.json"))))
    else:
        outline = read_xml(content, decode(archive.read("content.xml")))
    return replace(outline, **facts)


def _is_locked(archive: Archive) -> bool:
    return any(
        b"encryption-data" in archive.read(name) for name in _MANIFESTS if name in archive.names
    )


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
