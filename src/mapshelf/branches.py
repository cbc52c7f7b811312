"""The topics of a map that a search means, with the way to them from the root."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mapshelf.marking import Mark, Marker, marked
from mapshelf.model import Outline, Topic

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
class _Found:
    place: int
    depth: int
    topic: Topic
    parts: frozenset[int]
    in_text: int


def best_branches(outline: Outline, marker: Marker, title: str, count: int) -> list[Branch]:
    """Return up to ``count`` topics that say most of what ``marker`` marks, the shallow first.

    A topic's own text goes before its note. What another one or the map's ``title`` says already is
    left out.
    """
    ancestors: list[Topic] = []
    found: list[tuple[_Found, list[Topic]]] = []
    for place, (depth, topic) in enumerate(outline.topics()):
        del ancestors[depth:]
        in_text, in_note = _parts(marker, topic.text), _parts(marker, topic.note)
        if in_text or in_note:
            parts = in_text | in_note
            found.append((_Found(place, depth, topic, parts, len(in_text)), ancestors.copy()))
        ancestors.append(topic)
    best = sorted(found, key=lambda one: _merit(one[0]))
    return [_branch(one, above, marker) for one, above in _different(best, title, count)]


def _merit(found: _Found) -> tuple[int, int, int, int]:
    return -len(found.parts), -found.in_text, found.depth, found.place


def _different(
    best: Sequence[tuple[_Found, list[Topic]]], title: str, count: int
) -> list[tuple[_Found, list[Topic]]]:
    texts = {title}
    kept: list[tuple[_Found, list[Topic]]] = []
    for one, above in best:
        if one.topic.text not in texts and len(kept) < count:
            texts.add(one.topic.text)
            kept.append((one, above))
    return kept


def _parts(marker: Marker, text: str) -> frozenset[int]:
    return frozenset(mark.part for mark in marker.marks(text)) if text else frozenset()


def _branch(found: _Found, above: Sequence[Topic], marker: Marker) -> Branch:
    topic = found.topic
    text, marks = _excerpt(topic.text, marker.marks(topic.text))
    note, in_note = _excerpt(topic.note, marker.marks(topic.note))
    path = [_step(one.text) for one in above]
    return Branch(topic.id, path, text, marked(text, marks), marked(note, in_note) * bool(in_note))


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
        Mark(mark.start + shift, min(mark.end, end) + shift, mark.part)
        for mark in marks
        if start <= mark.start < end
    ]
    return "…" * (start > 0) + text[start:end] + "…" * (end < len(text)), moved
