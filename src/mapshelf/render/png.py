"""SVG as PNG, by resvg, with fonts of which we know what they have.

resvg looks for letters a font lacks in every font of the system, for each piece of text anew,
which takes longer than all the rest; and it draws empty boxes where it finds none. So the fonts
are chosen here (``lettering``), and resvg is given just these files: a map in Latin letters is
drawn the same on every machine.

What resvg gives has three bytes a pixel and an alpha channel, for drawings of a dozen colours and
their shades. With a palette they take less than half on the disk and on the way to a reader, and
nobody sees the difference.
"""

import io
from collections.abc import Iterable
from typing import Final

import resvg_py
from PIL import Image

from mapshelf.render.fonts import FAMILY, FILES

COLOURS: Final = 64
"""Of a palette. More make pictures larger by a fifth; only emoji would look different."""


def rasterised(svg: str, files: Iterable[str] = ()) -> bytes:
    """Return ``svg`` as a PNG of the size it says.

    Args:
        svg: a picture as ``mapshelf.render.svg`` writes it.
        files: fonts it needs besides our own.
    """
    return _with_palette(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            skip_system_fonts=True,
            font_files=[*FILES, *files],
            font_family=FAMILY,
            sans_serif_family=FAMILY,
        )
    )


def _with_palette(png: bytes) -> bytes:
    with Image.open(io.BytesIO(png), formats=("PNG",)) as picture:
        whole = picture.convert("RGB")  # its ground is drawn, so nothing shows through
    # Without dithering, flat parts stay flat.
    few = whole.quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    _set_ground(few, whole)
    buffer = io.BytesIO()
    few.save(buffer, "PNG", compress_level=9)
    return buffer.getvalue()


def _set_ground(few: Image.Image, whole: Image.Image) -> None:
    """Give ``few`` the very ground of ``whole``, which is that of pages: a palette has means."""
    corner = (0, 0)
    number, ground = few.getpixel(corner), whole.getpixel(corner)
    palette = few.getpalette()
    assert isinstance(number, int)
    assert isinstance(ground, tuple)
    assert palette is not None
    palette[3 * number : 3 * number + 3] = map(int, ground)
    few.putpalette(palette)
