"""Compute the position of every element of a sheet, without drawing it.

The central topic is in the middle. Main branches stay on the side that the author chose. Without a
choice, they are split in order between both sides, to make the sides about equally high; in
right-to-left maps the first half is on the left. Each topic is vertically centred on its children.
Boundaries and summaries have reserved space. Callouts that the author placed and floating topics
are placed around the result (``floating``). The unit is a pixel at full size; the origin is the
centre of the map.

Thumbnails use the layout for the topics that ``visible_topics`` chose, and the page of a map for
all of them. ``site/static/layout.js`` does the same arithmetic in the browser.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap
from typing import Final, NamedTuple

from mapshelf.render.boundaries import Boundary, enlarged, with_boundary
from mapshelf.render.floating import Box, Surroundings, Wanted, around
from mapshelf.render.layout_style import BOUNDARY_PADDING, BRACE, LayoutStyle
from mapshelf.render.nodes import Forest, Group, Node, forest
from mapshelf.render.visible_topics import VisibleSheet

_CHOSEN: Final = 0.5
"""Minimum share of main branches with a side set by the author; below it, sides are ignored."""


class Brace(NamedTuple):
    """A brace beside siblings.

    Attributes:
        x: the edge next to the siblings.
        top: upper end.
        bottom: lower end.
        side: 1 if its point is to the right of them, -1 if to the left.
        summary: the topic at its point.
    """

    x: float
    top: float
    bottom: float
    side: int
    summary: Node


@dataclass(frozen=True, slots=True)
class Layout:
    """The positions of all elements of a sheet.

    Attributes:
        nodes: the topics, parents before their children.
        boundaries: the boundaries, in no particular order.
        braces: the braces of summaries.
        box: the bounding box.
    """

    nodes: tuple[Node, ...]
    boundaries: tuple[Boundary, ...]
    braces: tuple[Brace, ...]
    box: Box

    @property
    def width(self) -> float:
        """Width of the bounding box."""
        return self.box.right - self.box.left

    @property
    def height(self) -> float:
        """Height of the bounding box."""
        return self.box.bottom - self.box.top


def layout(
    sheet: VisibleSheet, layout_style: LayoutStyle, *, right_to_left: bool = False
) -> Layout:
    """Return the positions of all topics."""
    whole = forest(sheet, layout_style, right_to_left=right_to_left)
    for node in reversed(whole.nodes):
        _measure(node)
    placement = _Placement(whole)
    placement.place_centre(right_to_left=right_to_left)
    if len(whole.trees) > 1 or any(node.free for node in whole.nodes):
        placement.place_others(layout_style, right_to_left=right_to_left)
    return placement.result()


class _Placement:
    """Places all elements, tree by tree."""

    def __init__(self, whole: Forest) -> None:
        self._whole = whole
        self._boundaries: list[Boundary] = []
        self._braces: list[Brace] = []

    def place_centre(self, *, right_to_left: bool) -> None:
        """Place the central topic and its descendants."""
        centre = self._whole.nodes[0]
        centre.x, centre.y = -centre.width / 2, -centre.height / 2
        first, second = _sides(centre, right_to_left=right_to_left)
        side = -1 if right_to_left else 1
        for group, on in ((first, side), (second, -side)):
            self._stack(centre, group, on)
        for node in self._whole.nodes[1:]:
            if node.side:
                self._stack(node, node.children, node.side)
        rings = self._boundaries_around(centre)
        if rings:
            box = around([*self._boxes(), *(boundary.box for boundary in self._boundaries)])
            self._ring(box, rings, -1)

    def place_others(self, layout_style: LayoutStyle, *, right_to_left: bool) -> None:
        """Place free callouts and floating topics with their descendants.

        A callout can be placed when its parent is: first those in the tree of the central topic.
        """
        taken = [*self._boxes(), *map(_box_of_brace, self._braces)]
        areas = [boundary.box for boundary in self._boundaries]
        surroundings = Surroundings(taken, areas, layout_style)
        placed = [node for node in self._whole.nodes if node.side or not node.depth]
        for first in (self._free(placed), self._whole.trees[1:]):
            roots = first
            while roots:
                nodes = self._place_trees(roots, surroundings, right_to_left=right_to_left)
                roots = self._free(nodes)
            self._boundaries = enlarged(self._boundaries, self._whole, self._room)
            surroundings.add_areas([boundary.box for boundary in self._boundaries])

    def _free(self, nodes: Iterable[Node]) -> list[Node]:
        """Return the free callouts on these nodes, in the order of the map."""
        found = {one for node in nodes for one in node.free}
        return [one for one in self._whole.nodes if one in found] if found else []

    def _place_trees(
        self, roots: Sequence[Node], surroundings: Surroundings, *, right_to_left: bool
    ) -> list[Node]:
        """Place some trees; return all topics in them."""
        wanted = []
        for root in roots:
            position, above = root.position, root.above
            side = -1 if (position[0] < 0 if position else right_to_left) else 1
            root.side = (above.side if above else 0) or side
            parent = (above.x + above.width / 2, above.middle) if above else None
            wanted.append(Wanted(self._room(root), position, parent))
        for root, (x, y) in zip(roots, surroundings.place(wanted), strict=True):
            root.x, root.y = x - root.width / 2, y - root.height / 2
            self._ring(_box_of(root), self._boundaries_around(root), root.main)
        nodes = list(roots)
        for node in nodes:  # it grows
            surroundings.add_topic(Box(node.x, node.y, node.x + node.width, node.y + node.height))
            self._stack(node, node.children, node.side)
            nodes += node.children
            nodes += [group.summary for group in node.groups if group.summary]
        return nodes

    def result(self) -> Layout:
        """Return the finished layout."""
        boxes = [*self._boxes(), *(boundary.box for boundary in self._boundaries)]
        return Layout(
            tuple(self._whole.nodes), tuple(self._boundaries), tuple(self._braces), around(boxes)
        )

    def _boxes(self) -> Iterator[Box]:
        """Yield the boxes of all topics placed so far."""
        for node in self._whole.nodes:
            if node.side or node.depth == 0:
                yield Box(node.x, node.y, node.x + node.width, node.y + node.height)

    def _boundaries_around(self, root: Node) -> list[Group]:
        """Return the boundaries around the whole tree of ``root``."""
        return [group for tree, group in self._whole.around if tree is root]

    def _room(self, root: Node) -> Box:
        """Return the extent of a floating tree, relative to the middle of its root."""
        box = _box_of(root)
        for group in self._boundaries_around(root):
            box = with_boundary(box, group)
        return box.moved(-(root.x + root.width / 2), -root.middle)

    def _ring(self, box: Box, groups: Sequence[Group], main: int) -> None:
        for group in groups:
            box = with_boundary(box, group)
            self._boundaries.append(Boundary(box, group, main))

    def _stack(self, parent: Node, children: list[Node], side: int) -> None:
        """Stack the children of one side next to their parent."""
        if not children:
            return
        rows = _rows(children, parent.groups)
        y = parent.middle - rows.height / 2
        tops = []
        for place, child in enumerate(children):
            child.side = side
            if side > 0:
                child.x = parent.x + parent.width + child.kind.gap
            else:
                child.x = parent.x - child.kind.gap - child.width
            if place:
                y += _apart(children[place - 1], child)
            y += rows.before[place]
            child.y = y + (child.reach - child.height) / 2
            tops.append(y)
            y += child.reach + rows.after[place]
        for run in rows.runs:
            bottom = tops[run.last] + children[run.last].reach
            self._group(run, children[run.first], tops[run.first], bottom)

    def _group(self, run: "_Run", first: Node, top: float, bottom: float) -> None:
        """Place a boundary, or a brace with its topic, next to topics already placed."""
        side, near, summary = first.side, first.near, run.group.summary
        if summary is None:
            ends = sorted((near - side * run.near, near + side * run.out))
            box = Box(ends[0], top - run.up, ends[1], bottom + run.down)
            self._boundaries.append(Boundary(box, run.group, first.main, side))
            return
        x = near + side * run.out
        self._braces.append(Brace(x, top, bottom, side, summary))
        summary.side = side
        summary.x = x + BRACE if side > 0 else x - BRACE - summary.width
        summary.y = (top + bottom - summary.height) / 2


class _Run(NamedTuple):
    """A group on one side of its parent.

    Attributes:
        group: the group.
        first: index of its first topic in the row.
        last: index of its last one.
        up: space for a boundary above the first topic.
        down: space for it below the last topic.
        near: space for it towards the parent.
        out: distance from the near edge of the topics to the outer edge, or to the brace.
    """

    group: Group
    first: int
    last: int
    up: float
    down: float
    near: float
    out: float


class _Rows(NamedTuple):
    """A stack of siblings.

    Attributes:
        height: total height, including descendants.
        before: space above each, for boundaries and summaries.
        after: space below each.
        out: how far each extends outwards.
        runs: their groups.
    """

    height: float
    before: list[float]
    after: list[float]
    out: list[float]
    runs: list[_Run]


def _measure(node: Node) -> None:
    """Set the size of a subtree; its child subtrees must have been measured."""
    node.reach, node.span = node.height, node.width
    if not node.children:
        return
    if not node.groups:  # nearly always
        node.reach = max(node.height, _height(node.children))
        out = max(child.span for child in node.children)
    elif node.depth:
        rows = _rows(node.children, node.groups)
        node.reach, out = max(node.height, rows.height), max(rows.out)
    else:
        return  # the central topic has children on two sides, and its extent is not needed
    node.span += node.children[0].kind.gap + out


def _rows(children: Sequence[Node], groups: Sequence[Group]) -> _Rows:
    """Return the measurements of the siblings on one side of their parent."""
    before, after = [0.0] * len(children), [0.0] * len(children)
    near, out = [0.0] * len(children), [child.span for child in children]
    runs: list[_Run] = []
    places = [child.at for child in children]  # in ascending order
    for group in groups:
        first, last = bisect_left(places, group.first), bisect_right(places, group.last) - 1
        if first > last:
            continue
        row = slice(first, last + 1)
        edge = max(out[row])
        up, down, towards = before[first], after[last], max(near[row]) + BOUNDARY_PADDING
        if group.summary is None:
            up += BOUNDARY_PADDING + group.label_height
            down += BOUNDARY_PADDING
            edge = max(edge, group.label_width) + BOUNDARY_PADDING
            before[first], after[last] = up, down
            near[row] = [towards] * (last + 1 - first)
            out[row] = [edge] * (last + 1 - first)
        else:
            if children[first].at != group.first:
                continue  # the summary topic is on the other side, with the first of these siblings
            inner = _height(children[row]) + sum(before[row]) + sum(after[row])
            lacking = max(0.0, group.summary.reach - (inner - up - down)) / 2
            before[first], after[last] = max(up, lacking), max(down, lacking)
            out[row] = [edge + BRACE + group.summary.span] * (last + 1 - first)
        runs.append(_Run(group, first, last, up, down, towards, edge))
    height = _height(children) + sum(before) + sum(after)
    return _Rows(height, before, after, out, runs)


def _height(siblings: Sequence[Node]) -> float:
    """Return the height of siblings, including their descendants."""
    apart = sum(starmap(_apart, pairwise(siblings)))
    return sum(node.reach for node in siblings) + apart


def _apart(node: Node, following: Node) -> float:
    """Return the space between siblings: larger if one of them has children."""
    families = bool(node.children) + bool(following.children)
    return node.kind.apart * (1 + 0.5 * families)


def _sides(centre: Node, *, right_to_left: bool) -> tuple[list[Node], list[Node]]:
    """Split the main branches by side, starting with the side that is read first."""
    mains = centre.children
    chosen = [node.topic.source.side if node.topic.source else "" for node in mains]
    if not any(chosen) or sum(map(bool, chosen)) < _CHOSEN * len(mains):
        return _halves(centre)
    groups: dict[str, list[Node]] = {"left": [], "right": []}
    heights = dict.fromkeys(groups, 0.0)
    for node, side in zip(mains, chosen, strict=True):
        if side in groups:
            heights[side] += node.reach
    for node, side in zip(mains, chosen, strict=True):
        if side in groups:
            groups[side].append(node)
        else:
            lower = "left" if heights["left"] < heights["right"] else "right"
            groups[lower].append(node)
            heights[lower] += node.reach
    first, second = ("left", "right") if right_to_left else ("right", "left")
    return groups[first], groups[second]


def _halves(centre: Node) -> tuple[list[Node], list[Node]]:
    """Split the main branches so that both sides are about equally high."""
    mains = centre.children
    if len(mains) < 2:
        return mains, []
    rows = _rows(mains, centre.groups)
    total, above = rows.height, mains[0].reach + rows.before[0] + rows.after[0]
    best, cut = total, 1
    for at in range(1, len(mains)):
        apart = _apart(mains[at - 1], mains[at])
        higher = max(above, total - above - apart)
        if higher <= best:
            best, cut = higher, at
        above += apart + mains[at].reach + rows.before[at] + rows.after[at]
    return mains[:cut], mains[cut:]


def _box_of_brace(brace: Brace) -> Box:
    ends = sorted((brace.x, brace.x + brace.side * BRACE))
    return Box(ends[0], brace.top, ends[1], brace.bottom)


def _box_of(root: Node) -> Box:
    """Return the bounding box of a tree on one side, including all descendants."""
    left = root.x if root.side > 0 else root.x + root.width - root.span
    top = root.middle - root.reach / 2
    return Box(left, top, left + root.span, top + root.reach)
