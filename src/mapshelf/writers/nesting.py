"""How every writer goes through a map: one loop, which no depth of the tree can exhaust.

Most formats say where a topic ends as well as where it begins, which ``Topic.walk`` does not
tell. Recursion would, and would fail on the maps that are deep.
"""

from collections.abc import Iterable, Iterator

from mapshelf.model import Outline, Topic
from mapshelf.writers.plain import one_line

LONGEST_TITLE = 100
"""Characters of the text that stands over several sheets."""


def steps(roots: Iterable[Topic]) -> Iterator[tuple[bool, Topic]]:
    """Yield each topic twice: where it begins (True), and where all below it has ended (False)."""
    pending = [(True, root) for root in reversed(tuple(roots))]
    while pending:
        beginning, topic = pending.pop()
        yield beginning, topic
        if beginning:
            pending.append((False, topic))
            pending.extend((True, child) for child in reversed(topic.children))


def under_one_root(outline: Outline) -> Topic:
    """Return the one central topic of a map, for formats that have just one.

    Several sheets are put below a topic that names them all.
    """
    if len(outline.roots) == 1:
        return outline.roots[0]
    return Topic(title(outline), children=list(outline.roots))


def title(outline: Outline) -> str:
    """Return the central topics on one line."""
    names = ", ".join(filter(None, (one_line(root.text) for root in outline.roots)))
    return names if len(names) <= LONGEST_TITLE else names[: LONGEST_TITLE - 1].rstrip() + "…"
