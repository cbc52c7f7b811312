"""The boundaries of a sheet that is laid out, and the space that they need around topics.

A boundary has reserved space in the rows of its topics (``layout``). Callouts that the author
placed are outside of these rows, so a boundary is enlarged when they have been placed.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mapshelf.render.floating import Box, around
from mapshelf.render.layout_style import BOUNDARY_PADDING
from mapshelf.render.nodes import Forest, Group, Node


class Boundary(NamedTuple):
    """An outline around topics.

    Attributes:
        box: its position.
        group: the topics in it, and its label.
        main: index of their main branch.
        side: the side of siblings in it, 0 if it is around a whole tree.
    """

    box: Box
    group: Group
    main: int
    side: int = 0


def enlarged(
    boundaries: Sequence[Boundary], whole: Forest, room_of: Callable[[Node], Box]
) -> list[Boundary]:
    """Return boundaries that also hold the free callouts on their topics.

    Args:
        boundaries: the boundaries so far.
        whole: all topics. Those in trees that are not placed yet are skipped.
        room_of: returns the extent of a placed tree, relative to the middle of its root.
    """
    growing = _EnlargedBoundaries(boundaries, whole)
    beyond: dict[Node, Box] = {}
    for node in reversed(whole.nodes):
        if node.depth and not node.side:
            continue
        box = beyond.get(node)
        if box:
            box = growing.around(node, box)
        if node.is_free:
            own = room_of(node).moved(node.x + node.width / 2, node.middle)
            box = around([own, box]) if box else own
        if box and node.above:
            known = beyond.get(node.above)
            beyond[node.above] = around([known, box]) if known else box
    return growing.boundaries


class _EnlargedBoundaries:
    """Boundaries that grow, and where they are."""

    def __init__(self, boundaries: Sequence[Boundary], whole: Forest) -> None:
        self.boundaries = list(boundaries)
        self._places = {
            (id(boundary.group), boundary.side): place for place, boundary in enumerate(boundaries)
        }
        self._rings: dict[Node, list[Group]] = {}
        for root, group in whole.around:
            self._rings.setdefault(root, []).append(group)

    def around(self, node: Node, box: Box) -> Box:
        """Enlarge the boundaries around a topic to hold ``box``; return it with these around it."""
        found = [(id(group), node.side) for group in _groups_of(node)]
        found += [(id(group), 0) for group in self._rings.get(node, ())]
        for key in found:
            place = self._places[key]
            boundary = self.boundaries[place]
            box = box.grown(BOUNDARY_PADDING)
            self.boundaries[place] = boundary._replace(box=around([boundary.box, box]))
        return box


def _groups_of(node: Node) -> list[Group]:
    """Return the boundaries around a topic and its siblings, the inner ones first."""
    if node.above is None or node.above.children[node.at : node.at + 1] != [node]:
        return []
    groups = [group for group in node.above.groups if group.summary is None]
    return [group for group in groups if group.first <= node.at <= group.last]


def with_boundary(box: Box, group: Group) -> Box:
    """Return ``box`` enlarged by the space for a boundary."""
    grown = box.grown(BOUNDARY_PADDING)
    right = max(grown.right, grown.left + group.label_width + 2 * BOUNDARY_PADDING)
    return grown._replace(top=grown.top - group.label_height, right=right)
