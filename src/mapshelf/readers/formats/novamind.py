"""Read NovaMind 5 and 6: an archive with ``content.xml``, a name that XMind uses, too.

* The tree consists of ``topic-node`` elements. Each refers by id to a ``topic`` element with the
  text.
* Not every ``topic-node`` is a topic. One of the type ``Boundary`` is a boundary around its parent;
  one in ``link-lines`` is a relationship with its label; one of the type ``Shape`` is a shape that
  the author placed, often a picture without text. A shape at the central topic becomes a floating
  topic, any other a callout.
* The description of the document is added to the note of the first central topic, and its tags
  become the tags of that topic.
* The manifest lists the picture files. It lists pictures in uncommon formats with a second file, a
  PNG as a fallback, which is preferred here.
* A colour may refer to one of the ten colours of the map's theme: ``C4V0`` is the fifth. ``V1``
  and higher are undocumented shades of it and are not read.
* Presentations and the resources of projects are not read.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.errors import UnreadableFile
from mapshelf.model import (
    Boundary,
    Image,
    Outline,
    Relationship,
    Sheet,
    Style,
    Task,
    Topic,
    TopicKind,
)
from mapshelf.readers.parsing.colours import colour
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.detached_topics import DetachedTopics, detach, give_ids
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.numbers import number
from mapshelf.readers.parsing.places import place
from mapshelf.readers.parsing.topic_tree import grow, reference
from mapshelf.readers.parsing.xml_files import parse_xml, root_tag
from mapshelf.readers.parsing.zip_files import Archive

_MEMBER: Final = "content.xml"
_META: Final = "meta.xml"
_STYLES: Final = "style-sheet.xml"
_OF_THEME: Final = re.compile(r"C(\d)V0")
_BOUNDARY: Final = "Boundary"
_SHAPE: Final = "Shape"
_ADORNMENT: Final = "adornments/adornment"
"""An icon. Its meaning is not documented, so it is read as a picture."""
_PICTURES: Final = (
    *("top-image", "bottom-image", "left-image", "right-image"),
    _ADORNMENT,
)
_DRAWN: Final = (("fill-style", "draws-fill"), ("line-style", "draws-stroke"))
"""The elements and attributes that tell whether a topic has a box: its fill and its outline."""
_ICON: Final = 24.0  # height of an icon in pixels
_STATES: Final = {"Checked": "done", "Unchecked": "todo"}
_SHAPES: Final = {"Oval": "ellipse", "Rectangle": "rectangle", "RoundedRectangle": "rounded"}


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of NovaMind."""
    archive = content.archive
    if archive is None or _MEMBER not in archive.names:
        return False
    data = archive.read(_MEMBER)
    return b"<topic-node" in data and root_tag(decode(data))[0] == "document"


def read(content: Content) -> Outline:
    """Return the outline of a NovaMind document with all its maps.

    Raises:
        BrokenFile: it is damaged or has no topic.
        TooLarge: it exceeds a limit.
    """
    archive = content.archive
    assert archive is not None  # ``sniff`` accepts only archives
    document = parse_xml(decode(archive.read(_MEMBER)), content.limits)
    said = {topic.get("id", ""): topic for topic in document.findall("topics/topic")}
    centres = document.findall("maps/map/topic-node")
    files = _files(archive, content.limits)

    themes = _themes(archive, content.limits)
    maps = document.findall("maps/map")
    beside = {
        child
        for centre in centres
        for child in centre.findall("sub-topics/topic-node")
        if child.get("type") == _SHAPE
    }
    palettes = {
        node: themes.get(map_.get("theme-ref", ""), [])
        for map_ in maps
        for node in map_.iter("topic-node")
    }

    def topic_of(node: Element) -> Topic:
        words = said.get(node.get("topic-ref", ""), node)
        topic = _topic(node, words, document if node is centres[0] else None)
        topic.style = _style(node, words.find("rich-text"), palettes[node])
        if node in beside:
            topic.kind = TopicKind.FLOATING
            topic.position = place(_at(node, "topic-node-view", "location"))
        topic.images = tuple(_images(words, files, content))
        return topic

    roots = grow(centres, topic_of, _children, content.limits)
    meta = _meta(archive, content.limits)
    return Outline(
        sheets=tuple(_sheets(list(map(detach, roots)), maps, said)),
        software="NovaMind",
        software_version=_at(meta, "last-saved/application", "version"),
        created=milliseconds(_at(meta, "created", "timestamp")),
        modified=milliseconds(_at(meta, "last-saved", "timestamp")),
    )


