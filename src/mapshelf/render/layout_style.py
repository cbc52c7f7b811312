"""How topics look: the sizes and distances that a picture is laid out by.

The page of a map has one style; thumbnails have one for each size and for each width of text that
is tried. Nothing here is about colours: these are in ``themes`` and ``topic_colours``.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from mapshelf.render.wrapping import STRETCH

LINE_HEIGHT: Final = 1.28
"""From one baseline to the next, in font sizes."""

COUNT_SIZE: Final = 0.82
"""Font size of a count, in font sizes of its topic."""

COUNT_PADDING: Final = 5.0
"""On each side of a count."""

COUNT_GAP: Final = 4.0
"""Between a topic and its count."""

TWIG: Final = 9.0
"""Length of the twigs that stand for hidden topics."""

LABEL_SIZE: Final = 10.0
"""Font size of the words on arrows and boundaries."""

BOUNDARY_PADDING: Final = 7.0
"""Between topics and the line around them."""

BRACE: Final = 22.0
"""Width of a brace beside siblings, with the room on both sides of it."""

FLOATING_GAP: Final = 14.0
"""Between a floating topic and everything else, at least."""


class Kind(NamedTuple):
    """How topics of a level look.

    Attributes:
        size: of the letters.
        bold: whether they are.
        width: of the widest line, in font sizes.
        lines: most lines.
        across: room left and right of the text.
        down: room above and below the text.
        gap: between the topic and those it hangs from.
        apart: between it and its next sibling.
        boxed: whether it is in a box; otherwise it stands on a line.
        counted: whether it is said how many topics are hidden below it; otherwise a few twigs
            show that there are some.
        stretch: how much wider lines may be for the sake of a long word.
        outlined: whether its box is but a line around it.
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
    """How the topics of a picture look.

    Attributes:
        kinds: by depth; the last one is for all deeper ones, too.
        picture: the largest width and height of pictures in topics.
        formula: the largest width and height of formulas, in font sizes of their topics.
        detailed: whether tags are shown, and marks for notes, links and files.
        stray: how far floating topics may be from the edge of the others: in widths of these, and
            in units besides.
    """

    kinds: tuple[Kind, ...]
    picture: tuple[float, float] = (240, 180)
    formula: tuple[float, float] = (45, 45)
    detailed: bool = True
    stray: tuple[float, float] = (0.25, 260)

    @property
    def every_kind(self) -> tuple[Kind, ...]:
        """All kinds: those by depth, then those of asides that hang from the centre and deeper."""
        return (*self.kinds, *(_aside(self.kinds[-1], kind) for kind in self.kinds[1:]))

    def number(self, depth: int, *, aside: bool = False) -> int:
        """Return the place among ``every_kind`` of the kind of topics of this depth.

        Args:
            depth: of the topic.
            aside: whether it is a callout or a summary, which has a box of its own.
        """
        last = len(self.kinds) - 1
        return last + max(1, min(depth, last)) if aside else min(depth, last)

    def kind(self, depth: int) -> Kind:
        """Return how topics of this depth look."""
        return self.kinds[self.number(depth)]


def _aside(ordinary: Kind, among: Kind) -> Kind:
    """Return the kind of asides: letters of ordinary topics, distances of the topics around."""
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
"""For reading the map as a whole."""
