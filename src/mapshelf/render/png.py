"""SVG as PNG, by resvg, with fonts of which we know what they have.

resvg looks for letters a font lacks in every font of the system, for each piece of text anew,
which takes longer than all the rest; and it draws empty boxes where it finds none. So the fonts
are chosen here (``lettering``), and resvg is given just these files: a map in Latin letters is
drawn the same on every machine.
"""

from collections.abc import Iterable

import resvg_py

from mapshelf.render.fonts import FAMILY, FILES


def rasterised(svg: str, files: Iterable[str] = ()) -> bytes:
    """Return ``svg`` as a PNG of the size it says.

    Args:
        svg: a picture as ``mapshelf.render.svg`` writes it.
        files: fonts it needs besides our own.
    """
    return resvg_py.svg_to_bytes(
        svg_string=svg,
        skip_system_fonts=True,
        font_files=[*FILES, *files],
        font_family=FAMILY,
        sans_serif_family=FAMILY,
    )
