"""Flatten outlines into rows, so that two can be compared iteratively in linear time.

Row 0 is the map itself, the parent of the root topics of all sheets. Parents precede their
children.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from mapshelf.model import Outline, Topic

MAP: Final = 0
"""Row of the map itself."""

_NO_TOPIC: Final = Topic("")


@dataclass(slots=True)
class FlatOutline:
    """The topics of a map, indexed by row.

    Attributes:
        topics: the topics; row ``MAP`` has an empty one.
        parents: row of each parent, -1 for the map itself.
        children: rows of the children, in order.
        places: index of each topic among its siblings.
        texts: words of each topic, separated by single spaces: line breaks and indentation depend
            on the file format and are not differences between maps.
        sizes: number of topics in each branch.
    """

    topics: list[Topic] = field(default_factory=lambda: [_NO_TOPIC])
    parents: list[int] = field(default_factory=lambda: [-1])
    children: list[list[int]] = field(default_factory=lambda: [[]])
    places: list[int] = field(default_factory=lambda: [0])
    texts: list[str] = field(default_factory=lambda: [""])
    sizes: list[int] = field(default_factory=list)

    def branch(self, row: int) -> Sequence[int]:
        """Return the rows of a branch, which are contiguous."""
        return range(row, row + self.sizes[row])


def flat(outline: Outline) -> FlatOutline:
    """Convert an outline to rows."""
    rows = FlatOutline()
    pending = [(MAP, tree) for tree in reversed(list(outline.trees()))]
    while pending:
        parent, topic = pending.pop()
        row = len(rows.topics)
        rows.topics.append(topic)
        rows.parents.append(parent)
        rows.places.append(len(rows.children[parent]))
        rows.children[parent].append(row)
        rows.children.append([])
        rows.texts.append(spaced(topic.text))
        pending.extend((row, child) for child in reversed(topic.children))
    rows.sizes = [1] * len(rows.topics)
    for row in range(len(rows.topics) - 1, MAP, -1):
        rows.sizes[rows.parents[row]] += rows.sizes[row]
    return rows


def spaced(text: str) -> str:
    """Collapse white space to single spaces."""
    return " ".join(text.split())