def _children(node: Element) -> list[Element]:
    children = node.findall("sub-topics/topic-node") + node.findall("callouts/topic-node")
    return [child for child in children if child.get("type") != _BOUNDARY]


def _sheets(
    detached: list[DetachedTopics], maps: list[Element], said: dict[str, Element]
) -> Iterator[Sheet]:
    """Yield a sheet for each central topic."""
    counts = [len(map_.findall("topic-node")) for map_ in maps]
    if any(count > 1 for count in counts):
        give_ids(detached)
    sheets = (Sheet(one.root, floating=one.floating) for one in detached)
    for map_, count in zip(maps, counts, strict=True):
        arrows, lines = tuple(_relationships(map_, said)), tuple(_boundaries(map_, said))
        yield from _connected(list(islice(sheets, count)), arrows, lines)


def _connected(
    sheets: list[Sheet], arrows: tuple[Relationship, ...], lines: tuple[Boundary, ...]
) -> Iterator[Sheet]:
    """Yield the sheets of a map with its relationships and boundaries.

    Each goes to the sheet that has its topic: if all of them went to all sheets, a map of thousands
    of central topics would take seconds.
    """
    if len(sheets) == 1:
        yield replace(sheets[0], relationships=arrows, boundaries=lines)
        return
    places = {topic.id: which for which, sheet in enumerate(sheets) for topic in sheet.topics()}
    arrows_at: dict[int, list[Relationship]] = {}
    lines_at: dict[int, list[Boundary]] = {}
    for arrow in arrows:
        arrows_at.setdefault(places.get(arrow.start, -1), []).append(arrow)
    for line in lines:
        lines_at.setdefault(places.get(line.topics[0], -1), []).append(line)
    for which, sheet in enumerate(sheets):
        yield replace(
            sheet,
            relationships=tuple(arrows_at.get(which, ())),
            boundaries=tuple(lines_at.get(which, ())),
        )


def _relationships(map_: Element, said: dict[str, Element]) -> Iterator[Relationship]:
    for line in map_.findall("link-lines/topic-node"):
        for ends in line.findall("link-line-data"):
            start, end = ends.get("start-topic-node-ref", ""), ends.get("end-topic-node-ref", "")
            yield Relationship(reference(start), reference(end), _label(line, said))


def _boundaries(map_: Element, said: dict[str, Element]) -> Iterator[Boundary]:
    for node in map_.iter("topic-node"):
        for child in node.findall("sub-topics/topic-node"):
            if child.get("type") == _BOUNDARY:
                yield Boundary((reference(node.get("id", "")),), _label(child, said))


def _label(node: Element, said: dict[str, Element]) -> str:
    text = said.get(node.get("topic-ref", ""), node).find("rich-text")
    return "" if text is None else _words(text)


def _files(archive: Archive, limits: Limits) -> dict[str, str]:
    """Return the archive member of each resource, by the id of the resource."""
    try:
        manifest = parse_xml(decode(archive.read("manifest.xml")), limits)
    except UnreadableFile:
        return {}
    return {
        each.get("id", ""): f"Resources/{each.get('fallback-url') or each.get('url', '')}"
        for each in manifest.findall("resources/resource")
    }


