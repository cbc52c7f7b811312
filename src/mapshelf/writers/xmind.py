"""Write XMind's ``.xmind`` format (since 2018): JSON in a zip archive.

* Sheets, floating topics, summaries, callouts, boundaries, relationships and styles map directly to
  XMind's. Further links, attributes and files become lines of the note (``xmind_topics``).
* XMind's boundaries and summaries refer to ranges of consecutive siblings. A boundary around other
  topics becomes several. A summary of other topics covers all from the first to the last of one
  branch; a summary of nothing becomes a floating topic.
* Images are members of the archive. A topic shows one; further images are in its note. Their size
  is written if it differs from that of the PNG: as numbers, as XMind does, although Minder 1.14
  crashes when it reads them.
* The output is deterministic: the archive has fixed dates, and all ids derive from the map.
* The format has no field for author, copyright and dates of the map. The program name is the one
  that XMind itself writes.
"""

import io
import zipfile
from collections.abc import Iterator
from typing import Final

import orjson

from mapshelf.model import Outline, Sheet, Topic, TopicKind
from mapshelf.writers.pictures import NONE, Pictures, shown_in
from mapshelf.writers.plain import one_line, sound
from mapshelf.writers.xmind_ranges import Ranges, ranges_of
from mapshelf.writers.xmind_topics import TopicWriter, member_of

_METADATA: Final = {"creator": {"name": "Vana", "version": "10.1.2.202004142327"}}
_DATE: Final = (1980, 1, 1, 0, 0, 0)
_READABLE: Final = 0o644 << 16
_GROUPS: Final = ("attached", "detached", "summary", "callout")
_SIDES: Final = "org.xmind.ui.map.unbalanced"
"""Provider of the extension that stores sides."""

_CLOCKWISE: Final = "org.xmind.ui.map.unbalanced"
_BOTH_SIDES: Final = "org.xmind.ui.map"
_ONE_SIDE: Final = "org.xmind.ui.logic."
"""Structures: main topics clockwise, from the top on both sides, or all on one side."""


def write(outline: Outline, pictures: Pictures = NONE) -> bytes:
    """Return ``outline`` as an XMind map; ``pictures`` are PNGs by digest."""
    members = {
        "content.json": b"".join(_content(outline, pictures)),
        "metadata.json": orjson.dumps(_METADATA),
    }
    for _, topic in outline.topics():
        for image in shown_in(topic, pictures):
            members[member_of(image)] = pictures[image.digest]
    manifest: dict[str, object] = {"file-entries": {name: {} for name in members}}
    members["manifest.json"] = orjson.dumps(manifest)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            member = zipfile.ZipInfo(name, _DATE)
            member.external_attr = _READABLE
            packed = zipfile.ZIP_DEFLATED if name.endswith(".json") else zipfile.ZIP_STORED
            archive.writestr(member, data, packed, 6)
    return buffer.getvalue()


def _content(outline: Outline, pictures: Pictures) -> Iterator[bytes]:
    topics = TopicWriter(outline, pictures)
    for place, sheet in enumerate(outline.sheets):
        yield b"," if place else b"["
        yield from _sheet(sheet, place + 1, topics)
    yield b"]"


def _sheet(sheet: Sheet, number: int, topics: TopicWriter) -> Iterator[bytes]:
    name = f"sheet-{number}"
    about: dict[str, object] = {
        "id": name,
        "class": "sheet",
        "title": one_line(sheet.title) or f"Map {number}",
        "topicPositioning": "free" if _is_placed(sheet) else "fixed",
    }
    if sheet.background:
        look = {"svg:fill": sheet.background}
        about["style"] = {"id": f"{name}-style", "properties": look}
    yield orjson.dumps(about)[:-1] + b',"rootTopic":'
    yield from _tree(sheet, ranges_of(sheet), topics)
    # Minder requires the ends of a relationship to precede it.
    relationships = [
        {
            "id": f"{name}-relationship-{place}",
            "end1Id": sound(arrow.start),
            "end2Id": sound(arrow.end),
            "title": sound(arrow.text),
            **_line(arrow.colour, f"{name}-relationship-{place}"),
        }
        for place, arrow in enumerate(sheet.relationships)
    ]
    yield b',"relationships":' + orjson.dumps(relationships) + b"}"


def _tree(sheet: Sheet, ranges: Ranges, topics: TopicWriter) -> Iterator[bytes]:
    """Yield the central topic with its descendants in pieces: JSON encoders limit the depth."""
    pending: list[bytes | Topic] = [sheet.root]
    while pending:
        item = pending.pop()
        if isinstance(item, bytes):
            yield item
            continue
        members = topics.members(item)
        if item is sheet.root:
            members.update(_sides(sheet, members.get("extensions", [])))
        below = _groups(item, sheet, ranges)
        yield orjson.dumps(members)[:-1]
        parts: list[bytes | Topic] = []
        for name, group in below:
            parts.append(b'%s"%s":[' % (b"," if parts else b',"children":{', name.encode()))
            for place, topic in enumerate(group):
                parts += [b",", topic] if place else [topic]
            parts.append(b"]")
        parts.append(b"}" * bool(parts) + _closed(ranges.members(item)))
        pending.extend(reversed(parts))


def _closed(last: dict[str, object]) -> bytes:
    """Return the end of an object, with its last members, which refer to earlier ones."""
    return b"," + orjson.dumps(last)[1:] if last else b"}"


def _groups(topic: Topic, sheet: Sheet, ranges: Ranges) -> list[tuple[str, list[Topic]]]:
    """Return the children of ``topic``, grouped by XMind's kinds."""
    callouts = [child for child in topic.children if child.kind is TopicKind.CALLOUT]
    attached = [child for child in topic.children if child.kind is not TopicKind.CALLOUT]
    floating = [*sheet.floating, *ranges.loose] if topic is sheet.root else []
    groups = (attached, floating, ranges.summaries.get(id(topic), []), callouts)
    return [(name, group) for name, group in zip(_GROUPS, groups, strict=True) if group]


def _sides(sheet: Sheet, extensions: object) -> dict[str, object]:
    """Return the members that assign main topics to sides: XMind fills the right side first."""
    attached = [child for child in sheet.root.children if child.kind is not TopicKind.CALLOUT]
    chosen = {child.side for child in attached}
    if chosen in ({"left"}, {"right"}):
        return {"structureClass": _ONE_SIDE + chosen.pop()}
    members: dict[str, object] = {"structureClass": _CLOCKWISE if sheet.clockwise else _BOTH_SIDES}
    lefts = [child.side == "left" for child in attached]
    if True in lefts and lefts == sorted(lefts):
        content = [{"name": "right-number", "content": str(lefts.count(False))}]
        sides = {"provider": _SIDES, "content": content}
        members["extensions"] = [*(extensions if isinstance(extensions, list) else ()), sides]
    return members


def _is_placed(sheet: Sheet) -> bool:
    return any(topic.position for topic in sheet.root.children)


def _line(colour: str, name: str) -> dict[str, object]:
    if not colour:
        return {}
    return {"style": {"id": f"{name}-style", "properties": {"line-color": colour}}}
