"""Build trees from flat lists of topics, each with a level or with the key of its parent.

Text formats express the level by indentation or repeated characters. Drawing programs store a list
of shapes, each with a reference to its parent. Both can be inconsistent: missing levels, missing
parents, cycles. This module handles that for all such formats: every topic in a file appears
exactly once in the tree.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mapshelf.errors import TooLarge
from mapshelf.model import Topic
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.parsing.topic_tree import grow


class Levels:
    """Builds a tree of topics that are added in order, each with its level.

    The parent of a topic is the last preceding topic with a lower level; a topic without one is a
    root. Levels may start at any number, and need not be consecutive.

    Attributes:
        roots: the roots so far, with all their descendants.
    """

    def __init__(self, limits: Limits) -> None:
        self.roots: list[Topic] = []
        self._limits = limits
        self._count = 0
        self._root_level = 0
        self._paths: dict[str, list[tuple[int, Topic]]] = {}

    def add(self, level: int, topic: Topic, side: str = "") -> None:
        """Add ``topic``.

        Args:
            level: its level.
            topic: the topic, without children.
            side: its side, for formats that interleave the sides of a map: only topics of that
                side, and the root, can be its parent.

        Raises:
            TooLarge: there are too many topics. (``grow`` checks the depth.)
        """
        self._count += 1
        if self._count > self._limits.topics:
            raise TooLarge(f"it has more than {self._limits.topics:,} topics")
        path = self._paths.setdefault(side, [])
        while path and path[-1][0] >= level:
            path.pop()
        if path:
            path[-1][1].children.append(topic)
        elif self.roots and level > self._root_level:
            self.roots[-1].children.append(topic)
        else:
            self.roots.append(topic)
            self._root_level = level
            self._paths = {side: path}
        path.append((level, topic))


@dataclass(slots=True)
class Member:
    """A topic with the key of its parent.

    Attributes:
        topic: the topic, without children.
        parent: key of another member; unknown if the topic is a root.
        heirs: keys of its children in order, as listed in the file.
    """

    topic: Topic
    parent: str = ""
    heirs: Sequence[str] = ()


def joined(members: dict[str, Member]) -> list[Topic]:
    """Return the roots of ``members`` in their order, each topic with its children.

    Listed children come first, in the order of the list, then the others. To break a cycle, one of
    its topics becomes a root.
    """
    roots: list[str] = []
    below: dict[str, list[str]] = {key: [] for key in members}
    for key, member in members.items():
        below.get(member.parent, roots).append(key)
    starts: dict[str, None] = {}
    placed: set[str] = set()
    for key in (*roots, *members):
        if key not in placed:
            starts[key] = None
            _place(key, below, placed)
    for key, member in members.items():
        rank = {heir: position for position, heir in enumerate(member.heirs)}
        heirs = [heir for heir in below[key] if heir not in starts]
        named = sorted((heir for heir in heirs if heir in rank), key=rank.__getitem__)
        unnamed = (heir for heir in heirs if heir not in rank)
        member.topic.children = [members[heir].topic for heir in (*named, *unnamed)]
    return [members[key].topic for key in starts]


def _place(start: str, below: dict[str, list[str]], placed: set[str]) -> None:
    """Add to ``placed`` everything reachable from ``start``."""
    pending = [start]
    while pending:
        key = pending.pop()
        placed.add(key)
        pending.extend(heir for heir in below[key] if heir not in placed)


def regrow(roots: Iterable[Topic], limits: Limits) -> tuple[Topic, ...]:
    """Return trees of raw topics in the form ``grow`` returns: counted and cleaned.

    Raises:
        BrokenFile: there is no topic.
        TooLarge: there are too many, or they are nested too deep.
    """
    return grow(roots, _alone, _children, limits)


def _alone(topic: Topic) -> Topic:
    return replace(topic, children=[])


def _children(topic: Topic) -> list[Topic]:
    return topic.children
