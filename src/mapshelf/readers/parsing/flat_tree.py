"""Build trees from flat lists of topics, each with a level or with the key of its parent.

Text formats show the level by indentation or repeated characters. Drawing programs write a list of
shapes, each with a reference to its parent. Both can be inconsistent: missing levels, missing
parents, cycles. This module handles that for all such formats: every topic in a file gets exactly
one place.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mapshelf.errors import TooLarge
from mapshelf.model import Topic
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.parsing.topic_tree import grow


class Levels:
    """Builds a tree of topics that are added in order, each with its level.

    The parent of a topic is the last one before it that has a lower level; a topic without such a
    one is a root. Levels may start at any number, and need not be consecutive.

    Attributes:
        roots: the roots so far, with everything below them.
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
            level: how deep it is.
            topic: without children.
            side: of maps that grow from their root to several sides in turns, the one meant: only
                topics of that side, and the root, can have ``topic`` below them.

        Raises:
            TooLarge: there are too many. (How deep they may be is for ``grow`` to say.)
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
    """A topic that names its parent.

    Attributes:
        topic: without children.
        parent: key of another member; of none, if the topic is a root.
        heirs: keys of its children in order, as listed in the file.
    """

    topic: Topic
    parent: str = ""
    heirs: Sequence[str] = ()


def joined(members: dict[str, Member]) -> list[Topic]:
    """Return the roots of ``members`` in their order, each topic with its children.

    Children come in the order their parent names them in, those it does not name after these.
    A topic that descends from itself, or from such a one, becomes a root where that is needed to
    give it a place.
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
    """Note in ``placed`` all that can be reached from ``start``."""
    pending = [start]
    while pending:
        key = pending.pop()
        placed.add(key)
        pending.extend(heir for heir in below[key] if heir not in placed)


def regrow(roots: Iterable[Topic], limits: Limits) -> tuple[Topic, ...]:
    """Return trees of raw topics as ``grow`` makes them: counted and cleaned.

    Raises:
        BrokenFile: there is no topic at all.
        TooLarge: there are too many, or they are nested too deep.
    """
    return grow(roots, _alone, _children, limits)


def _alone(topic: Topic) -> Topic:
    return replace(topic, children=[])


def _children(topic: Topic) -> list[Topic]:
    return topic.children
