"""Make the sheets of an outline sound, whatever the file says.

What topics refer to each other by is ids, which files may leave out, repeat, or use for topics that
are not there. So this runs after every topic has an id of its own
(``readers.parsing.topic_ids``): it cleans the words beside topics, and drops relationships,
boundaries and summaries that refer to nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, TypeVar

from mapshelf.model import Boundary, Outline, Relationship, Sheet, Summary, TopicKind
from mapshelf.readers.parsing.colours import colour
from mapshelf.readers.parsing.text_cleaning import clean, cut, one_line

Part = TypeVar("Part")

_LONGEST_TITLE: Final = 500
"""Bytes of the title of a sheet."""

_LONGEST_LABEL: Final = 4096
"""Bytes of the words on a relationship or boundary."""

MOST_RELATIONSHIPS: Final = 10_000
"""On one sheet; the most in a real map are some 200. Boundaries likewise."""


MOST_MEMBERS: Final = 100_000
"""Topics that the boundaries of a sheet name together, and its summaries: fifty thousand summaries
of a hundred topics each, which a file says in a megabyte, would take half a gigabyte."""


def sound_sheets(outline: Outline) -> Outline:
    """Return ``outline`` with sheets of which every part can be shown."""
    return replace(outline, sheets=tuple(map(_sound, outline.sheets)))


def _sound(sheet: Sheet) -> Sheet:
    ids = {topic.id for tree in sheet.trees() for _, topic in tree.walk()}
    for topic in sheet.floating:
        topic.kind = TopicKind.FLOATING
    for summary in sheet.summaries:
        summary.topic.kind = TopicKind.SUMMARY
    return Sheet(
        root=sheet.root,
        title=cut(one_line(clean(sheet.title)), _LONGEST_TITLE),
        floating=sheet.floating,
        relationships=_first(
            Relationship(*found[:2], _label(found.text), colour(found.colour))
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
        # The words of a summary stay; what is too much of it is about its first topic only.
        topics = _known(summary.topics if left > 0 else summary.topics[:1], ids)
        left -= len(topics)
        yield Summary(topics, summary.topic)


def _known(topics: Iterable[str], ids: set[str]) -> tuple[str, ...]:
    return tuple(topic for topic in dict.fromkeys(topics) if topic in ids)


def _label(text: str) -> str:
    return cut(clean(text), _LONGEST_LABEL)


def _first(parts: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(dict.fromkeys(parts))[:MOST_RELATIONSHIPS]