def _themes(archive: Archive, limits: Limits) -> dict[str, list[str]]:
    """Return the base colours of each theme, by the id of the theme."""
    try:
        styles = parse_xml(decode(archive.read(_STYLES)), limits)
    except UnreadableFile:
        return {}
    return {
        theme.get("id", ""): [
            colour(each.text, alpha_first=True)
            for each in theme.findall("color-set/base-colors/color")
        ]
        for theme in styles.findall("themes/theme")
    }


def _images(topic: Element, files: dict[str, str], content: Content) -> Iterator[Image]:
    for where in _PICTURES:
        for picture in topic.findall(where):
            name = files.get(picture.get("resource-ref", ""), "")
            high = _ICON if where == _ADORNMENT else 0.0
            yield content.images.add(content.member(name), height=high, alt=name.rpartition("/")[2])


def _task(topic: Element) -> Task | None:
    facts = topic.find("project-task")
    if facts is None:
        return None
    done = facts.get("percentage-complete")
    return Task(
        state=_STATES.get(topic.get("checked-state", ""), ""),
        progress=round(number(done)) if done else None,
        priority=round(number(facts.get("priority"))) or None,
        start=facts.get("start-time", "")[:10],
        due=facts.get("end-time", "")[:10],
    )


def _chosen(name: str, palette: list[str]) -> str:
    """Return a colour given by value or as a reference to ``palette``, empty if invalid."""
    found = _OF_THEME.fullmatch(name)
    if found is None:
        return colour(name, alpha_first=True)
    return dict(enumerate(palette)).get(int(found[1]), "")


def _style(node: Element, text: Element | None, palette: list[str]) -> Style | None:
    view = node.find("topic-node-view/topic-node-style")
    if view is None:
        view = Element("topic-node-style")
    runs = () if text is None else text.iter("text-run")
    inks = {run.get("font-color", "") for run in runs}
    shape = _at(view, "shape-style/topic-shape-style", "type")
    bare = all(_at(view, *drawn) == "False" for drawn in _DRAWN)
    style = Style(
        text=_chosen(inks.pop(), palette) if len(inks) == 1 else "",
        fill=_chosen(_at(view, "fill-style/solid-color", "color"), palette),
        line=_chosen(_at(view, "line-style", "color"), palette),
        shape="none" if bare else _SHAPES.get(shape, ""),
    )
    return style if style != Style() else None


def _topic(node: Element, topic: Element, document: Element | None) -> Topic:
    note = Note()
    for part in topic.findall("notes//rich-text"):
        note.add_text(_words(part))
    if document is not None:
        note.add_text(document.get("description", ""))
    text = topic.find("rich-text")
    return Topic(
        id=node.get("id", ""),
        text="" if text is None else _words(text),
        note=note.plain,
        links=tuple(_links(topic)),
        kind=TopicKind.CALLOUT if node.get("type") in ("Callout", _SHAPE) else TopicKind.ATTACHED,
        tags=_tags(document),
        task=_task(topic),
        folded=_at(node, "topic-node-view", "is-expanded") == "False" and bool(_children(node)),
    )


def _tags(document: Element | None) -> tuple[str, ...]:
    return (
        () if document is None else tuple(tag.text or "" for tag in document.findall("tags/item"))
    )


def _words(rich: Element) -> str:
    pieces: list[str] = []
    for run in rich.iter("text-run"):
        pieces.append(run.text or "")
        for part in run:
            pieces.append("\n" if part.tag == "br" else part.text or "")
            pieces.append(part.tail or "")
    return "".join(pieces)


def _links(topic: Element) -> Iterator[str]:
    for link in topic.iter("hyperlink"):
        yield link.get("url", "")


def _meta(archive: Archive, limits: Limits) -> Element:
    """Return the metadata of the archive; damaged metadata is ignored."""
    try:
        return parse_xml(decode(archive.read(_META)), limits)
    except UnreadableFile:
        return Element("meta")


def _at(parent: Element, path: str, attribute: str) -> str:
    found = parent.find(path)
    return "" if found is None else found.get(attribute, "")
