"""Convert SVG to PDF with Typst: vector graphics with selectable text and embedded fonts.

Typst creates one page, as large as the drawing. It gets the SVG as a value, so nothing in a map is
ever parsed as Typst markup. Typst loads all fonts in the folders it is given, but the drawing names
the font of each piece of text. These are the same fonts as for PNG (``png``).
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import typst

from mapshelf.errors import BrokenFile
from mapshelf.render.fonts import FILES

LONGEST_SIDE: Final = 14_400.0
"""Maximum length of the longer side of a page, in points (ISO 32000-1, annex C)."""

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
        svg: a document from ``mapshelf.render.svg``.
        title: the title of the document.
        size: the width and height of the picture in pixels. A pixel becomes 3/4 of a point, or less
            if the page would exceed ``LONGEST_SIDE``.
        files: font files it needs besides our own.

    Raises:
        BrokenFile: Typst cannot convert it.
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
