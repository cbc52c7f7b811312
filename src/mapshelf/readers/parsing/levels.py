"""Compute the level of each topic, which determines its style in a theme."""

from collections.abc import Iterator
from typing import NamedTuple

from mapshelf.model import Sheet, Topic, TopicKind


class Level(NamedTuple):
    """A topic and its place.

    Attributes:
        topic: the topic.
        kind: kind of the root of its tree; a callout starts a tree of its own.
        depth: depth below that root; 0 for the root, 1 for main branches.
        branch: number of its main branch, 0 if it is in none.
    """

    topic: Topic
    kind: TopicKind
    depth: int
    branch: int


def levels(sheet: Sheet) -> Iterator[Level]:
    """Yield all topics of a sheet with their places, parents before their children."""
    pending = [Level(tree, tree.kind, 0, 0) for tree in sheet.trees()]
    while pending:
        level = pending.pop()
        yield level
        for number, child in enumerate(level.topic.children):
            if child.kind is TopicKind.ATTACHED:
                branch = level.branch if level.depth else number
                pending.append(Level(child, level.kind, level.depth + 1, branch))
            else:
                pending.append(Level(child, child.kind, 0, level.branch))
