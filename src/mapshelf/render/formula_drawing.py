"""The type of a drawn formula, shared by the formula renderer and the topic renderer."""

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
