"""Convert SVG to PNG with resvg, using only fonts that we choose.

For characters that a font lacks, resvg searches every font of the system for each piece of text,
which takes longer than all the rest, and draws empty boxes if it finds none. So ``font_fallback``
chooses the fonts, and resvg gets only their files: a map in Latin letters looks the same on every
machine.

resvg writes full colour with alpha, but drawings have a dozen colours and their shades. With a
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
"""Colours of a palette. More would make pictures a fifth larger and improve only emoji."""

PHOTO_COLOURS: Final = 256
"""Colours of a palette for a drawing with pictures in it."""


SMALLEST: Final = 9
"""The compression level of pictures that are sent often."""

FAST: Final = 6
"""The compression level of pictures that are large and sent seldom: a sixth of the time, 6 % more
bytes."""


def rasterised(
    svg: str,
    files: Iterable[str] = (),
    *,
    colours: int | None = COLOURS,
    compress_level: int = SMALLEST,
) -> bytes:
    """Return ``svg`` as a PNG of its own size.

    Args:
        svg: a picture from ``mapshelf.render.svg``.
        files: font files it needs besides our own.
        colours: how many are enough; ``None`` if all are needed.
        compress_level: the zlib level if there is a palette, ``SMALLEST`` or ``FAST``.
    """
    png = resvg_py.svg_to_bytes(
        svg_string=svg,
        skip_system_fonts=True,
        font_files=[*FILES, *files],
        font_family=FAMILY,
        sans_serif_family=FAMILY,
    )
    return _with_palette(png, colours, compress_level) if colours else png


def drawn_svg(svg: str) -> bytes:
    """Return the PNG of an SVG that ``readers.svg_pictures.safe_svg`` made, in its own size.

    Raises:
        BrokenFile: it cannot be drawn.
    """
    try:
        return resvg_py.svg_to_bytes(
            svg_string=svg,
            skip_system_fonts=True,
            font_files=list(FILES),
            font_family=FAMILY,
            sans_serif_family=FAMILY,
            resources_dir="/dev/null",  # no reference is left; one that were would lead nowhere
        )
    except BaseException as error:  # a panic of Rust is no Exception
        raise BrokenFile("the picture cannot be drawn") from error


def side_by_side(pictures: Sequence[bytes], size: tuple[int, int], ground: str, line: str) -> bytes:
    """Return up to four pictures as one, in two rows of two, with thin lines between them.

    Args:
        pictures: PNGs of our own making, of the same shape as the whole.
        size: of the whole, in pixels.
        ground: the colour of what stays empty.
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


def _with_palette(png: bytes, colours: int, compress_level: int) -> bytes:
    with Image.open(io.BytesIO(png), formats=("PNG",)) as picture:
        opaque = picture.convert("RGB")
        return _of_few_colours(opaque, colours, compress_level)  # its background is opaque


def _of_few_colours(whole: Image.Image, colours: int, compress_level: int = SMALLEST) -> bytes:
    # Without dithering, flat parts stay flat.
    few = whole.quantize(colours, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    _set_ground(few, whole)
    buffer = io.BytesIO()
    few.save(buffer, "PNG", compress_level=compress_level)
    return buffer.getvalue()


def _set_ground(few: Image.Image, whole: Image.Image) -> None:
    """Restore the exact background, which is that of pages: a palette holds averages."""
    corner = (0, 0)
    number, ground = few.getpixel(corner), whole.getpixel(corner)
    palette = few.getpalette()
    assert isinstance(number, int)
    assert isinstance(ground, tuple)
    assert palette is not None
    palette[3 * number : 3 * number + 3] = map(int, ground)
    few.putpalette(palette)
