"""Draw the differences between two maps: the second map with marks, and the removed topics.

Only topics with differences and their ancestors are drawn, and counts stand for the others, so that
the drawing of two large maps stays readable. A sign before the text marks the kind of difference,
so that it can be recognised without the colours.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from mapshelf.comparison import Comparison, compare
from mapshelf.comparison.flat_outline import MAP
from mapshelf.comparison.matching import NONE
from mapshelf.model import Outline, Sheet, Style, Topic
from mapshelf.render import svg
from mapshelf.render.direction import reads_leftwards
from mapshelf.render.layout import layout
from mapshelf.render.layout_style import PAGE
from mapshelf.render.map_drawing import whole_frame
from mapshelf.render.sheet_drawing import drawn_sheet
from mapshelf.render.themes import THEMES
from mapshelf.render.visible_topics import VisibleSheet, VisibleTopic
from mapshelf.writers.plain import one_line

MOST_MARKED: Final = 200
"""Maximum number of differences that are drawn."""

MOST_INSIDE: Final = 100
"""Maximum number of topics that are drawn inside of added branches, besides their roots."""

LONGEST_TEXT: Final = 120
"""Maximum characters of a topic's text that are drawn."""

SIGNS: Final = {"added": "+", "removed": "\u2212", "moved": "\u2192", "changed": "\u2248"}
"""The sign before the text of a topic, by the kind of difference."""

_FILLS: Final = {
    "added": "#1b7340",
    "removed": "#b3261e",
    "moved": "#2457b3",
    "changed": "#8a5300",
}
_WORDS: Final = "#ffffff"
_LINE: Final = "#808b97"

_PLAIN: Final = Style(line=_LINE, shape="none")


def comparison_drawing(before: Outline, after: Outline, title: str, theme: str) -> bytes:
    """Return the drawing as SVG, encoded in UTF-8."""
    comparison = compare(before, after)
    shown = _Marked(comparison).sheet()
    placed = layout(shown, PAGE, right_to_left=reads_leftwards(after.roots[0]))
    drawn = drawn_sheet(shown.sheet, placed, svg.Style(THEMES[theme]), whole_frame)
    return svg.document(title, drawn.frame, drawn.theme, drawn.content).encode()


class _Marked:
    """Chooses the topics to draw, and marks them.

    A row is the index of a topic in a flat outline (``comparison.flat_outline``). A ghost is the
    root of a removed branch, which is drawn below the parent it had.
    """

    def __init__(self, comparison: Comparison) -> None:
        pairs = comparison.pairs
        self._before, self._after = pairs.before, pairs.after
        self._forward, self._back = pairs.forward, pairs.back
        self._signs: dict[int, list[str]] = defaultdict(list)
        removed = comparison.removed[:MOST_MARKED]
        room = max(0, MOST_MARKED - len(removed))
        for kind in ("added", "changed", "moved"):
            for difference in getattr(comparison, kind)[:room]:
                self._signs[difference.row].append(kind)
                room -= 1
        self._ghosts: dict[int, list[tuple[int, VisibleTopic]]] = defaultdict(list)
        for branch in removed:
            above = self._forward[self._before.parents[branch.row]]
            ghost = _topic(f"b{branch.row}", branch.text, ["removed"])
            ghost.hidden = branch.topics - 1
            self._ghosts[above].append((branch.row, ghost))
        self._shown = self._chosen()

    def sheet(self) -> VisibleSheet:
        """Return the sheet to draw: the first tree is the central one, the others are floating."""
        made: dict[int, VisibleTopic] = {}
        for row in sorted(self._shown):
            topic = self._after.topics[row]
            made[row] = _topic(f"a{row}", topic.text, self._signs.get(row, []))
        for row, visible in made.items():
            visible.children, visible.hidden = self._children(row, made)
        centre = self._after.children[MAP][0]
        beside = [made[row] for row in self._after.children[MAP][1:] if row in made]
        beside += [ghost for _, ghost in self._ghosts[MAP]]
        source = made[centre].source
        assert source is not None
        return VisibleSheet(Sheet(source), made[centre], beside)

    def _chosen(self) -> set[int]:
        """Return the rows of the topics to draw.

        These are topics with differences, topics inside of added branches, and all ancestors.
        """
        rows = {self._after.children[MAP][0], *self._signs, *self._ghosts}
        inside = 0
        for row in list(self._signs):
            if "added" in self._signs[row]:
                for inner in self._after.branch(row):
                    if inside < MOST_INSIDE and self._back[inner] == NONE and inner not in rows:
                        rows.add(inner)
                        self._signs[inner] = ["added"]
                        inside += 1
        for row in tuple(rows):
            above = self._after.parents[row]
            while above > MAP and above not in rows:
                rows.add(above)
                above = self._after.parents[above]
        return rows - {MAP, NONE}

    def _children(self, row: int, made: dict[int, VisibleTopic]) -> tuple[list[VisibleTopic], int]:
        """Return the topics to draw below a topic, and the number of its hidden descendants.

        If any topics are drawn, the number is 0, because a placeholder among them has it instead.
        """
        ghosts = self._places_of_ghosts(row)
        found = ghosts.pop(NONE, [])
        hidden = 0
        for child in self._after.children[row]:
            if child in made:
                found.append(made[child])
            else:
                hidden += self._after.sizes[child]
            found += ghosts.pop(child, [])
        if found and hidden:
            found.append(VisibleTopic("", hidden=hidden, others=True))
        return found, 0 if found else hidden

    def _places_of_ghosts(self, row: int) -> dict[int, list[VisibleTopic]]:
        """Return the removed branches below a topic, by the sibling that they came after.

        The key is the row of that sibling in the second map; ``NONE`` for branches at the start.
        """
        places: dict[int, list[VisibleTopic]] = defaultdict(list)
        ghosts = dict(self._ghosts.get(row, ()))
        last = NONE
        for child in self._before.children[self._back[row]] if ghosts else ():
            if child in ghosts:
                places[last].append(ghosts[child])
            elif self._forward[child] != NONE and self._after.parents[self._forward[child]] == row:
                last = self._forward[child]
        return places


def _topic(identifier: str, text: str, kinds: Iterable[str]) -> VisibleTopic:
    kinds = list(kinds)
    words = one_line(text)[:LONGEST_TEXT]
    style = _PLAIN
    if kinds:
        style = Style(text=_WORDS, fill=_FILLS[kinds[0]], line=_LINE, shape="rounded")
    signed = " ".join((*(SIGNS[kind] for kind in kinds), words))
    return VisibleTopic(signed, identifier, Topic(signed, identifier, style=style))
