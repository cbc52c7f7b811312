"""Write the elements outside the tree of a Freeplane map: braces, free topics, arrows and clouds.

All are attributes or children of ordinary nodes. FreeMind, which has no braces or free topics,
shows such nodes as branches, so no content is lost.

* A brace begins at the node with ``FirstGroupNode`` and ends before the node of its summary. It can
  only span consecutive siblings on one side. Any other summary becomes an ordinary sibling.
* Newer versions of Freeplane use separate nodes for braces. They convert this older form when they
  open it, and FreeMind shows no empty nodes.
* A cloud surrounds one topic with its branch. A boundary around several becomes a cloud for each.
* ``HGAP`` and ``VSHIFT`` position a free node by the distances between edges, which are mirrored on
  the left (``formats.freemind_boxes``). So are the places that arrows point to.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, NamedTuple

from mapshelf.formats.freemind_boxes import box_size
from mapshelf.model import Boundary, Relationship, Sheet, Topic, TopicKind
from mapshelf.writers.facts import is_formula
from mapshelf.writers.freemind_attributes import attributes_of
from mapshelf.writers.markup import attribute
from mapshelf.writers.nesting import Gathered
from mapshelf.writers.plain import one_line

FIRST: Final = "FirstGroupNode"
SUMMARY: Final = "SummaryNode"
FREE: Final = "FreeNode"

_LINE: Final = 25.0
"""Approximate height of a topic in pixels."""


class Beside(NamedTuple):
    """The hooks, positions, arrows and clouds to write on the nodes of a map.

    Attributes:
        hooks: the names of hooks, by the ``id()`` of topics.
        sides: ``left`` or ``right``, likewise, where a node needs it.
        places: ``HGAP`` and ``VSHIFT``, likewise.
        lefts: the ``id()`` of all topics on the left of the central topic.
        arrows: arrows by the id of their source topic.
        clouds: boundaries by the ids of topics.
    """

    hooks: dict[int, list[str]]
    sides: dict[int, str]
    places: dict[int, tuple[int, int]]
    lefts: set[int]
    arrows: dict[str, list[Relationship]]
    clouds: dict[str, list[Boundary]]


def beside(sheet: Sheet, tree: Gathered) -> Beside:
    """Return the elements outside the tree of ``sheet``, from which ``tree`` was made."""
    found = Beside({}, {}, {}, set(), {}, {})
    for arrow in sheet.relationships:
        found.arrows.setdefault(arrow.start, []).append(arrow)
    for line in sheet.boundaries:
        for topic in line.topics:
            found.clouds.setdefault(topic, []).append(line)
    for child in tree.root.children:
        found.sides[id(child)] = child.side
    for _, parent in tree.root.walk():
        if any(id(child) in tree.sums for child in parent.children):
            # A callout inside a brace would end the brace.
            parent.children.sort(key=lambda child: child.kind is TopicKind.CALLOUT)
            _find_braces(parent.children, tree, found)
    _place_floating(tree.root, found)
    _place_callouts(tree.root, found)
    return found


def _find_braces(siblings: list[Topic], tree: Gathered, found: Beside) -> None:
    """Find the start and end of every brace over ``siblings`` and add their hooks to ``found``."""
    sides = {topic.id: found.sides.get(id(topic), "") for topic in siblings}
    open_items: dict[bool, list[Topic]] = {False: [], True: []}
    for topic in siblings:
        if topic.kind is TopicKind.FLOATING:
            continue
        ids = tree.sums.get(id(topic), ())
        side = sides.get(ids[-1], "") if ids else sides[topic.id]
        if id(topic) in found.sides:
            found.sides[id(topic)] = side
        items = open_items[side == "left"]
        group = items[-len(ids) :] if ids else []
        if group and tuple(item.id for item in group) == ids:
            found.hooks.setdefault(id(group[0]), []).append(FIRST)
            found.hooks.setdefault(id(topic), []).append(SUMMARY)
            items.clear()
        else:
            items.append(topic)


def _place_callouts(root: Topic, found: Beside) -> None:
    for main in root.children:
        is_left = found.sides.get(id(main)) == "left"
        for _, parent in main.walk():
            if is_left:
                found.lefts.add(id(parent))
            for child in parent.children:
                if child.kind is TopicKind.CALLOUT:
                    _place_callout(child, parent, found, is_left=is_left)


def _place_callout(topic: Topic, parent: Topic, found: Beside, *, is_left: bool) -> None:
    found.hooks.setdefault(id(topic), []).append(FREE)
    if topic.position:
        found.places[id(topic)] = _gaps(topic, topic.position, parent, found, is_left=is_left)


def _gaps(
    topic: Topic, position: tuple[float, float], parent: Topic, found: Beside, *, is_left: bool
) -> tuple[int, int]:
    """Return ``HGAP`` and ``VSHIFT`` for the position of a free topic."""
    (width, height), (parent_width, parent_height) = _size(topic, found), _size(parent, found)
    x, y = position
    across = (-x if is_left else x) - (width - parent_width) / 2
    return round(across), round(y - (height - parent_height) / 2)


def _place_floating(root: Topic, found: Beside) -> None:
    floating = [child for child in root.children if child.kind is TopicKind.FLOATING]
    if not floating:
        return
    below = sum(not topic.children for _, topic in root.walk()) * _LINE / 2
    for topic in floating:
        if topic.position is None:
            below += 4 * _LINE
        x, y = topic.position or (0.0, below)
        side = topic.side or ("left" if x < 0 else "right")
        found.hooks.setdefault(id(topic), []).append(FREE)
        found.sides[id(topic)] = side
        found.places[id(topic)] = _gaps(topic, (x, y), root, found, is_left=side == "left")


def _size(topic: Topic, found: Beside) -> tuple[float, float]:
    """Return the size of a topic as it is written, with all attributes."""
    text = f"${topic.formula}$" if is_formula(topic) else topic.text
    labels = [("boundary", label) for label in _labels(found.clouds.get(topic.id, ()))]
    attributes = (*attributes_of(topic), *labels)
    shown = tuple(name for name, _ in attributes)
    return box_size(
        replace(topic, text=text, details="", attributes=attributes, shown_attributes=shown)
    )


def arrow(relationship: Relationship, *, left: bool) -> str:
    """Return the element for an arrow from a topic that is on the left or right of the centre."""
    destination = attribute("DESTINATION", relationship.end)
    colour = attribute("COLOR", relationship.colour) if relationship.colour else ""
    label = attribute("MIDDLE_LABEL", relationship.text) if relationship.text else ""
    heads = "".join(
        f' {end.upper()}ARROW="{"Default" if relationship.heads in (end, "both") else "None"}"'
        for end in ("start", "end")
    )
    shape = ""
    if relationship.point:
        x, y = (-relationship.point[0] if left else relationship.point[0]), relationship.point[1]
        shape = ' SHAPE="LINE"' + attribute("STARTINCLINATION", f"{round(x)};{round(y)};")
    return f"<arrowlink{destination}{shape}{colour}{label}{heads}/>\n"


def cloud(lines: Iterable[Boundary]) -> str:
    """Return the elements for the boundaries around one topic: a cloud and its labels."""
    lines = list(lines)
    colour = next((line.colour for line in lines if line.colour), "")
    element = f"<cloud{attribute('COLOR', colour) if colour else ''}/>\n"
    return element + "".join(
        f'<attribute NAME="boundary"{attribute("VALUE", label)}/>\n' for label in _labels(lines)
    )


def _labels(lines: Iterable[Boundary]) -> list[str]:
    return list(dict.fromkeys(filter(None, (one_line(line.text) for line in lines))))
