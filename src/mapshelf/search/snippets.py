"""The topics of a map that a search means, with the way to them from the root."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from mapshelf.model import Outline, Topic
from mapshelf.search.highlight import Mark, Marker, marked

LONGEST_EXCERPT: Final = 300
"""Characters of a text that are shown."""

BEFORE: Final = 60
"""Characters shown before the first mark, where a text is too long to be shown whole."""

LONGEST_STEP: Final = 100
"""Characters shown of each topic on the way."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A topic that a search means.

    Attributes:
        id: the topic's.
        path: texts of the topics from the root down to the one above it.
        text: what it says, or an excerpt.
        marked: the same as HTML, all escaped but for ``mark`` elements around what was meant.
        note: an excerpt of its note in the same form, empty if nothing in it was meant.
    """

    id: str
    path: list[str]
    text: str
    marked: str
    note: str


@dataclass(frozen=True, slots=True)
class _Way:
    """A topic and the way to it: long ways share their beginnings, for maps are large and deep."""

    above: "_Way | None"
    topic: Topic

    def path(self) -> list[str]:
        """Return the texts of the topics above, from the root down."""
        texts: list[str] = []
        way = self.above
        while way:
            texts.append(_step(way.topic.text))
            way = way.above
        return texts[::-1]


@dataclass(frozen=True, slots=True)
class _Found:
    way: _Way
    merit: tuple[int, int, int, int]
    says: tuple[str, str]


def best_branches(
    outline: Outline, marker: Marker, title: str, count: int, most: int
) -> list[Branch]:
    """Return up to ``count`` topics that say most of what ``marker`` marks, the shallow first.

    A topic's own text goes before its note. What another one or the map's ``title`` says already is
    left out, unless a note says more. Only the first ``most`` topics are looked at.
    """
    best: list[_Found] = []
    said = {(title, "")}
    for found in sorted(_found(outline, marker, most), key=lambda found: found.merit):
        if found.says not in said:
            said.add(found.says)
            best.append(found)
        if len(best) == count:
            break
    return [_branch(found.way, marker) for found in best]


def _found(outline: Outline, marker: Marker, most: int) -> Iterator[_Found]:
    ways: list[_Way | None] = [None]
    for place, (depth, topic) in enumerate(islice(outline.topics(), most)):
        del ways[depth + 1 :]
        way = _Way(ways[depth], topic)
        ways.append(way)
        in_text, in_note = marker.said(topic.text), marker.said(topic.note)
        if in_text or in_note:
            merit = (-len(in_text | in_note), -len(in_text), depth, place)
            yield _Found(way, merit, (topic.text, topic.note if in_note else ""))


def _branch(way: _Way, marker: Marker) -> Branch:
    topic = way.topic
    text, marks = _excerpt(topic.text, marker.marks(topic.text))
    note, in_note = _excerpt(topic.note, marker.marks(topic.note))
    shown = marked(note, in_note) if in_note else ""
    return Branch(topic.id, way.path(), text, marked(text, marks), shown)


def _step(text: str) -> str:
    return text if len(text) <= LONGEST_STEP else text[: LONGEST_STEP - 1] + "…"


def _excerpt(text: str, marks: Sequence[Mark]) -> tuple[str, list[Mark]]:
    """Return the part of a long text that has the first mark, with the marks in it."""
    if len(text) <= LONGEST_EXCERPT:
        return text, list(marks)
    first = marks[0].start if marks else 0
    start = max(0, min(first - BEFORE, len(text) - LONGEST_EXCERPT))
    end = start + LONGEST_EXCERPT
    shift = (start > 0) - start
    moved = [
        Mark(mark.start + shift, min(mark.end, end) + shift)
        for mark in marks
        if start <= mark.start < end
    ]
    return "…" * (start > 0) + text[start:end] + "…" * (end < len(text)), moved
