"""A drawn formula: what draws formulas makes, and what draws topics places."""

from typing import Final, NamedTuple

UNITS: Final = 1000
"""Of the coordinates of a drawn formula in a font size."""


class FormulaDrawing(NamedTuple):
    """A formula as one shape.

    Attributes:
        width: of it, in font sizes.
        height: likewise.
        path: path data of SVG in ``UNITS``, from its upper left corner.
    """

    width: float
    height: float
    path: str
