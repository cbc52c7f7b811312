"""Read VYM (View Your Mind): an archive with XML of nested ``branch`` elements.

* The XML file is ``map.xml``, or it has the name that the map had when it was saved.
* A map may have several centres (``mapcenter``). The first becomes the central topic, the others
  floating topics.
* Headings and notes are plain text or Qt's rich text, in an attribute or inside the element. In
  attributes VYM escapes quotation marks and line breaks with a backslash.
* Relationships (``xlink``) refer to topics by their path in the tree: ``mc:0,bo:2`` is the third
  branch of the first centre.
* A frame around a topic with all its children is a boundary. A frame around a single topic is part
  of its style.
* The comment on the map is added to the note of the first central topic.
* In maps that VYM imported from FreeMind, flags have names that start with ``freemind-``, and
  headings and notes may be HTML although they are declared as plain text.
* Black is the default text colour of headings and is ignored. Flags that users added are pictures;
  only their names are read.
* The XML begins with a DOCTYPE that declares nothing.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.model import (
    Boundary,
    Image,
    Marker,
    Outline,
    Relationship,
    Sheet,
    Style,
    Task,
    Topic,
)
from mapshelf.model.markers import marker
from mapshelf.readers.formats.freemind_markers import icon_marker
from mapshelf.readers.parsing.colours import colour
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.numbers import number
from mapshelf.readers.parsing.text_cleaning import element_to_text, html_to_text
from mapshelf.readers.parsing.topic_tree import grow, reference
from mapshelf.readers.parsing.xml_files import parse_xml, root_tag
from mapshelf.readers.parsing.zip_files import Archive

_ROOT: Final = "vymmap"
_USUAL: Final = "map.xml"
_MOST_CANDIDATES: Final = 8
_RICH: Final = re.compile(r"\s*<(?:!doctype\s+html|html)\b|<br\s*/?>", re.IGNORECASE)
_DOCUMENT: Final = re.compile(r"\s*<html><head\b")
_ESCAPED: Final = re.compile(r'\\(["n])')
_STEP: Final = re.compile(r"(mc|bo):(\d{1,6})")
_BLACK: Final = "#000000"

_FLAGS: Final = {
    "2arrow-down": "arrow-down",
    "2arrow-up": "arrow-up",
    "arrow-down": "arrow-down",
    "arrow-up": "arrow-up",
    "clock": "clock",
    "cross-red": "no",
    "exclamationmark": "exclamation",
    "flash": "lightning",
    "heart": "heart",
    "hook-green": "yes",
    "info": "info",
    "lamp": "idea",
    "lifebelt": "shield",
    "phone": "phone",
    "present": "gift",
    "questionmark": "question",
    "rose": "flower",
    "smiley-good": "face-happy",
    "smiley-omb": "face-surprised",
    "smiley-plain": "face-neutral",
    "smiley-sad": "face-sad",
    "stopsign": "stop",
    "thumb-down": "thumbs-down",
    "thumb-up": "thumbs-up",
    "wip": "task-started",
}
"""Markers for VYM's standard flags, and for users' own flags with the same names."""

_FREEMIND: Final = "freemind-"
_FREEMIND_ICONS: Final = {
    "desktopnew": "desktop_new",
    "mail": "Mail",
    "warning": "messagebox_warning",
}
"""FreeMind's icon names, by the names that VYM uses instead."""

