"""Make the sheets of an outline sound, whatever the file says.

What topics refer to each other by is ids, which files may leave out, repeat, or use for topics that
are not there. So this runs after every topic has an id of its own
(``readers.parsing.topic_ids``): it cleans the words beside topics, and drops relationships,
boundaries and summaries that refer to nothing.
"""

from collections.abc import Iterable
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
        boundaries=_first(
            Boundary(topics, _label(boundary.text), colour(boundary.colour))
            for boundary in sheet.boundaries
            if (topics := _known(boundary.topics, ids))
        ),
        summaries=tuple(
            Summary(_known(summary.topics, ids), summary.topic) for summary in sheet.summaries
        ),
        background=colour(sheet.background),
    )


def _known(topics: Iterable[str], ids: set[str]) -> tuple[str, ...]:
    return tuple(topic for topic in dict.fromkeys(topics) if topic in ids)


def _label(text: str) -> str:
    return cut(clean(text), _LONGEST_LABEL)


def _first(parts: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(dict.fromkeys(parts))[:MOST_RELATIONSHIPS]
