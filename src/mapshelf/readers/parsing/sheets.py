"""Validate the sheets of an outline: drop dangling references and far places, and clean labels.

Relationships, boundaries and summaries refer to topics by id, which files may omit, repeat, or use
for missing topics. So this runs after ``readers.parsing.topic_ids`` has made all ids unique: it
cleans the texts outside topics, and drops elements that refer to no topic.

All readers pass here last. Several compute the places of topics only after ``topic_tree.grow`` has
checked them, so places are checked here again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, TypeVar

from mapshelf.model import Boundary, Outline, Sheet, Summary, TopicKind
from mapshelf.readers.parsing.colours import colour
from mapshelf.readers.parsing.places import is_near
from mapshelf.readers.parsing.text_cleaning import clean, cut, one_line

Part = TypeVar("Part")

_LONGEST_TITLE: Final = 500
"""Maximum length of the title of a sheet, in bytes."""

_LONGEST_LABEL: Final = 4096
"""Maximum length of the label of a relationship or boundary, in bytes."""

MOST_RELATIONSHIPS: Final = 10_000
"""Maximum per sheet; real maps have up to 200. The same applies to boundaries."""


MOST_MEMBERS: Final = 100_000
"""Maximum number of topic references in the boundaries of a sheet, and likewise in its summaries.
Without it, 50,000 summaries of a hundred topics each, which fit into a megabyte, would take half a
gigabyte."""


def sound_sheets(outline: Outline) -> Outline:
    """Return ``outline`` with only those parts of its sheets that can be shown."""
    return replace(outline, sheets=tuple(map(_sound, outline.sheets)))


def _sound(sheet: Sheet) -> Sheet:
    ids = set()
    for topic in sheet.topics():
        ids.add(topic.id)
        if topic.position and not is_near(topic.position):
            topic.position = None
    for topic in sheet.floating:
        topic.kind = TopicKind.FLOATING
    for summary in sheet.summaries:
        summary.topic.kind = TopicKind.SUMMARY
    return Sheet(
        root=sheet.root,
        title=cut(one_line(clean(sheet.title)), _LONGEST_TITLE),
        floating=sheet.floating,
        relationships=_first(
            found._replace(text=_label(found.text), colour=colour(found.colour))
            for found in sheet.relationships
            if found.start in ids and found.end in ids
        ),
        boundaries=_first(_boundaries(sheet, ids)),
        summaries=tuple(_summaries(sheet, ids)),
        background=colour(sheet.background),
        clockwise=sheet.clockwise,
    )


def _boundaries(sheet: Sheet, ids: set[str]) -> Iterator[Boundary]:
    left = MOST_MEMBERS
    for boundary in sheet.boundaries:
        topics = _known(boundary.topics, ids)
        left -= len(topics)
        if left < 0:
            return
        if topics:
            yield Boundary(topics, _label(boundary.text), colour(boundary.colour))


def _summaries(sheet: Sheet, ids: set[str]) -> Iterator[Summary]:
    left = MOST_MEMBERS
    for summary in sheet.summaries:
        # Beyond the limit, a summary keeps its topic, but only the first of its references.
        topics = _known(summary.topics if left > 0 else summary.topics[:1], ids)
        left -= len(topics)
        yield Summary(topics, summary.topic)


def _known(topics: Iterable[str], ids: set[str]) -> tuple[str, ...]:
    return tuple(topic for topic in dict.fromkeys(topics) if topic in ids)


def _label(text: str) -> str:
    return cut(clean(text), _LONGEST_LABEL)


def _first(parts: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(dict.fromkeys(parts))[:MOST_RELATIONSHIPS]
