"""Builds the XMind samples beside this file from the outlines in ``sources``.

An ``.xmind`` file is an archive, which nobody can review or correct in a diff. So what is kept
for people is a text, and the archives are made of it: the same bytes whenever and wherever this
runs. That is why their members bear a fixed date and are stored rather than compressed, since
what a compressor writes depends on its version.

The notation of the outlines, where depth is two blanks a level::

    = Title of a sheet
    Central topic
      Topic -> https://example.org/its-link
        > A line of the note of the topic above
      + Floating topic

Usage: ``python examples/make.py [folder]``; without a folder the samples are written in place.
"""

import hashlib
import json
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

HERE: Final = Path(__file__).resolve().parent
LONG_AGO: Final = (2024, 1, 1, 0, 0, 0)
MOMENT: Final = "1704067200000"
"""The same date in milliseconds since 1970."""

XMIND_8: Final = "R3.7.8.201807240049"
XMIND_2020: Final = "10.1.2.202004142327"
NAMESPACES: Final = {
    "xmlns": "urn:xmind:xmap:xmlns:content:2.0",
    "xmlns:fo": "http://www.w3.org/1999/XSL/Format",
    "xmlns:svg": "http://www.w3.org/2000/svg",
    "xmlns:xhtml": "http://www.w3.org/1999/xhtml",
    "xmlns:xlink": "http://www.w3.org/1999/xlink",
}

XML_SAMPLES: Final = (
    "Projects and Planning/Klassenfahrt planen.xmind",
    "Projects and Planning/Weekly review.xmt",
    "Sports and Leisure/はじめての山歩き.xmind",
)
JSON_SAMPLES: Final = (
    "Computers and Software/Unicode in one page.xmind",
    "Education/读书笔记方法.xmind",
    "Food and Drink/Cocinar arroz.xmind",
)


@dataclass
class Topic:
    """A topic of an outline; ``kind`` is what XMind calls the way it hangs on its parent."""

    text: str
    link: str = ""
    kind: str = "attached"
    note: list[str] = field(default_factory=list)
    children: list["Topic"] = field(default_factory=list)

    def by_kind(self) -> Iterator[tuple[str, list["Topic"]]]:
        """Yield the children of each kind, if there are any."""
        for kind in ("attached", "detached"):
            children = [child for child in self.children if child.kind == kind]
            if children:
                yield kind, children


@dataclass
class Sheet:
    """A sheet: its title, and its central topic below a nameless one."""

    title: str
    top: Topic = field(default_factory=lambda: Topic(""))

    @property
    def root(self) -> Topic:
        """The central topic."""
        (root,) = self.top.children
        return root


