"""Build the topic trees of all formats in one loop, with limits and clean text.

Formats differ only in how they store a topic and its children. A reader passes a function for each;
this module does the traversal, enforces the limits and cleans the text.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final, TypeVar

from mapshelf.errors import BrokenFile, TooLarge
from mapshelf.formats.outline_size import check_size
from mapshelf.model import TASK_STATES, Attachment, Image, Marker, Style, Task, Topic
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.parsing.places import FARTHEST, is_near
from mapshelf.readers.parsing.text_cleaning import clean, cut, one_line, safe_html

Node = TypeVar("Node")

_MAX_REFERENCE: Final = 4096
"""Maximum characters of an id or link. Longer ones are dropped: a truncated one is useless."""

_MAX_TAGS: Final = 200_000
"""Maximum HTML tags for display in all notes of a map; sanitising them takes half a second.
Further notes are plain text. The most in a map of the corpus are 2,343."""

_LONGEST_LINE: Final = 500
"""Maximum bytes of a tag, the name of an attribute or file, or a task resource."""

_LONGEST_LABEL: Final = 4096
"""Maximum bytes of the value of an attribute, and of a formula."""

_LONGEST_DETAILS: Final = 2000
"""Maximum characters of the details of a topic, which are in its note too."""

MOST_BESIDE: Final = 100
"""Maximum markers, tags, attributes, images and attachments of one topic, for each kind."""

_LARGEST_TYPE: Final = 1000.0
"""Font sizes and line widths from here on count as not set. Programs offer up to some hundred."""

_LARGEST_ATTACHMENT: Final = 1 << 40
"""Sizes of attachments in bytes beyond this count as unknown: they are only a claim of the file."""

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d)?")


def grow(
    roots: Iterable[Node],
    topic_of: Callable[[Node], Topic],
    children_of: Callable[[Node], Iterable[Node]],
    limits: Limits,
) -> tuple[Topic, ...]:
    """Return the trees of topics for ``roots``.

    Args:
        roots: the central node of each sheet, in the types of the format.
        topic_of: returns the topic for a node, without its children and not yet cleaned.
        children_of: returns the children of a node, in the author's order.
        limits: limits for the number and depth of topics and the length of texts.

    Raises:
        BrokenFile: there is no topic.
        TooLarge: there are too many, they are nested too deep, or their texts are too long.
    """
    grown: list[Topic] = []
    pending = [(1, node, grown) for node in reversed(list(roots))]
    count = tags = letters = 0
    while pending:
        depth, node, siblings = pending.pop()
        count += 1
        _check(count, depth, limits)
        topic = topic_of(node)
        tags += topic.note_html.count("<")
        if tags > _MAX_TAGS:
            topic.note_html = ""
        topic = _tidy(topic, limits)
        letters += _letters(topic)
        check_size(letters, limits.texts)
        siblings.append(topic)
        children = list(children_of(node))
        pending.extend((depth + 1, child, topic.children) for child in reversed(children))
    if not grown:
        raise BrokenFile("it has no topics")
    return tuple(grown)


def _check(count: int, depth: int, limits: Limits) -> None:
    if count > limits.topics:
        raise TooLarge(f"it has more than {limits.topics:,} topics")
    if depth > limits.depth:
        raise TooLarge(f"its topics are nested more than {limits.depth} deep")


def _letters(topic: Topic) -> int:
    """Return the characters of the long texts of a topic; their bytes are at least as many.

    Small files may contain these texts once, and refer to them in many topics.
    """
    texts = (topic.text, topic.text_html, topic.note, topic.note_html, topic.details, topic.formula)
    attributes = sum(len(name) + len(value) for name, value in topic.attributes)
    return sum(map(len, texts)) + sum(map(len, topic.links)) + attributes


def _tidy(topic: Topic, limits: Limits) -> Topic:
    topic.id = reference(topic.id)
    topic.text = cut(clean(topic.text), limits.text)
    topic.note = cut(clean(topic.note), limits.text)
    topic.note_html = safe_html(topic.note_html) if topic.note_html else ""
    links = map(reference, topic.links)
    topic.links = tuple(dict.fromkeys(link for link in links if link))
    if topic.text_html:
        topic.text_html = safe_html(topic.text_html)
    if topic.formula:
        topic.formula = cut(clean(topic.formula), _LONGEST_LABEL)
    if topic.markers:
        # Duplicates are preserved: three stars are three stars.
        topic.markers = tuple(map(_tidy_marker, topic.markers[:MOST_BESIDE]))
    if topic.tags:
        topic.tags = _lines(topic.tags)
    if topic.attributes:
        _tidy_attributes(topic)
    if topic.details:
        topic.details = clean(topic.details)[:_LONGEST_DETAILS].strip()
    topic.images = tuple(_tidy_image(image) for image in topic.images[:MOST_BESIDE])
    if topic.attachments:
        topic.attachments = tuple(
            Attachment(_line(name), size if 0 < size <= _LARGEST_ATTACHMENT else 0)
            for name, size in topic.attachments[:MOST_BESIDE]
            if name.strip()
        )
    if topic.task:
        topic.task = _tidy_task(topic.task)
    _tidy_looks(topic)
    return topic


def _tidy_looks(topic: Topic) -> None:
    """Remove the numbers of a topic's style and position that nothing can be drawn with."""
    if topic.position and not is_near(topic.position):
        topic.position = None
    style = topic.style
    if style and not all(0 <= size < _LARGEST_TYPE for size in (style.size, style.line_width)):
        size, width = (
            size if 0 < size < _LARGEST_TYPE else 0.0 for size in (style.size, style.line_width)
        )
        tidy = replace(style, size=size, line_width=width)
        topic.style = tidy if tidy != Style() else None


def _tidy_attributes(topic: Topic) -> None:
    topic.attributes = tuple(
        (_line(name), cut(clean(value), _LONGEST_LABEL))
        for name, value in topic.attributes[:MOST_BESIDE]
        if name.strip() or value.strip()
    )
    shown = map(_line, topic.shown_attributes[:MOST_BESIDE])
    topic.shown_attributes = tuple(dict.fromkeys(shown))


def _tidy_marker(marker: Marker) -> Marker:
    return Marker(marker.name, _line(marker.original)) if len(marker.original) > 40 else marker


def _tidy_image(image: Image) -> Image:
    width, height = (side if 0 < side <= FARTHEST else 0.0 for side in image[1:3])
    return image._replace(width=width, height=height, alt=_line(image.alt))


def _tidy_task(task: Task) -> Task | None:
    """Return ``task`` with values in their valid ranges, ``None`` if no value is set."""
    done, first = task.progress, task.priority
    tidy = Task(
        task.state if task.state in TASK_STATES else "",
        min(100, max(0, done)) if done is not None else None,
        first if first is not None and first in range(1, 10) else None,
        task.start if _DATE.fullmatch(task.start) else "",
        task.due if _DATE.fullmatch(task.due) else "",
        _lines(task.resources),
    )
    return tidy if tidy != Task() else None


def _line(text: str) -> str:
    return cut(one_line(clean(text)), _LONGEST_LINE)


def _lines(texts: Iterable[str]) -> tuple[str, ...]:
    """Return ``texts`` without duplicates and empty texts."""
    return tuple(dict.fromkeys(filter(None, map(_line, texts))))[:MOST_BESIDE]


def reference(text: str) -> str:
    """Normalise an id or link, empty if it is too long.

    Readers also pass ids that refer to topics through this function before comparing them.
    """
    return "" if len(text) > _MAX_REFERENCE else one_line(clean(text))
