"""How wide text is, so that boxes fit it and lines break where they should.

Pictures are laid out by the measures of one font that comes with Mapshelf, whatever the machine
has: so the same map gives the same picture everywhere. Characters that this font does not have are
estimated; whoever draws them makes them as wide as they were taken to be (``svg``).
"""

import re
import unicodedata
from functools import cache
from typing import Final

import ttf_opensans

FAMILY: Final = "Open Sans"
"""Latin, Greek and Cyrillic; Apache License 2.0."""

FILES: Final = (
    str(ttf_opensans.OPENSANS_REGULAR.path),
    str(ttf_opensans.OPENSANS_SEMIBOLD.path),
)
"""The regular and the bold face."""

BOLD_WEIGHT: Final = 600

ASCENT: Final = 0.97
"""From the top of a line of text to its baseline, in font sizes."""

_WIDE: Final = 1.0
_EMOJI: Final = 1.2
_HALF_FLAG: Final = 0.6
_UNKNOWN: Final = 0.6
"""Estimated widths, in font sizes."""

_JOINED: Final = re.compile("\u200d.|[\U0001f3fb-\U0001f3ff]", re.DOTALL)
"""What is shown as one with the picture before it: a family, a colour of skin."""

_FLAG_LETTERS: Final = range(0x1F1E6, 0x1F200)
"""Two of them are shown as one flag."""


class Font:
    """One face of the font, as far as layout needs to know it."""

    def __init__(self, path: str) -> None:
        # Loaded with the first layout: workers start sooner without it.
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
        """Return how wide ``text`` is on one line, in font sizes."""
        if not text.isascii():
            text = _JOINED.sub("", text)
        return sum(map(self._widths.__getitem__, text))


class _Widths(dict[str, float]):
    """The widths of characters; those of others are estimated when they are first asked for."""

    def __missing__(self, character: str) -> float:
        width = self[character] = _estimate(character)
        return width


@cache
def font(*, bold: bool) -> Font:
    """Return a face. It is read once in the life of a process."""
    return Font(FILES[bold])


def is_invisible(character: str) -> bool:
    """Tell whether ``character`` takes no room of its own: marks, joiners, selectors."""
    return unicodedata.category(character) in ("Mn", "Me", "Cf", "Cc")


def is_emoji(character: str) -> bool:
    """Tell whether ``character`` is of the blocks of pictures."""
    return "\U0001f000" <= character <= "\U0001faff"


def _estimate(character: str) -> float:
    if is_invisible(character):
        return 0.0
    if is_emoji(character):
        return _HALF_FLAG if ord(character) in _FLAG_LETTERS else _EMOJI
    return _WIDE if unicodedata.east_asian_width(character) in ("W", "F") else _UNKNOWN
