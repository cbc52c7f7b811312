"""Convert SVG to PDF with Typst: vectors, with text that can be selected and fonts inside.

Typst sets a page as large as the drawing, with the drawing on it. It gets the SVG as a value, so
nothing of a map is ever read as markup of Typst. It searches folders for fonts, but the drawing
names the font of each piece of text: the same ones as for pixels (``png``).
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import typst

from mapshelf.errors import BrokenFile
from mapshelf.render.fonts import FILES

LONGEST_SIDE: Final = 14_400.0
"""Points of the longer side of a page, at most (ISO 32000-1, annex C)."""

_PAGE: Final = b"""
#let width = float(sys.inputs.width) * 1pt
#let height = float(sys.inputs.height) * 1pt
#set document(title: sys.inputs.title, date: none)
#set page(width: width, height: height, margin: 0pt)
#image(bytes(sys.inputs.svg), format: "svg", width: width, height: height, alt: sys.inputs.title)
"""


def as_pdf(svg: str, title: str, size: tuple[float, float], files: Iterable[str] = ()) -> bytes:
    """Return ``svg`` as a PDF of one page.

    Args:
        svg: a picture from ``mapshelf.render.svg``.
        title: of the document.
        size: width and height of the picture in pixels, which become points of 3/4 of a pixel, or
            smaller ones if the page would be too large.
        files: font files it needs besides our own.

    Raises:
        BrokenFile: it cannot be drawn.
    """
    scale = min(0.75, LONGEST_SIDE / max(size))
    width, height = (scale * side for side in size)
    inputs = {"svg": svg, "title": title, "width": str(width), "height": str(height)}
    folders = sorted({Path(file).parent for file in (*FILES, *files)})
    fonts = typst.Fonts(False, False, folders)
    try:
        return typst.compile(_PAGE, format="pdf", sys_inputs=inputs, font_paths=fonts)
    except (RuntimeError, ValueError) as error:
        raise BrokenFile("the drawing cannot be made into a PDF") from error
