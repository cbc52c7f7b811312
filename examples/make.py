"""Builds the samples that are archives from the outlines in ``sources``.

An archive (an ``.xmind`` file and many others) is nothing to review or correct in a diff. So what
is kept for people is a text, and the archives are made of it: the same bytes whenever and wherever
this runs. That is why their members bear a fixed date and are stored rather than compressed, since
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
import html
import itertools
import json
import plistlib
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
ISO_MOMENT: Final = "2024-01-01T00:00:00.000Z"
SHORT_MOMENT: Final = ISO_MOMENT[:19]

XMIND_8: Final = "R3.7.8.201807240049"
XMIND_2020: Final = "10.1.2.202004142327"
NAMESPACES: Final = {
    "xmlns": "urn:xmind:xmap:xmlns:content:2.0",
    "xmlns:fo": "http://www.w3.org/1999/XSL/Format",
    "xmlns:svg": "http://www.w3.org/2000/svg",
    "xmlns:xhtml": "http://www.w3.org/1999/xhtml",
    "xmlns:xlink": "http://www.w3.org/1999/xlink",
}

GAIA_TEXT: Final = "com.thinkbuzan.gaia.cell.text"

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

MIND_MEISTER: Final = "Travel and Places/A weekend in Lisbon.mind"
MINDOMO: Final = "History/Ways of writing.mom"
I_MIND_MAP: Final = "Arts and Culture/The orchestra.imx"
EDRAW_MIND: Final = "Technology and Engineering/The bicycle.emmx"
MIND_MANAGER: Final = "Business/Meetings that end on time.mmap"
SIMPLE_MIND: Final = "Health/A good night's sleep.smmx"
I_THOUGHTS: Final = "Philosophy and Religion/Greek philosophers.itmz"
MIND_NODE: Final = "Arts and Culture/Mixing colours.mindnode"
VYM: Final = "Computers and Software/Regular expressions.vym"
NOVA_MIND: Final = "Marketing/A small campaign.nm5"


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
    for name, members in MORE_SAMPLES.items():
        _write(folder / name, members(_outline(name)))


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


# --- MindMeister -------------------------------------------------------------------------------


def _mind_meister_members(sheets: list[Sheet]) -> dict[str, bytes]:
    numbers = itertools.count(1_000_001)
    root = _mind_meister_topic(sheets[0].root, numbers, None)
    document = {"map_version": "3.0", "layout": 1, "root": root, "attachments": []}
    return {"map.json": _json(document)}


def _mind_meister_topic(
    topic: Topic, numbers: Iterator[int], rank: int | None
) -> dict[str, object]:
    return {
        "id": next(numbers),
        "title": topic.text,
        "rank": rank,
        "pos": [None, None],
        "created_at": ISO_MOMENT,
        "updated_at": ISO_MOMENT,
        "note": "".join(f"<p>{html.escape(line)}</p>" for line in topic.note) or None,
        "link": topic.link or None,
        "children": [
            _mind_meister_topic(child, numbers, position)
            for position, child in enumerate(topic.children, start=1)
        ],
    }


# --- Mindomo -----------------------------------------------------------------------------------


def _mindomo_members(sheets: list[Sheet]) -> dict[str, bytes]:
    namespace = "http://schemas.mindomo.com/application/version-3.6"
    document = Element("map", xmlns=namespace, id=_id("mindomo"))
    SubElement(document, "name").text = sheets[0].root.text
    SubElement(document, "author").text = "Mapshelf"
    SubElement(document, "creationDate").text = ISO_MOMENT
    SubElement(document, "modificationDate").text = ISO_MOMENT
    SubElement(document, "topics").append(_mindomo_topic(sheets[0].root))
    return {"Document.xml": _xml(document)}


def _mindomo_topic(topic: Topic) -> Element:
    element = Element("topic", id=_id("mindomo", topic.text))
    SubElement(element, "text").text = topic.text
    if topic.children:
        SubElement(element, "subTopics").extend(map(_mindomo_topic, topic.children))
    return element


# --- iMindMap ----------------------------------------------------------------------------------


def _i_mind_map_members(sheets: list[Sheet]) -> dict[str, bytes]:
    document = Element("mmGraphModel")
    middle = SubElement(document, "floatingIdea", id="0")
    SubElement(middle, "property", key=GAIA_TEXT, value=sheets[0].root.text)
    numbers = itertools.count(1)
    pending = [("0", topic) for topic in reversed(sheets[0].root.children)]
    while pending:
        source, topic = pending.pop()
        node = str(next(numbers))
        branch = SubElement(
            document, "branch", edge="1", id=f"edge-{node}", source=source, target=node
        )
        SubElement(branch, "property", key=GAIA_TEXT, value=topic.text)
        SubElement(document, "branchNode", id=node)
        pending.extend((node, child) for child in reversed(topic.children))
    meta = Element("MapMeta")
    SubElement(meta, "Title", value=sheets[0].root.text)
    SubElement(meta, "InitialAuthor", value="Mapshelf")
    SubElement(meta, "CreationTime", value="2024/01/01 00:00:00")
    return {"data.xml": _xml(document), "mapmeta.xml": _xml(meta)}


# --- EdrawMind ---------------------------------------------------------------------------------


def _edraw_mind_members(sheets: list[Sheet]) -> dict[str, bytes]:
    document = Element("Document", Version="7.2")
    facts = SubElement(document, "Properties")
    SubElement(facts, "Creator", V="Mapshelf")
    SubElement(facts, "CreatedDate", V="2024-01-01 00:00:00")
    SubElement(facts, "ModifiedDate", V="2024-01-01 00:00:00")
    members = {"document.xml": _xml(document)}
    for position, sheet in enumerate(sheets):
        name = f"page/page-{position}.xml" if position else "page/page.xml"
        members[name] = _xml(_edraw_mind_page(sheet))
    return members


def _edraw_mind_page(sheet: Sheet) -> Element:
    page = Element("Page", ID="100", Type="Page")
    numbers = itertools.count(102)
    pending = [(0, "", "101", sheet.root)]
    while pending:
        level, parent, number, topic = pending.pop(0)
        kind = ("MainIdea", "MainTopic", "SubTopic")[min(level, 2)]
        shape = SubElement(page, "Shape", ID=number, Type=kind)
        _edraw_mind_words(SubElement(shape, "Text"), [topic.text])
        below = [(level + 1, number, str(next(numbers)), child) for child in topic.children]
        place = SubElement(shape, "LevelData")
        if parent:
            SubElement(place, "Super", V=parent)
        if below:
            SubElement(place, "SubLevel", V=";".join(heir for _, _, heir, _ in below))
        if topic.note:
            _edraw_mind_words(SubElement(shape, "Note"), topic.note)
        pending.extend(below)
    return page


def _edraw_mind_words(part: Element, lines: list[str]) -> None:
    text = SubElement(SubElement(part, "TextBlock"), "Text")
    for line in lines:
        SubElement(SubElement(text, "pp"), "tp").text = line


# --- MindManager -------------------------------------------------------------------------------


def _mind_manager_members(sheets: list[Sheet]) -> dict[str, bytes]:
    (sheet,) = sheets
    namespace = {"xmlns:ap": "http://schemas.mindjet.com/MindManager/Application/2003"}
    document = Element("ap:Map", {**namespace, "OId": _id("map")})
    document.append(Element("ap:OneTopic"))
    document[0].append(_mind_manager_topic(sheet.root))
    facts = SubElement(document, "ap:DocumentGroup")
    SubElement(facts, "ap:DateTimeStamps", Created=SHORT_MOMENT, LastModified=SHORT_MOMENT)
    SubElement(facts, "ap:Author", UserName="Mapshelf")
    return {"Document.xml": _xml(document)}


def _mind_manager_topic(topic: Topic, *place: int) -> Element:
    element = Element("ap:Topic", OId=_id(topic.text, *place))
    for kind, children in topic.by_kind():
        group = "ap:SubTopics" if kind == "attached" else "ap:FloatingTopics"
        below = (_mind_manager_topic(child, *place, n) for n, child in enumerate(children))
        SubElement(element, group).extend(below)
    SubElement(element, "ap:Text", PlainText=topic.text)
    if topic.link:
        SubElement(element, "ap:Hyperlink", Url=topic.link)
    if topic.note:
        body = SubElement(SubElement(element, "ap:NotesGroup"), "ap:NotesXhtmlData")
        page = SubElement(body, "html", xmlns="http://www.w3.org/1999/xhtml")
        for line in topic.note:
            SubElement(page, "p").text = line
    return element


# --- SimpleMind --------------------------------------------------------------------------------


def _simple_mind_members(sheets: list[Sheet]) -> dict[str, bytes]:
    (sheet,) = sheets
    document = Element(
        "simplemind-mindmaps", {"doc-version": "3", "generator": "Mapshelf", "gen-version": "2.7.0"}
    )
    page = SubElement(document, "mindmap")
    meta = SubElement(page, "meta")
    SubElement(meta, "title", text=sheet.title)
    SubElement(meta, "main-centraltheme", id="0")
    topics = SubElement(page, "topics")
    pending = [(-1, sheet.root)]
    for number in itertools.count():
        if not pending:
            break
        parent, topic = pending.pop(0)
        parent = -1 if topic.kind == "detached" else parent
        numbers = {"id": f"{number}", "parent": f"{parent}", "guid": _id(number, topic.text)}
        element = SubElement(topics, "topic", {**numbers, "text": topic.text})
        if topic.link:
            SubElement(element, "link", urllink=topic.link)
        if topic.note:
            SubElement(element, "note").text = "\n".join(topic.note)
        pending += [(number, child) for child in topic.children]
    return {"document/mindmap.xml": _with_doctype(document, "simplemind-mindmaps")}


def _with_doctype(element: Element, name: str) -> bytes:
    prolog = f'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE {name}>\n'
    return (prolog + tostring(element, encoding="unicode")).encode()


# --- iThoughts ---------------------------------------------------------------------------------


def _i_thoughts_members(sheets: list[Sheet]) -> dict[str, bytes]:
    facts = {"version": "4.0", "app": "com.toketaware.ios.ithoughts", "app-version": "7.28"}
    document = Element("iThoughts", {**facts, "modified": SHORT_MOMENT})
    topics = SubElement(document, "topics")
    topics.extend(_i_thoughts_topic(sheet.root) for sheet in sheets)
    return {"mapdata.xml": _xml(document)}


def _i_thoughts_topic(topic: Topic, *place: int) -> Element:
    element = Element("topic", uuid=_id(topic.text, *place), text=topic.text, created=SHORT_MOMENT)
    if topic.note:
        element.set("note", "\n".join(topic.note))
    if topic.link:
        element.set("link", topic.link)
    element.extend(_i_thoughts_topic(child, *place, n) for n, child in enumerate(topic.children))
    return element


# --- MindNode ----------------------------------------------------------------------------------


def _mind_node_members(sheets: list[Sheet]) -> dict[str, bytes]:
    tree = {"mainNodes": [_mind_node_node(sheet.root, n) for n, sheet in enumerate(sheets)]}
    document = {"version": 7, "title": sheets[0].title, "author": "Mapshelf", "mindMap": tree}
    return {"contents.xml": plistlib.dumps(document, fmt=plistlib.FMT_BINARY)}


def _mind_node_node(topic: Topic, *place: int) -> dict[str, object]:
    return {
        "nodeID": _id(topic.text, *place),
        "title": {"text": f"<p>{html.escape(topic.text)}</p>"},
        "note": {"text": "".join(f"<p>{html.escape(line)}</p>" for line in topic.note)},
        "subnodes": [_mind_node_node(child, *place, n) for n, child in enumerate(topic.children)],
    }


# --- VYM ---------------------------------------------------------------------------------------


def _vym_members(sheets: list[Sheet]) -> dict[str, bytes]:
    document = Element("vymmap", version="2.8.23", author="Mapshelf", date=SHORT_MOMENT[:10])
    document.extend(_vym_branch("mapcenter", sheet.root) for sheet in sheets)
    return {"map.xml": _with_doctype(document, "vymmap")}


def _vym_branch(name: str, topic: Topic, *place: int) -> Element:
    element = Element(name, uuid=f"{{{_id(topic.text, *place)}}}")
    if topic.link:
        element.set("url", topic.link)
    SubElement(element, "heading", textMode="plainText", text=topic.text)
    if topic.note:
        note = SubElement(element, "vymnote", fonthint="var")
        page = SubElement(SubElement(note, "html"), "body")
        for line in topic.note:
            SubElement(page, "p").text = line
    for number, child in enumerate(topic.children):
        element.append(_vym_branch("branch", child, *place, number))
    return element


# --- NovaMind ----------------------------------------------------------------------------------


def _nova_mind_members(sheets: list[Sheet]) -> dict[str, bytes]:
    document = Element("document", title=sheets[0].title)
    maps, topics = SubElement(document, "maps"), SubElement(document, "topics")
    for number, sheet in enumerate(sheets):
        page = SubElement(maps, "map", id=_id(number))
        page.append(_nova_mind_node(sheet.root, topics, number))
    meta = Element("meta", {"file-version": "6"})
    for name in ("created", "last-saved"):
        saved = SubElement(meta, name, timestamp=ISO_MOMENT)
        SubElement(saved, "application", name="NovaMind", version="6.0.5.11825")
    return {"meta.xml": _xml(meta), "content.xml": _xml(document)}


def _nova_mind_node(topic: Topic, topics: Element, *place: int) -> Element:
    reference = _id(topic.text, *place)
    said = SubElement(topics, "topic", id=reference)
    text = SubElement(said, "rich-text")
    run = text if not topic.link else SubElement(text, "hyperlink", url=topic.link)
    SubElement(run, "text-run").text = topic.text
    if topic.note:
        notes = SubElement(SubElement(said, "notes"), "rich-text")
        SubElement(notes, "text-run").text = "\n".join(topic.note)
    node = Element("topic-node", {"id": _id(reference), "topic-ref": reference})
    below = SubElement(node, "sub-topics")
    for number, child in enumerate(topic.children):
        below.append(_nova_mind_node(child, topics, *place, number))
    return node


MORE_SAMPLES: Final = {
    MIND_MEISTER: _mind_meister_members,
    MINDOMO: _mindomo_members,
    I_MIND_MAP: _i_mind_map_members,
    EDRAW_MIND: _edraw_mind_members,
    MIND_MANAGER: _mind_manager_members,
    SIMPLE_MIND: _simple_mind_members,
    I_THOUGHTS: _i_thoughts_members,
    MIND_NODE: _mind_node_members,
    VYM: _vym_members,
    NOVA_MIND: _nova_mind_members,
}


if __name__ == "__main__":
    main()
