"""Read MindMup 1 to 3: JSON with nested ideas.

* The keys of ``ideas`` are ranks: signed numbers. Ideas with positive ranks are on the right and
  come first, those with negative ranks are on the left. Both are sorted by the absolute value, as
  the program does.
* Up to version 2, the top-level object is the central topic. Since version 3, its children are.
* Notes are in ``attr``, as ``note`` or as an ``attachment``, which is usually HTML with embedded
  pictures.
* URLs in titles are links: the program has no other place for them.
* An idea has a position only if the author moved it. The position is relative to the parent, with x
  pointing away from the centre. It is used only for main topics: deeper ones would require the
  sizes in which the program drew their ancestors.
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Final

from mapshelf.errors import NotAMap
from mapshelf.model import Outline, Relationship, Sheet, Style, Topic, sheets_of
from mapshelf.readers.parsing.colours import colour
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.json_files import as_list, as_object, as_text, parse_json
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.numbers import number
from mapshelf.readers.parsing.rich_text import data_of_url, embedded_pictures
from mapshelf.readers.parsing.topic_tree import grow, reference

Idea = dict[str, object]

_MAPS_BELOW: Final = 3
"""The first version in which the central topics are children of the top-level object."""

_URL: Final = re.compile(r"""https?://[^\s<>"'\u3000-\u303f\uff00-\uffef]{1,4096}""", re.IGNORECASE)
_AFTER_URL: Final = ".,;:!?)]}"


def sniff(content: Content) -> bool:
    """Return whether ``content`` may be a map of MindMup; ``read`` checks more."""
    if content.archive is not None or not content.text[:100].lstrip().startswith("{"):
        return False
    return '"ideas"' in content.text


def read(content: Content) -> Outline:
    """Return the outline of a MindMup file with all its maps.

    Raises:
        NotAMap: it is JSON of another kind that contains ``"ideas"``.
        BrokenFile: it is not well-formed or has no topic.
        TooLarge: it exceeds a limit.
    """
    file = as_object(parse_json(content.text, content.limits))
    if "ideas" not in file or not isinstance(file["ideas"], dict):
        raise NotAMap("not a mind map: it is JSON of another kind")
    roots = _children(file) if _has_maps_below(file) else [file]
    mains = {
        id(idea): rank
        for root in roots
        for rank, idea in as_object(root.get("ideas")).items()
        if isinstance(idea, dict)
    }

    def topic_of(idea: Idea) -> Topic:
        topic = _topic(idea, content)
        if rank := mains.get(id(idea)):
            _put(topic, idea, rank)
        return topic

    grown = grow(roots, topic_of, _children, content.limits)
    arrows = list(_relationships([file] if roots[0] is file else [file, *roots]))
    return Outline(_sheets(grown, arrows), software="MindMup")


def _sheets(roots: tuple[Topic, ...], arrows: list[Relationship]) -> tuple[Sheet, ...]:
    """Return a sheet for each of ``roots``, with the relationships that start on it."""
    if not arrows:
        return sheets_of(roots)
    sheet_of = {topic.id: number for number, root in enumerate(roots) for _, topic in root.walk()}
    own: list[list[Relationship]] = [[] for _ in roots]
    for arrow in arrows:
        if arrow.start in sheet_of:
            own[sheet_of[arrow.start]].append(arrow)
    return tuple(
        Sheet(root, relationships=tuple(found)) for root, found in zip(roots, own, strict=True)
    )


def _has_maps_below(file: Idea) -> bool:
    version = file.get("formatVersion")
    return file.get("id") == "root" or (isinstance(version, int) and version >= _MAPS_BELOW)


def _children(idea: Idea) -> list[Idea]:
    ideas = as_object(idea.get("ideas"))
    return [as_object(ideas[rank]) for rank in sorted(ideas, key=_place)]


def _place(rank: str) -> tuple[bool, float]:
    try:
        found = float(rank)
    except ValueError:
        found = math.nan
    return found < 0, math.inf if math.isnan(found) else abs(found)


def _relationships(maps: Iterable[Idea]) -> Iterable[Relationship]:
    """Yield the relationships of ``maps``: the top-level object of a file, and its maps."""
    for found in (as_object(link) for each in maps for link in as_list(each.get("links"))):
        attributes = as_object(found.get("attr"))
        style = as_object(attributes.get("style"))
        yield Relationship(
            reference(as_text(found.get("ideaIdFrom"))),
            reference(as_text(found.get("ideaIdTo"))),
            as_text(style.get("label")) or as_text(attributes.get("label")),
            as_text(style.get("color")),
        )


# --- An idea -----------------------------------------------------------------------------------


def _topic(idea: Idea, content: Content) -> Topic:
    title = as_text(idea.get("title"))
    topic = Topic(id=as_text(idea.get("id")), text=title)
    if "://" in title:
        topic.links = tuple(url.rstrip(_AFTER_URL) for url in _URL.findall(title))
    attributes = as_object(idea.get("attr"))
    if attributes:
        topic.folded = attributes.get("collapsed") is True and bool(idea.get("ideas"))
        topic.style = _style(as_object(attributes.get("style")))
        if "icon" in attributes:
            _add_icon(topic, as_object(attributes["icon"]), content)
        _add_notes(topic, attributes, content)
    return topic


def _put(topic: Topic, idea: Idea, rank: str) -> None:
    """Set the side of a main topic, and its position if the author moved it."""
    is_left, distance = _place(rank)
    if distance < math.inf:
        topic.side = "left" if is_left else "right"
    position = as_list(as_object(idea.get("attr")).get("position"))
    if len(position) >= 2:
        topic.position = (number(position[0]) * (-1 if is_left else 1), number(position[1]))


def _add_icon(topic: Topic, icon: Mapping[str, object], content: Content) -> None:
    url = as_text(icon.get("url"))
    if url.startswith("data:"):
        width, height = number(icon.get("width")), number(icon.get("height"))
        topic.images += (content.images.add(data_of_url(url), width, height),)


def _add_notes(topic: Topic, attributes: Idea, content: Content) -> None:
    note = Note()
    plain = attributes.get("note")
    note.add_text(as_text(plain) or as_text(as_object(plain).get("text")))
    attachment = as_object(attributes.get("attachment"))
    kind = as_text(attachment.get("contentType")) or "text/html"
    body = as_text(attachment.get("content"))
    if kind == "text/html":
        note.add_html(body)
        topic.images += tuple(map(content.images.add, embedded_pictures(body)))
    elif kind.startswith("text/"):
        note.add_text(body)
    topic.note, topic.note_html = note.plain, note.html


def _style(style: Idea) -> Style | None:
    if not style:
        return None
    font = as_object(style.get("font"))
    words = as_object(style.get("text"))
    found = Style(
        text=colour(as_text(words.get("color")) or as_text(style.get("color"))),
        fill=colour(as_text(style.get("background")) or as_text(style.get("backgroundColor"))),
        border=colour(as_text(style.get("borderColor"))),
        bold=as_text(font.get("weight")) == "bold",
        italic=as_text(font.get("style")) == "italic",
    )
    return found if found != Style() else None
