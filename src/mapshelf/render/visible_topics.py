"""Select the topics of a sheet to draw: all on its page, as many as are legible in a thumbnail.

A picture 300 pixels wide has room for about thirty topics. A larger map is not shrunk until it is
illegible. Instead, only the topics near the root are shown, with the number of their hidden
descendants. Rows are allotted level by level, and evenly within a level. A topic with a hundred
children therefore leaves room for a sibling with three, and the picture keeps the shape of the map.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from mapshelf.model import Sheet, Topic
from mapshelf.render.formula_drawing import FormulaDrawing
from mapshelf.render.formulas import Drawings
from mapshelf.writers.facts import is_formula
from mapshelf.writers.plain import sound

LONGEST_TEXT: Final = 2000  # maximum characters drawn of a topic; the page also has the full text


@dataclass(slots=True)
class VisibleTopic:
    """A topic that is drawn, or a placeholder for siblings that are not.

    Attributes:
        text: the text to draw, after its number; it includes the LaTeX of a formula that is not
            drawn.
        id: the id of the topic, empty for a placeholder.
        source: the topic itself, ``None`` for a placeholder.
        formula: the drawing of its formula, ``None`` if there is none.
        hidden: number of hidden descendants; 0 if children are shown, which have their own counts.
            For a placeholder, the number of siblings it stands for and their descendants.
        others: whether it is a placeholder.
        tabled: whether its attributes may be drawn.
        children: the topics shown below it, in order.
    """

    text: str
    id: str = ""
    source: Topic | None = None
    formula: FormulaDrawing | None = None
    hidden: int = 0
    others: bool = False
    tabled: bool = True
    children: list["VisibleTopic"] = field(default_factory=list)


@dataclass(slots=True)
class VisibleSheet:
    """The topics of a sheet that are drawn.

    Attributes:
        sheet: the whole sheet.
        root: the central topic.
        floating: the floating topics.
        summaries: the topics of summaries, each with the ids of the topics it summarises.
    """

    sheet: Sheet
    root: VisibleTopic
    floating: list[VisibleTopic] = field(default_factory=list)
    summaries: list[tuple[tuple[str, ...], VisibleTopic]] = field(default_factory=list)

    def topics(self) -> Iterator[VisibleTopic]:
        """Yield all topics that are drawn, in no particular order."""
        pending = [self.root, *self.floating, *(topic for _, topic in self.summaries)]
        while pending:
            topic = pending.pop()
            yield topic
            pending.extend(topic.children)


class Room(NamedTuple):
    """The maximum that may be shown.

    Attributes:
        rows: rows of topics, both sides of the map together.
        depth: levels below the central topic.
    """

    rows: int
    depth: int


def whole(sheet: Sheet) -> VisibleSheet:
    """Return a sheet with all its topics visible."""
    return VisibleSheet(
        sheet,
        _from_the_top(sheet, _whole(sheet.root)),
        [_whole(topic) for topic in sheet.floating],
        [(summary.topics, _whole(summary.topic)) for summary in sheet.summaries],
    )


def _from_the_top(sheet: Sheet, root: VisibleTopic) -> VisibleTopic:
    """Order the main topics on the left from top to bottom, in place, and return ``root``.

    In a clockwise sheet, the first main topic on the left is at the bottom.
    """
    if sheet.clockwise:
        lefts = [child for child in root.children if _is_left(child)]
        others = [child for child in root.children if not _is_left(child)]
        root.children = [*others, *reversed(lefts)]
    return root


def _is_left(child: VisibleTopic) -> bool:
    return child.source is not None and child.source.side == "left"


def _whole(root: Topic) -> VisibleTopic:
    top = _visible(root)
    pending = [(root, top)]
    while pending:
        topic, visible = pending.pop()
        if topic.children:
            visible.children = [_visible(child) for child in topic.children]
            pending.extend(zip(topic.children, visible.children, strict=True))
    return top


def with_formulas(sheet: VisibleSheet, drawings: Drawings) -> VisibleSheet:
    """Add formula drawings to the topics, in place, and return the sheet.

    The drawing of a formula replaces its LaTeX in the text.
    """
    if drawings:
        for topic in sheet.topics():
            drawing = drawings.get(topic.source.formula) if topic.source else None
            if drawing and topic.source:
                topic.formula = drawing
                text = "" if is_formula(topic.source) else _text(topic.source)
                topic.text = _numbered(topic.source, text)
    return sheet


def sizes(sheet: Sheet) -> dict[int, int]:
    """Return the number of topics in each subtree, by the ``id()`` of its root topic."""
    found: dict[int, int] = {}
    for tree in sheet.trees():
        for topic in reversed([topic for _, topic in tree.walk()]):
            found[id(topic)] = 1 + sum(found[id(child)] for child in topic.children)
    return found


def summarised(sheet: Sheet, size: Mapping[int, int], room: Room) -> VisibleSheet:
    """Return as many topics of a sheet as there is room for, with counts of the hidden ones.

    Rows are divided between the central topic and the floating topics in proportion to the sizes of
    their trees. At most a third as many floating topics are shown as there are rows, but at least
    one. Of a summary, only its topic is shown, without descendants.

    Args:
        sheet: the sheet.
        size: the result of ``sizes``.
        room: the maximum rows and levels.
    """
    floating = sheet.floating[: max(1, room.rows // 3)]
    whole_size = size[id(sheet.root)] + sum(size[id(topic)] for topic in floating)
    shares = [max(1, room.rows * size[id(topic)] // whole_size) for topic in floating]
    central = max(min(room.rows, _FEWEST), room.rows - sum(shares))
    return VisibleSheet(
        sheet,
        _from_the_top(sheet, _summarised(sheet.root, size, Room(central, room.depth))),
        [
            _summarised(topic, size, Room(rows, room.depth - 1))
            for topic, rows in zip(floating, shares, strict=True)
        ],
        [
            (summary.topics, _summarised(summary.topic, size, Room(1, 0)))
            for summary in sheet.summaries[: room.rows]
        ],
    )


def _summarised(root: Topic, size: Mapping[int, int], room: Room) -> VisibleTopic:
    top = _visible(root)
    top.hidden = size[id(root)] - 1
    level = [(root, top)]
    free = room.rows - 1
    for _ in range(room.depth):
        level, free = _unfold(level, size, free)
    return top


_Level = list[tuple[Topic, VisibleTopic]]


def _unfold(level: _Level, size: Mapping[int, int], free: int) -> tuple[_Level, int]:
    """Show the children of one level while rows are free; return the next level and the free rows.

    A topic occupies one row, which its first child shares.
    """
    parents = [(topic, visible) for topic, visible in level if topic.children]
    rows: dict[int, int] = {}
    # Those with the fewest children come first: the rows they do not need go to the others.
    by_need = sorted(parents, key=lambda parent: len(parent[0].children))
    for left, (topic, _) in zip(range(len(by_need), 0, -1), by_need, strict=True):
        rows[id(topic)] = _rows(len(topic.children), free // left + 1)
        if not rows[id(topic)]:
            break  # the others have at least as many children, so none of theirs are shown either
        free -= rows[id(topic)] - 1
    following: _Level = []
    for topic, visible in parents:
        if rows.get(id(topic)):
            following.extend(_show(topic, visible, size, rows[id(topic)]))
    return following, free


def _rows(children: int, available: int) -> int:
    """Return how many rows a topic gets for its children; 0 to show none."""
    if children <= available:
        return children
    return available if available >= _FEWEST else 0


def _show(topic: Topic, visible: VisibleTopic, size: Mapping[int, int], rows: int) -> _Level:
    """Add children to ``visible``, one per row, and return them.

    If there are more children than rows, the last row is a placeholder for the others.
    """
    count = len(topic.children)
    named = count if rows == count else rows - 1
    children = [(child, _visible(child)) for child in topic.children[:named]]
    for child, shown in children:
        shown.hidden = size[id(child)] - 1
    visible.children = [shown for _, shown in children]
    visible.hidden = 0
    if named < count:
        others = sum(size[id(child)] for child in topic.children[named:])
        visible.children.append(VisibleTopic("", hidden=others, others=True))
    return children


_FEWEST: Final = 2
"""Minimum rows for showing some children: one child, and the number of the others."""


def _visible(topic: Topic) -> VisibleTopic:
    text = _text(topic)
    if topic.formula and not (text and is_formula(topic)):
        # ``with_formulas`` removes the LaTeX again if the formula can be drawn.
        text = f"{text}\n{sound(topic.formula[:LONGEST_TEXT]).strip()}".strip()
    return VisibleTopic(_numbered(topic, text), topic.id, topic)


def _numbered(topic: Topic, text: str) -> str:
    return f"{sound(topic.number)} {text}".strip() if topic.number else text


def _text(topic: Topic) -> str:
    return sound(topic.text[:LONGEST_TEXT]).strip()
