"""The traversal of every writer: a loop without recursion, so the depth of a map does not matter.

Most formats mark where a topic ends as well as where it begins, which ``Topic.walk`` does not show.
Recursion would, but fails for deep maps.
"""

from collections.abc import Iterable, Iterator

from mapshelf.model import Outline, Topic
from mapshelf.writers.plain import one_line

LONGEST_TITLE = 100
"""Maximum of characters of the text above several sheets."""


def steps(roots: Iterable[Topic]) -> Iterator[tuple[bool, Topic]]:
    """Yield each topic twice: when it begins (True), and after all topics below it (False)."""
    pending = [(True, root) for root in reversed(tuple(roots))]
    while pending:
        beginning, topic = pending.pop()
        yield beginning, topic
        if beginning:
            pending.append((False, topic))
            pending.extend((True, child) for child in reversed(topic.children))


def under_one_root(outline: Outline) -> Topic:
    """Return one central topic for a map, for formats that have only one.

    Several sheets are attached to a topic that names them all.
    """
    if len(outline.roots) == 1:
        return outline.roots[0]
    return Topic(title(outline), children=list(outline.roots))


def title(outline: Outline) -> str:
    """Return the central topics on one line."""
    names = ", ".join(filter(None, (one_line(root.text) for root in outline.roots)))
    return names if len(names) <= LONGEST_TITLE else names[: LONGEST_TITLE - 1].rstrip() + "…"
