"""Define the type of a drawn formula, shared by the formula renderer and the topic renderer."""

from typing import Final, NamedTuple

UNITS: Final = 1000
"""Units per font size in the path of a drawn formula."""


class FormulaDrawing(NamedTuple):
    """A formula as one shape.

    Attributes:
        width: its width, in font sizes.
        height: its height, in font sizes.
        path: SVG path data with ``UNITS`` per font size; the origin is the upper left corner.
    """

    width: float
    height: float
    path: str
