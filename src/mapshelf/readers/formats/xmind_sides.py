"""Compute on which side of the central topic XMind shows each main topic.

An XMind file does not store sides. It names a structure, which determines them:

* In structures with two sides, the first main topics are on the right and the others on the left.
  The file may contain how many are on the right. Otherwise XMind fills the right side until it has
  at least half of the visible rows. The order is clockwise, so the left side starts at the bottom;
  only in the oldest structure it starts at the top.
* Some structures have all main topics on one side.
* On a vertical time line, main topics alternate between right and left.
* Other structures (downward trees, horizontal time lines, fishbones) have no sides: the layout
  chooses them.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from mapshelf.model import Topic, TopicKind

PROVIDER: Final = "org.xmind.ui.map.unbalanced"
"""The provider of the extension that contains the number of main topics on the right."""

RIGHT_NUMBER: Final = "right-number"

_PREFIX: Final = "org.xmind.ui."
_BOTH_SIDES: Final = {"": False, "map": False, "map.clockwise": True, "map.unbalanced": True}
"""Structures with topics on both sides, and whether their main topics are clockwise."""

_BY_TURNS: Final = "timeline.vertical"
_ONE_SIDE: Final = {
    f"{family}.{side}": side for family in ("logic", "tree", "brace") for side in ("left", "right")
}


def put_on_sides(root: Topic, structure: str, right_number: str) -> bool:
    """Set the sides of the main topics; return whether they are arranged clockwise.

    Args:
        root: the central topic.
        structure: the name of the structure in the file, empty if there is none.
        right_number: the number of main topics on the right as written in the file, empty if
            missing.
    """
    structure = structure.removeprefix(_PREFIX)
    goes_round = _BOTH_SIDES.get(structure)
    mains = [child for child in root.children if child.kind is TopicKind.ATTACHED]
    if side := _ONE_SIDE.get(structure):
        for topic in mains:
            topic.side = side
    elif structure == _BY_TURNS:
        for place, topic in enumerate(mains):
            topic.side = "left" if place % 2 else "right"
    elif goes_round is not None:
        number = _number(right_number)
        rights = _half(mains) if number is None else number
        for place, topic in enumerate(mains):
            topic.side = "right" if place < rights else "left"
    return bool(goes_round)


def _number(text: str) -> int | None:
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else None


def _half(mains: Sequence[Topic]) -> int:
    """Return how many of the first main topics take up at least half of all visible rows."""
    rows = list(accumulate(map(_rows, mains)))
    return 1 + bisect_left(rows, rows[-1] / 2) if rows else 0


def _rows(main: Topic) -> int:
    """Return the height of a branch in rows: the number of its visible topics without children."""
    rows, pending = 0, [main]
    while pending:
        topic = pending.pop()
        shown = [] if topic.folded else topic.children
        rows += not shown
        pending.extend(shown)
    return rows
