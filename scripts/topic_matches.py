"""Count how much of an export another program keeps: topics, icons, arrows and so on.

Other programs give topics new ids. So a topic is identified by its place: the number of its sheet
and of every branch on the path to it. It counts as found if the topic at the same place has the
same words. An icon or other part of a topic counts as found if the topic at the same place has it,
too.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import unescape
from typing import Final, NamedTuple

from mapshelf.model import Outline, Topic, TopicKind
from mapshelf.readers.parsing.topic_ids import assign_topic_ids
from mapshelf.writers.nesting import under_one_root

_NOTATION: Final = re.compile(r"\]\([^()\s]*\)|</?[a-z][^<>]*>|^\s*\d+\.\s", re.MULTILINE)
"""Link targets and list numbers in Markdown, and HTML tags."""

Order = Callable[[Topic], Topic]
"""Returns a central topic with its branches in the order of a program."""

Place = tuple[int, ...]

THINGS: Final = (
    *("topics", "notes", "links", "icons", "arrows", "arrow labels", "boundaries"),
    *("pictures", "tags", "tasks", "folded"),
)


class Matches(NamedTuple):
    """What was exported, what was found, and examples of what was not."""

    exported: Counter[str]
    found: Counter[str]
    missing: list[str]


class _Map(NamedTuple):
    topics: dict[Place, Topic]
    places: dict[str, Place]
    outline: Outline


def matches(export: Outline, saved: Outline, suffix: str, order: Order) -> Matches:
    """Return which parts of the map ``export``, in the format ``suffix``, are in ``saved``."""
    assign_topic_ids(export)
    roots = list(saved.roots)
    if suffix == "xmind":
        # Callouts and floating topics are optional; the places of others do not depend on them.
        ours = [_without_callouts(root) for root in export.roots]
    else:
        central = order(under_one_root(export))
        # Programs that support several central topics need no common parent.
        ours = central.children if 1 < len(roots) == len(central.children) else [central]
    mine, theirs = _placed(export, ours), _placed(saved, roots)
    result = Matches(Counter(), Counter(), [])
    for _, topic in export.topics():
        place = mine.places.get(topic.id)
        _match_topic(topic, theirs.topics.get(place) if place else None, result)
        for link in topic.links:
            found = place in theirs.topics and _has_link(link, theirs.topics[place], mine, theirs)
            _count("links", result, link, found=found)
    _match_lines(mine, theirs, result)
    return result


def _placed(outline: Outline, roots: list[Topic]) -> _Map:
    topics = dict(_places(roots))
    return _Map(topics, {topic.id: place for place, topic in topics.items() if topic.id}, outline)


def _places(roots: list[Topic]) -> Iterator[tuple[Place, Topic]]:
    pending: list[tuple[Place, Topic]] = [((number,), root) for number, root in enumerate(roots)]
    while pending:
        place, topic = pending.pop()
        yield place, topic
        pending += [((*place, number), child) for number, child in enumerate(topic.children)]


def _without_callouts(root: Topic) -> Topic:
    """Return ``root`` without the callouts in it."""
    copy = replace(root)
    for _, topic in copy.walk():
        kept = [child for child in topic.children if child.kind is not TopicKind.CALLOUT]
        topic.children = list(map(replace, kept))
    return copy


def _match_topic(mine: Topic, theirs: Topic | None, result: Matches) -> None:
    other = theirs or Topic("")
    same = theirs is not None and _words(mine.text) == _words(other.text)
    _count("topics", result, f"{mine.text!r} became {other.text!r}", found=same)
    if _letters(mine.note):
        same_note = _letters(mine.note) in _letters(other.note)
        _count("notes", result, f"{mine.note!r} became {other.note!r}", found=same_note)
    names = {marker.name for marker in other.markers}
    for marker in mine.markers:
        _count("icons", result, marker.name, found=marker.name in names)
    for tag in mine.tags:
        _count("tags", result, tag, found=tag in other.tags)
    shown = len(other.images) + len(other.attachments)
    for number, image in enumerate(mine.images):
        _count("pictures", result, image.alt, found=number < shown)
    if mine.task and mine.task.state:
        kept = bool(other.task and other.task.state == mine.task.state)
        _count("tasks", result, mine.task.state, found=kept)
    if mine.folded:
        _count("folded", result, mine.text, found=other.folded)


def _has_link(link: str, topic: Topic, mine: _Map, theirs: _Map) -> bool:
    if link in topic.links or link in topic.note:
        return True
    ends = [theirs.places.get(other[1:]) for other in topic.links if other.startswith("#")]
    return link.startswith("#") and mine.places.get(link[1:], ()) in ends


def _match_lines(mine: _Map, theirs: _Map, result: Matches) -> None:
    arrows = {(start, end): text for start, end, text in _arrows(theirs)}
    for start, end, text in _arrows(mine):
        _count("arrows", result, text, found=(start, end) in arrows)
        if text:
            _count("arrow labels", result, text, found=arrows.get((start, end)) == text)
    lines = set(_boundaries(theirs))
    for line in _boundaries(mine):
        _count("boundaries", result, str(line), found=line in lines)


def _arrows(own: _Map) -> Iterator[tuple[Place | None, Place | None, str]]:
    for sheet in own.outline.sheets:
        for arrow in sheet.relationships:
            yield own.places.get(arrow.start), own.places.get(arrow.end), arrow.text


def _boundaries(own: _Map) -> Iterator[frozenset[Place | None]]:
    for sheet in own.outline.sheets:
        for line in sheet.boundaries:
            yield frozenset(map(own.places.get, line.topics))


def _count(thing: str, result: Matches, item: str, *, found: bool) -> None:
    result.exported[thing] += 1
    result.found[thing] += found
    if not found:
        result.missing.append(f"{thing}: {item:.160}")


def _words(text: str) -> str:
    return " ".join(text.split())


def _letters(text: str) -> str:
    """Return only letters and digits: programs have their own notations for lists and links."""
    return "".join(filter(str.isalnum, unescape(_NOTATION.sub("", text))))


def in_order(root: Topic) -> Topic:
    """Return ``root`` unchanged."""
    return replace(root)