def main() -> None:
    """Write all samples."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for name in XML_SAMPLES:
        _write(folder / name, _xml_members(_outline(name)))
    for name in JSON_SAMPLES:
        _write(folder / name, _json_members(_outline(name)))


def _write(path: Path, members: dict[str, bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            member = zipfile.ZipInfo(name, LONG_AGO)
            member.create_system = 3  # or else it would tell Windows from the rest
            member.external_attr = 0o644 << 16
            archive.writestr(member, data)


def _outline(name: str) -> list[Sheet]:
    """Return the sheets written down for the sample ``name``."""
    sheets: list[Sheet] = []
    path: list[Topic] = []
    source = HERE / "sources" / f"{Path(name).stem}.txt"
    for line in filter(str.strip, source.read_text(encoding="utf-8").splitlines()):
        text = line.strip()
        if text.startswith("= "):
            sheets.append(Sheet(text[2:]))
            path = [sheets[-1].top]
        elif text.startswith("> "):
            path[-1].note.append(text[2:])
        else:
            del path[(len(line) - len(text)) // 2 + 1 :]
            topic = _topic(text)
            path[-1].children.append(topic)
            path.append(topic)
    return sheets


def _topic(line: str) -> Topic:
    text, _, link = line.partition(" -> ")
    if text.startswith("+ "):
        return Topic(text[2:], link, "detached")
    return Topic(text, link)


def _id(*place: object) -> str:
    """Return an identifier such as XMind gives, always the same for the same place."""
    return hashlib.sha256(repr(place).encode()).hexdigest()[:26]


# --- XMind 8 -----------------------------------------------------------------------------------


def _xml_members(sheets: list[Sheet]) -> dict[str, bytes]:
    content = Element("xmap-content", {**NAMESPACES, "timestamp": MOMENT, "version": "2.0"})
    for number, sheet in enumerate(sheets):
        part = SubElement(content, "sheet", id=_id(number), timestamp=MOMENT)
        part.append(_xml_topic(sheet.root, number))
        SubElement(part, "title").text = sheet.title
    meta = Element("meta", xmlns="urn:xmind:xmap:xmlns:meta:2.0", version="2.0")
    creator = SubElement(meta, "Creator")
    SubElement(creator, "Name").text = "XMind"
    SubElement(creator, "Version").text = XMIND_8
    members = {"meta.xml": _xml(meta), "content.xml": _xml(content)}
    manifest = Element("manifest", xmlns="urn:xmind:xmap:xmlns:manifest:1.0")
    for name in (*members, "META-INF/manifest.xml"):
        SubElement(manifest, "file-entry", {"full-path": name, "media-type": "text/xml"})
    return {**members, "META-INF/manifest.xml": _xml(manifest)}


def _xml_topic(topic: Topic, *place: int) -> Element:
    element = Element("topic", id=_id(topic.text, *place), timestamp=MOMENT)
    if topic.link:
        element.set("xlink:href", topic.link)
    SubElement(element, "title").text = topic.text
    if topic.note:
        notes = SubElement(element, "notes")
        html = SubElement(notes, "html")
        for line in topic.note:
            SubElement(html, "xhtml:p").text = line
        SubElement(notes, "plain").text = "\n".join(topic.note)
    if topic.children:
        groups = SubElement(element, "children")
        for kind, children in topic.by_kind():
            group = SubElement(groups, "topics", type=kind)
            group.extend(_xml_topic(child, *place, n) for n, child in enumerate(children))
    return element


def _xml(element: Element) -> bytes:
    declaration = b'<?xml version="1.0" encoding="UTF-8" standalone="no"?>'
    return declaration + tostring(element, encoding="unicode").encode()


# --- XMind 2020 and later ----------------------------------------------------------------------


def _json_members(sheets: list[Sheet]) -> dict[str, bytes]:
    content = [
        {
            "id": _id(number),
            "class": "sheet",
            "title": sheet.title,
            "rootTopic": _json_topic(sheet.root, number),
        }
        for number, sheet in enumerate(sheets)
    ]
    metadata = {"creator": {"name": "Vana", "version": XMIND_2020}, "activeSheetId": _id(0)}
    members = {
        "content.json": _json(content),
        "metadata.json": _json(metadata),
        "content.xml": _xml_members([_warning()])["content.xml"],
    }
    entries: dict[str, object] = {name: {} for name in ("content.json", "metadata.json")}
    return {**members, "manifest.json": _json({"file-entries": entries})}


def _warning() -> Sheet:
    """Return the dummy that XMind 8 would show instead of a map it cannot read."""
    sheet = Sheet("Warning 警告")
    sheet.top.children.append(Topic("Warning 警告: please open this map with XMind 2020 or later"))
    return sheet


def _json_topic(topic: Topic, *place: int) -> dict[str, object]:
    result: dict[str, object] = {
        "id": _id(topic.text, *place),
        "class": "topic",
        "title": topic.text,
    }
    if topic.link:
        result["href"] = topic.link
    if topic.note:
        result["notes"] = {"plain": {"content": "\n".join(topic.note)}}
    if topic.children:
        result["children"] = {
            kind: [_json_topic(child, *place, n) for n, child in enumerate(children)]
            for kind, children in topic.by_kind()
        }
    return result


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


if __name__ == "__main__":
    main()
