"""Measure text, so that it fits its box and lines break in the right places.

Layouts use the metrics of one font that comes with Mapshelf, so the same map has the same layout on
every machine. The width of characters that this font lacks is estimated, and ``svg`` stretches
lines to that width.
"""

import re
import unicodedata
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

FAMILY: Final = "Open Sans"
"""Latin, Greek and Cyrillic; Apache License 2.0."""

_FACES: Final = ("Regular", "SemiBold", "Italic", "SemiBoldItalic")


def _font_files() -> tuple[str, ...]:
    """Return the font files of the package ``ttf-opensans``.

    Importing it would import Pillow, too: 8 MB in every worker, which decodes no pictures.
    """
    package = find_spec("ttf_opensans")
    assert package is not None
    assert package.origin is not None
    folder = Path(package.origin).parent / "ttf"
    return tuple(str(folder / f"OpenSans-{face}.ttf") for face in _FACES)


FILES: Final = _font_files()
"""The regular and the bold face, upright and italic."""

BOLD_WEIGHT: Final = 600

ASCENT: Final = 0.97
"""Distance from the top of a line of text to its baseline, in font sizes."""

_WIDE: Final = 1.0
_EMOJI: Final = 1.2
_HALF_FLAG: Final = 0.6
_UNKNOWN: Final = 0.6
"""Estimated widths, in font sizes."""

_JOINED: Final = re.compile("\u200d.|[\U0001f3fb-\U0001f3ff]", re.DOTALL)
"""Characters that are drawn as part of the emoji before them: family members, skin tones."""

_FLAG_LETTERS: Final = range(0x1F1E6, 0x1F200)
"""Regional indicators: two of them are drawn as one flag."""


class Font:
    """The metrics of one face of the font."""

    def __init__(self, path: str) -> None:
        # Imported with the first layout, so that processes start faster.
        from fontTools.ttLib import TTFont  # noqa: PLC0415

        with TTFont(path, lazy=True) as file:
            unit = file["head"].unitsPerEm
            widths = file["hmtx"].metrics
            characters = file.getBestCmap()
            self._widths = _Widths(
                {chr(code): widths[glyph][0] / unit for code, glyph in characters.items()}
            )
        self.characters: Final = frozenset(map(chr, characters))

    def width(self, text: str) -> float:
        """Return the width of ``text`` on one line, in font sizes."""
        if not text.isascii():
            text = _JOINED.sub("", text)
        return sum(map(self._widths.__getitem__, text))


class _Widths(dict[str, float]):
    """The widths of characters; those the font lacks are estimated on first access."""

    def __missing__(self, character: str) -> float:
        width = self[character] = _estimate(character)
        return width


@cache
def font(*, bold: bool, italic: bool = False) -> Font:
    """Return a face; each is read once per process."""
    return Font(FILES[bold + 2 * italic])


def is_invisible(character: str) -> bool:
    """Return whether ``character`` has no width: combining marks, joiners, control characters."""
    return unicodedata.category(character) in ("Mn", "Me", "Cf", "Cc")


def is_emoji(character: str) -> bool:
    """Return whether ``character`` is in the emoji blocks."""
    return "\U0001f000" <= character <= "\U0001faff"


def _estimate(character: str) -> float:
    if is_invisible(character):
        return 0.0
    if is_emoji(character):
        return _HALF_FLAG if ord(character) in _FLAG_LETTERS else _EMOJI
    return _WIDE if unicodedata.east_asian_width(character) in ("W", "F") else _UNKNOWN
