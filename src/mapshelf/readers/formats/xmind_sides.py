"""On which sides XMind puts the main topics.

A file has no sides. It names a structure, and perhaps how many main topics are on the right: that
many are, the others follow on the left. Without a number XMind fills the right until it has half of
what is shown. In most structures both sides together go round as the hands of a clock do, so the
left begins below; in the oldest one it begins above. Some have everything on one side. Along an
upright time line, topics are on the right and on the left by turns. Structures that grow downwards,
level time lines and fish bones have no sides; the layout chooses.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from mapshelf.model import Topic, TopicKind

PROVIDER: Final = "org.xmind.ui.map.unbalanced"
"""Of the extension that has the number."""

RIGHT_NUMBER: Final = "right-number"

_PREFIX: Final = "org.xmind.ui."
_BOTH_SIDES: Final = {"": False, "map": False, "map.clockwise": True, "map.unbalanced": True}
"""Structures with topics on both sides, and whether they go round."""

_BY_TURNS: Final = "timeline.vertical"
_ONE_SIDE: Final = {
    f"{family}.{side}": side for family in ("logic", "tree", "brace") for side in ("left", "right")
}


def put_on_sides(root: Topic, structure: str, right_number: str) -> bool:
    """Give the main topics their sides; return whether they go round as the hands of a clock.

    Args:
        root: the central topic.
        structure: what the file calls its structure, empty if it names none.
        right_number: how many topics are on the right, empty if the file does not say.
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
    """Return how many topics have at least half of what is shown."""
    rows = list(accumulate(map(_rows, mains)))
    return 1 + bisect_left(rows, rows[-1] / 2) if rows else 0


def _rows(main: Topic) -> int:
    """Return how many topics lie one below the other in a branch."""
    rows, pending = 0, [main]
    while pending:
        topic = pending.pop()
        shown = [] if topic.folded else topic.children
        rows += not shown
        pending.extend(shown)
    return rows
