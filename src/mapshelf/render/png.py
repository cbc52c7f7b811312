"""Convert SVG to PNG with resvg, using only fonts that we choose.

For characters that a font lacks, resvg would search every system font for each piece of text. This
takes longer than the rest of the rendering, and if no font has the character, resvg draws an empty
box. Therefore ``font_fallback`` chooses the fonts, and resvg gets only their files. A map in Latin
letters looks the same on every machine.

resvg writes full colour with alpha, but drawings have only a dozen colours and their shades. With a
palette they take less than half the bytes, and nobody sees the difference.
"""

import io
from collections.abc import Iterable, Sequence
from typing import Final

import resvg_py
from PIL import Image

from mapshelf.errors import BrokenFile
from mapshelf.render.fonts import FAMILY, FILES

COLOURS: Final = 64
"""Size of the palette. More colours would make files a fifth larger and improve only emoji."""

PHOTO_COLOURS: Final = 256
"""Size of the palette for a drawing that contains images."""


def rasterised(svg: str, files: Iterable[str] = (), *, colours: int | None = COLOURS) -> bytes:
    """Return ``svg`` as a PNG, in the size that the SVG declares.

    Args:
        svg: a document from ``mapshelf.render.svg``.
        files: font files it needs besides our own.
        colours: the size of the palette, ``None`` for full colour.
    """
    png = resvg_py.svg_to_bytes(
        svg_string=svg,
        skip_system_fonts=True,
        font_files=[*FILES, *files],
        font_family=FAMILY,
        sans_serif_family=FAMILY,
    )
    return _with_palette(png, colours) if colours else png


def drawn_svg(svg: str) -> bytes:
    """Return the PNG of an SVG from ``readers.parsing.svg_pictures.safe_svg``, in its own size.

    Raises:
        BrokenFile: the SVG cannot be drawn.
    """
    try:
        return resvg_py.svg_to_bytes(
            svg_string=svg,
            skip_system_fonts=True,
            font_files=list(FILES),
            font_family=FAMILY,
            sans_serif_family=FAMILY,
            resources_dir="/dev/null",  # in case a reference is left, it leads nowhere
        )
    except BaseException as error:  # a Rust panic does not derive from Exception
        raise BrokenFile("the picture cannot be drawn") from error


def side_by_side(pictures: Sequence[bytes], size: tuple[int, int], ground: str, line: str) -> bytes:
    """Return up to four pictures as one, in two rows of two, with thin lines between them.

    Args:
        pictures: PNGs that we made, with the aspect ratio of the whole.
        size: the width and height of the whole, in pixels.
        ground: the colour of empty cells.
        line: the colour of the lines.
    """
    width, height = size
    thin = max(1, width // 320)
    whole = Image.new("RGB", size, line)
    for place in range(4):
        left, top = place % 2 * (width + thin) // 2, place // 2 * (height + thin) // 2
        right = width if place % 2 else (width - thin) // 2
        bottom = height if place // 2 else (height - thin) // 2
        cell = (right - left, bottom - top)
        if place < len(pictures):
            with Image.open(io.BytesIO(pictures[place]), formats=("PNG",)) as picture:
                whole.paste(picture.convert("RGB").resize(cell), (left, top))
        else:
            whole.paste(Image.new("RGB", cell, ground), (left, top))
    return _of_few_colours(whole, PHOTO_COLOURS)


def _with_palette(png: bytes, colours: int) -> bytes:
    with Image.open(io.BytesIO(png), formats=("PNG",)) as picture:
        return _of_few_colours(picture.convert("RGB"), colours)  # its background is opaque


def _of_few_colours(whole: Image.Image, colours: int) -> bytes:
    # Without dithering, areas of one colour stay so.
    few = whole.quantize(colours, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    _set_ground(few, whole)
    buffer = io.BytesIO()
    few.save(buffer, "PNG", compress_level=9)
    return buffer.getvalue()


def _set_ground(few: Image.Image, whole: Image.Image) -> None:
    """Restore the exact background colour, that of the corner, in the palette.

    Palette colours are averages, but the background must have the same colour as the page.
    """
    corner = (0, 0)
    number, ground = few.getpixel(corner), whole.getpixel(corner)
    palette = few.getpalette()
    assert isinstance(number, int)
    assert isinstance(ground, tuple)
    assert palette is not None
    palette[3 * number : 3 * number + 3] = map(int, ground)
    few.putpalette(palette)
