"""Layout parameters: the font sizes and distances of a drawing.

The page of a map has one style. Thumbnails have several for each size, with lines of different
widths, which are tried in turn. Colours are defined in ``themes`` and ``topic_colours``.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from mapshelf.render.wrapping import STRETCH

LINE_HEIGHT: Final = 1.28
"""Distance between two baselines, in font sizes."""

COUNT_SIZE: Final = 0.82
"""Font size of a count of hidden topics, in font sizes of its topic."""

COUNT_PADDING: Final = 5.0
"""Padding to the left and right of a count."""

COUNT_GAP: Final = 4.0
"""Distance between a topic and its count."""

TWIG: Final = 9.0
"""Length of the twigs that represent hidden topics."""

LABEL_SIZE: Final = 10.0
"""Font size of the labels of arrows and boundaries."""

BOUNDARY_PADDING: Final = 7.0
"""Distance between topics and the boundary around them."""

BRACE: Final = 22.0
"""Width of a brace next to siblings, including the space on both sides."""

FLOATING_GAP: Final = 14.0
"""Minimum distance between a floating topic and everything else."""


class Kind(NamedTuple):
    """The appearance of the topics of one level.

    Attributes:
        size: the font size.
        bold: whether the text is bold.
        width: the maximum width of a line, in font sizes.
        lines: the maximum number of lines.
        across: the padding to the left and right of the text.
        down: the padding above and below the text.
        gap: the distance between the topic and its parent.
        apart: the distance between two siblings without children.
        boxed: whether the topic has a box; otherwise it has a line below it.
        counted: whether the number of hidden descendants is shown; otherwise a few twigs show that
            there are some.
        stretch: the factor by which lines may be wider than ``width`` to fit a long word.
        outlined: whether the box has an outline instead of a fill colour.
    """

    size: float
    bold: bool
    width: float
    lines: int
    across: float
    down: float
    gap: float
    apart: float
    boxed: bool
    counted: bool
    stretch: float = STRETCH
    outlined: bool = False


@dataclass(frozen=True, slots=True)
class LayoutStyle:
    """The appearance of the topics of a drawing.

    Attributes:
        kinds: the kinds of topics by depth; the last one is also for all deeper levels.
        picture: the maximum width and height of images in topics, in layout units.
        formula: the maximum width and height of formulas, in font sizes of their topics.
        detailed: whether tags are shown, and marks for notes, links, files and missing images.
        stray: how far floating topics may be outside of the other topics: a share of the width or
            height of these, plus a number of layout units.
    """

    kinds: tuple[Kind, ...]
    picture: tuple[float, float] = (240, 180)
    formula: tuple[float, float] = (45, 45)
    detailed: bool = True
    stray: tuple[float, float] = (0.25, 260)

    @property
    def every_kind(self) -> tuple[Kind, ...]:
        """All kinds: those of ordinary topics by depth, then those of asides by depth from 1."""
        return (*self.kinds, *(_aside(self.kinds[-1], kind) for kind in self.kinds[1:]))

    def number(self, depth: int, *, aside: bool = False) -> int:
        """Return the index in ``every_kind`` of the kind of topics at this depth.

        Args:
            depth: the depth of the topic, 0 for the central topic.
            aside: whether it is a callout or a summary, which has a box of its own.
        """
        last = len(self.kinds) - 1
        return last + max(1, min(depth, last)) if aside else min(depth, last)

    def kind(self, depth: int) -> Kind:
        """Return the kind of ordinary topics at this depth."""
        return self.kinds[self.number(depth)]


def _aside(ordinary: Kind, among: Kind) -> Kind:
    """Return the kind of asides (callouts, summaries) at one depth.

    Args:
        ordinary: the kind of the deepest topics, whose text they share.
        among: the kind of the other topics at this depth, whose distances they share.
    """
    return ordinary._replace(
        across=ordinary.across + 4,
        down=ordinary.down + 1.5,
        gap=among.gap,
        apart=among.apart,
        boxed=True,
        outlined=True,
    )


PAGE: Final = LayoutStyle(
    (
        Kind(17, True, 16, 12, 14, 9, 0, 0, True, True),
        Kind(13.5, True, 18, 12, 9, 5, 44, 12, True, True),
        Kind(12.5, False, 22, 40, 3, 2.5, 26, 4, False, True),
    )
)
"""The style of the page of a map and of whole drawings."""