_STATES: Final = {"NotStarted": "todo", "WIP": "started", "Finished": "done"}
_PRIORITIES: Final = {"A": 1, "B": 2, "C": 3, "D": 4}
_SHAPES: Final = {
    "Rectangle": "rectangle",
    "RoundedRectangle": "rounded",
    "Ellipse": "ellipse",
    "Cloud": "cloud",
}


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of VYM, in an archive or alone."""
    if content.archive is None:
        return content.root_name == _ROOT
    return _member(content.archive) is not None


def read(content: Content) -> Outline:
    """Return the outline of a VYM map.

    Raises:
        BrokenFile: it is damaged or has no central topic.
        TooLarge: it exceeds a limit.
    """
    archive = content.archive
    text = content.text if archive is None else decode(archive.read(_member(archive) or _USUAL))
    document = parse_xml(text, content.limits, doctype=_ROOT)
    centres = document.findall("mapcenter")
    comment = document.get("comment", "")

    flags = {flag.get("uuid", ""): flag.get("name", "") for flag in document.iter("userflagdef")}

    def topic_of(branch: Element) -> Topic:
        topic = _topic(branch, comment if branch is centres[0] else "")
        topic.markers = tuple(_markers(branch, flags))
        topic.images = tuple(_images(branch, content))
        return topic

    relationships = tuple(_relationships(document, centres))
    trees = grow(centres, topic_of, lambda branch: branch.findall("branch"), content.limits)
    _arrange(centres, trees)
    sheet = Sheet(
        root=trees[0],
        floating=trees[1:],
        relationships=relationships,
        boundaries=tuple(_boundaries(document)),
        background=document.get("backgroundColor", ""),
    )
    return Outline(
        sheets=(sheet,),
        software="VYM",
        software_version=document.get("version", ""),
        author=document.get("author", ""),
        modified=milliseconds(document.get("date")),
    )


def _arrange(centres: list[Element], trees: tuple[Topic, ...]) -> None:
    """Set the positions of further centres relative to the first, and the sides of main topics."""
    places = [(number(each.get("absPosX")), number(each.get("absPosY"))) for each in centres]
    for topic, (x, y) in zip(trees[1:], places[1:], strict=True):
        topic.position = (x - places[0][0], y - places[0][1])
    for branch, topic in zip(centres[0].findall("branch"), trees[0].children, strict=True):
        across = number(branch.get("relPosX"))
        topic.side = "left" if across < 0 else "right" if across > 0 else ""


def _relationships(document: Element, centres: list[Element]) -> Iterator[Relationship]:
    links = document.findall(".//xlink")
    used = Counter(map(_id, document.iter("branch"))) if links else Counter()
    for link in links:
        ends = [_found(link.get(name, ""), centres, used) for name in ("beginID", "endID")]
        yield Relationship(ends[0], ends[1], colour=link.get("color", ""))


def _found(path: str, centres: list[Element], used: Counter[str]) -> str:
    """Return the id of the topic at ``path``, empty if there is none.

    Old files have no ids, and a copied topic has the id of its original. In both cases the topic
    gets ``path`` as its id, so that the relationship refers to this topic only.
    """
    branches, found = centres, None
    for _, place in _STEP.findall(path):
        if int(place) >= len(branches):
            return ""
        found = branches[int(place)]
        branches = found.findall("branch")
    if found is None:
        return ""
    if not _id(found) or used[_id(found)] > 1:
        found.set("uuid", path)
    return _id(found)


def _boundaries(document: Element) -> Iterator[Boundary]:
    for branch in (*document.iter("mapcenter"), *document.iter("branch")):
        for frame in branch.findall("frame"):
            if frame.get("includeChildren") == "true":
                yield Boundary(
                    (_id(branch),), colour=colour(frame.get("penColor"), alpha_first=True)
                )


def _id(branch: Element) -> str:
    return reference(branch.get("uuid", ""))


def _markers(branch: Element, flags: dict[str, str]) -> Iterator[Marker]:
    for flag in branch.findall("standardflag"):
        name = (flag.text or "").strip()
        yield _flag(name)
    for flag in branch.findall("userflag"):
        named = flags.get(flag.get("uuid", "")) or flag.get("name") or ""
        yield marker(_FLAGS.get(named.removeprefix("flag-"), ""), named)


def _flag(name: str) -> Marker:
    if name.startswith(_FREEMIND):
        icon = name.removeprefix(_FREEMIND)
        icon = _FREEMIND_ICONS.get(icon, icon.replace("priority-", "full-"))
        return icon_marker(icon)._replace(original=name)
    return marker(_FLAGS.get(name, ""), name)


def _images(branch: Element, content: Content) -> Iterator[Image]:
    for picture in branch.findall("floatimage"):
        name = picture.get("href", "").removeprefix("file:")
        image = content.images.add(content.member(name), alt=picture.get("originalName", ""))
        across = number(picture.get("scaleX") or picture.get("scaleFactor") or "1")
        down = number(picture.get("scaleY") or picture.get("scaleFactor") or "1")
        yield image._replace(width=image.width * across, height=image.height * down)


def _member(archive: Archive) -> str | None:
    names = sorted(name for name in archive.names if name.endswith(".xml") and "/" not in name)
    names.sort(key=lambda name: name != _USUAL)
    for name in names[:_MOST_CANDIDATES]:
        if root_tag(decode(archive.read(name)))[0] == _ROOT:
            return name
    return None


def _topic(branch: Element, comment: str) -> Topic:
    note = Note()
    for part in branch.findall("vymnote"):
        _add(note, part)
    if _is_rich(comment):
        note.add_html(comment)
    else:
        note.add_text(comment)
    heading = branch.find("heading")
    return Topic(
        id=branch.get("uuid", ""),
        text="" if heading is None else _heading(heading),
        note=note.plain,
        note_html=note.html,
        links=(branch.get("url", ""), branch.get("vymLink", "")),
        task=_task(branch.find("task")),
        style=_style(heading, branch.find("frame")),
        folded=branch.get("scrolled") == "yes" and branch.find("branch") is not None,
    )


def _task(task: Element | None) -> Task | None:
    if task is None:
        return None
    state = _STATES.get(task.get("status", ""), "todo")
    return Task(state, priority=_PRIORITIES.get(task.get("prio", "")))


def _style(heading: Element | None, frame: Element | None) -> Style | None:
    text = "" if heading is None else colour(heading.get("textColor"))
    style = Style(text="" if text == _BLACK else text)
    if frame is not None and frame.get("includeChildren") != "true":
        style = replace(
            style,
            shape=_SHAPES.get(frame.get("frameType", ""), ""),
            fill=colour(frame.get("brushColor"), alpha_first=True),
            border=colour(frame.get("penColor"), alpha_first=True),
        )
    return style if style != Style() else None


def _heading(heading: Element) -> str:
    if len(heading):
        return element_to_text(heading)
    text = _text(heading)
    return html_to_text(text) if _is_rich(text, heading.get("textMode", "")) else text


def _add(note: Note, part: Element) -> None:
    if len(part):
        note.add_element(part)
        return
    text = _text(part)
    if _is_rich(text, part.get("textMode", "")):
        note.add_html(text)
    else:
        note.add_text(text)


def _text(part: Element) -> str:
    if "text" not in part.attrib:
        return part.text or ""
    return _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else '"', part.attrib["text"])


def _is_rich(text: str, mode: str = "") -> bool:
    if mode == "plainText":
        return _DOCUMENT.match(text) is not None
    return mode == "richText" or _RICH.search(text[:4000]) is not None
