"""Which topics of a map are drawn: all on its page, in a thumbnail as many as can be read.

A picture of three hundred pixels has room for some thirty topics. A larger map is not shrunk until
nobody can read it: the topics near the root are shown, and those below them are counted. Room is
given to the levels one by one, and evenly within a level. So a topic with a hundred children does
not take the room of one with three, and the picture keeps the shape of the map.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from mapshelf.model import Topic
from mapshelf.writers.plain import sound

LONGEST_TEXT: Final = 2000  # characters of a topic that are drawn; the page has all as text


@dataclass(slots=True)
class VisibleTopic:
    """A topic that is drawn.

    Attributes:
        text: the text of the topic.
        id: the id of the topic.
        hidden: how many topics below it are not shown.
        others: whether it stands for siblings that are not shown instead of a topic.
        children: the topics shown below it, in order.
    """

    text: str
    id: str = ""
    hidden: int = 0
    others: bool = False
    children: list["VisibleTopic"] = field(default_factory=list)


class Room(NamedTuple):
    """How much may be shown.

    Attributes:
        rows: topics that lie one above the other, both sides together.
        depth: levels below the centre.
    """

    rows: int
    depth: int


def whole(root: Topic) -> VisibleTopic:
    """Return all topics of a map."""
    top = _visible(root)
    pending = [(root, top)]
    while pending:
        topic, visible = pending.pop()
        visible.children = [_visible(child) for child in topic.children]
        pending.extend(zip(topic.children, visible.children, strict=True))
    return top


def sizes(root: Topic) -> dict[int, int]:
    """Return the number of topics in each subtree, by the ``id()`` of its root topic."""
    found: dict[int, int] = {}
    for topic in reversed([topic for _, topic in root.walk()]):
        found[id(topic)] = 1 + sum(found[id(child)] for child in topic.children)
    return found


def summarised(root: Topic, size: Mapping[int, int], room: Room) -> VisibleTopic:
    """Return as many topics of a map as there is room for, with counts of the rest.

    Args:
        root: the central topic.
        size: the result of ``sizes``.
        room: how much may be shown.
    """
    top = _visible(root)
    top.hidden = size[id(root)] - 1
    level = [(root, top)]
    free = room.rows - 1
    for _ in range(room.depth):
        level, free = _unfold(level, size, free)
    return top


_Level = list[tuple[Topic, VisibleTopic]]


def _unfold(level: _Level, size: Mapping[int, int], free: int) -> tuple[_Level, int]:
    """Show the children of one level while rows are free; return the next level and the free rows.

    A topic takes one row; its first child takes that row over.
    """
    parents = [(topic, visible) for topic, visible in level if topic.children]
    rows: dict[int, int] = {}
    # Smallest first: what they do not use of their share goes to the others.
    by_need = sorted(parents, key=lambda parent: len(parent[0].children))
    for left, (topic, _) in zip(range(len(by_need), 0, -1), by_need, strict=True):
        rows[id(topic)] = _rows(len(topic.children), free // left + 1)
        if not rows[id(topic)]:
            break  # the others need at least as many, and have no more
        free -= rows[id(topic)] - 1
    following: _Level = []
    for topic, visible in parents:
        if rows.get(id(topic)):
            following.extend(_show(topic, visible, size, rows[id(topic)]))
    return following, free


def _rows(children: int, available: int) -> int:
    """Return how many rows a topic gets for its children; 0 to show none."""
    if children <= available:
        return children
    return available if available >= _FEWEST else 0


def _show(topic: Topic, visible: VisibleTopic, size: Mapping[int, int], rows: int) -> _Level:
    """Add children to ``visible`` for all its rows; the last may stand for those without one."""
    count = len(topic.children)
    named = count if rows == count else rows - 1
    children = [(child, _visible(child)) for child in topic.children[:named]]
    for child, shown in children:
        shown.hidden = size[id(child)] - 1
    visible.children = [shown for _, shown in children]
    visible.hidden = 0
    if named < count:
        others = sum(size[id(child)] for child in topic.children[named:])
        visible.children.append(VisibleTopic("", hidden=others, others=True))
    return children


_FEWEST: Final = 2
"""Rows needed to show some children and the number of the others."""


def _visible(topic: Topic) -> VisibleTopic:
    return VisibleTopic(sound(topic.text[:LONGEST_TEXT]).strip(), topic.id)
