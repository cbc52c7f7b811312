"""What of a map is drawn: all of it on its page, what can be read in a thumbnail.

A picture of three hundred pixels has room for some thirty topics. A map with more is not made
smaller until it is grey noise: topics near the centre are shown, those below them counted. Room is
given out level by level and evenly, so that a branch with a hundred topics does not take it from
one with three, and the picture keeps the shape of the map.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from mapshelf.model import Topic
from mapshelf.writers.plain import sound

LONGEST_TEXT: Final = 2000
"""Characters of a topic that are drawn; its page has all of them in words."""


@dataclass(slots=True)
class Branch:
    """A topic as it is drawn.

    Attributes:
        text: what it says.
        id: id of the topic.
        hidden: how many topics below it are not shown.
        others: whether it is no topic, but stands for the siblings that are not shown.
        children: those that are, in order.
    """

    text: str
    id: str = ""
    hidden: int = 0
    others: bool = False
    children: list["Branch"] = field(default_factory=list)


class Room(NamedTuple):
    """How much may be shown.

    Attributes:
        rows: topics that lie one above the other, both sides together.
        depth: levels below the centre.
    """

    rows: int
    depth: int


def whole(root: Topic) -> Branch:
    """Return all of a map."""
    top = _branch(root)
    pending = [(root, top)]
    while pending:
        topic, branch = pending.pop()
        branch.children = [_branch(child) for child in topic.children]
        pending.extend(zip(topic.children, branch.children, strict=True))
    return top


def sizes(root: Topic) -> dict[int, int]:
    """Return how many topics there are at and below each topic, by its ``id()``."""
    found: dict[int, int] = {}
    for topic in reversed([topic for _, topic in root.walk()]):
        found[id(topic)] = 1 + sum(found[id(child)] for child in topic.children)
    return found


def summarised(root: Topic, size: Mapping[int, int], room: Room) -> Branch:
    """Return as much of a map as there is room for, with counts of the rest.

    Args:
        root: the central topic.
        size: as ``sizes`` gives it.
        room: how much may be shown.
    """
    top = _branch(root)
    top.hidden = size[id(root)] - 1
    level = [(root, top)]
    free = room.rows - 1
    for _ in range(room.depth):
        level, free = _unfold(level, size, free)
    return top


_Level = list[tuple[Topic, Branch]]


def _unfold(level: _Level, size: Mapping[int, int], free: int) -> tuple[_Level, int]:
    """Show the children of one level, as far as rows are free; return the next, and what is left.

    A topic without children shown has a row, which the first of them takes over.
    """
    parents = [(topic, branch) for topic, branch in level if topic.children]
    rows: dict[int, int] = {}
    # The smallest are served first: what they leave of their share is for the others.
    by_need = sorted(parents, key=lambda parent: len(parent[0].children))
    for left, (topic, _) in zip(range(len(by_need), 0, -1), by_need, strict=True):
        rows[id(topic)] = _rows(len(topic.children), free // left + 1)
        if not rows[id(topic)]:
            break  # the others need no less, and would get what this one could not use
        free -= rows[id(topic)] - 1
    following: _Level = []
    for topic, branch in parents:
        if rows.get(id(topic)):
            following.extend(_show(topic, branch, size, rows[id(topic)]))
    return following, free


def _rows(children: int, available: int) -> int:
    """Return how many rows a topic gets for its children; 0 to show none of them."""
    if children <= available:
        return children
    return available if available >= _FEWEST else 0


def _show(topic: Topic, branch: Branch, size: Mapping[int, int], rows: int) -> _Level:
    """Give ``branch`` children for all its rows; the last may stand for those without one."""
    count = len(topic.children)
    named = count if rows == count else rows - 1
    children = [(child, _branch(child)) for child in topic.children[:named]]
    for child, shown in children:
        shown.hidden = size[id(child)] - 1
    branch.children = [shown for _, shown in children]
    branch.hidden = 0
    if named < count:
        others = sum(size[id(child)] for child in topic.children[named:])
        branch.children.append(Branch("", hidden=others, others=True))
    return children


_FEWEST: Final = 2
"""Rows that it takes to show some children and the number of the others."""


def _branch(topic: Topic) -> Branch:
    return Branch(sound(topic.text[:LONGEST_TEXT]).strip(), topic.id)
