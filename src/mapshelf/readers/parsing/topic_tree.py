"""Build the topics of every format in one loop, with limits and clean text.

Formats differ only in how a topic is written and where its children are. A reader passes two
functions for these, and gets the traversal, the limits and the cleaning of text from here.
"""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from mapshelf.errors import BrokenFile, TooLarge
from mapshelf.model import Topic
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.parsing.text_cleaning import clean, cut, one_line, safe_html

Node = TypeVar("Node")

_MAX_REFERENCE: Final = 4096
"""Characters of an id or link. A longer one is left out: unlike text, it means nothing cut."""

_MAX_TAGS: Final = 200_000
"""HTML tags in all notes of a map that are kept for display, which take half a second to clean.
Notes beyond keep their text. The most in a map of the corpus are 2,343."""


def grow(
    roots: Iterable[Node],
    topic_of: Callable[[Node], Topic],
    children_of: Callable[[Node], Iterable[Node]],
    limits: Limits,
) -> tuple[Topic, ...]:
    """Return the topics for ``roots`` and all below them.

    Args:
        roots: the central node of each sheet, in the terms of the format.
        topic_of: makes a topic of a node, without its children and not yet clean.
        children_of: the nodes below a node, in the order the author gave them.
        limits: how many topics, how deep, how long a text.

    Raises:
        BrokenFile: there is no topic at all.
        TooLarge: there are too many, or they are nested too deep.
    """
    grown: list[Topic] = []
    pending = [(1, node, grown) for node in reversed(list(roots))]
    count = tags = 0
    while pending:
        depth, node, siblings = pending.pop()
        count += 1
        _check(count, depth, limits)
        topic = topic_of(node)
        tags += topic.note_html.count("<")
        if tags > _MAX_TAGS:
            topic.note_html = ""
        topic = _tidy(topic, limits)
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


def _tidy(topic: Topic, limits: Limits) -> Topic:
    topic.id = _reference(topic.id)
    topic.text = cut(clean(topic.text), limits.text)
    topic.note = cut(clean(topic.note), limits.text)
    topic.note_html = safe_html(topic.note_html) if topic.note_html else ""
    links = (_reference(link) for link in topic.links)
    topic.links = tuple(dict.fromkeys(link for link in links if link))
    return topic


def _reference(text: str) -> str:
    return "" if len(text) > _MAX_REFERENCE else one_line(clean(text))
