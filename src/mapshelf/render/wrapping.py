"""Break text into lines of a given width.

Lines break at white space, after hyphens, slashes and underscores, and between characters of
scripts that do not separate words by spaces. A word that is too long for a line is divided. The
Unicode rules for line breaking (UAX 14) cover many more cases, but topics are short, and the large
tables for these rules would be another dependency for little benefit.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Final, NamedTuple

from mapshelf.render.fonts import Font

ELLIPSIS: Final = "…"

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_EXTENDS: Final = (
    "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0981-\u0983"
    "\u09bc-\u09cd\u0e31\u0e33-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb3-\u0ebc\u0ec8-\u0ecd\u102b-\u103e"
    "\u17b4-\u17d3\u200c\u20d0-\u20f0\u3099\u309a\ufe00-\ufe0f\U0001f3fb-\U0001f3ff"
    "\U000e0020-\U000e007f"
)
"""Combining marks, vowel signs and selectors, which belong to the character before them."""

_CLOSING: Final = "、。，．：；？！）」』】〉》〕…・ー々)\\]}.,:;?!%"  # noqa: RUF001
"""Characters that must not begin a line."""

_CLUSTER: Final = rf"(?:[\U0001f1e6-\U0001f1ff]{{2}}|.)[{_EXTENDS}]*(?:\u200d.[{_EXTENDS}]*)*"
"""A grapheme cluster: what a person sees as one character."""

_PIECES: Final = re.compile(
    rf"\s+|[{_UNSPACED}][{_EXTENDS}]*[{_CLOSING}]*|(?:(?![{_UNSPACED}\s]){_CLUSTER})+?"
    rf"(?:(?<=[-/_])(?=\w)|(?=[{_UNSPACED}\s])|\Z)",
    re.DOTALL,
)
"""The pieces of text between which lines may break; runs of white space are pieces, too."""

_EVEN: Final = 1.12
"""The maximum width of a line when lines are balanced, in average widths of the lines."""

_CLUSTERS: Final = re.compile(_CLUSTER, re.DOTALL)


class Part(NamedTuple):
    """A part of a line, its width in font sizes, and its formatting (``writers.rich_text``)."""

    text: str
    width: float
    marks: frozenset[str]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text.

    Attributes:
        text: the whole text.
        width: its width, in font sizes.
        parts: the parts with different formatting (``emphasis``); empty if there is none.
    """

    text: str
    width: float
    parts: tuple[Part, ...] = ()


STRETCH: Final = 2.0
"""Default factor by which lines may be wider to fit a long word."""

_CACHED_TEXTS: Final = 4096
"""Texts whose lines are cached: a thumbnail tries many layouts of the same topics."""


def wrapped(
    text: str, font: Font, width: float, most: int, stretch: float = STRETCH
) -> tuple[Line, ...]:
    """Return ``text`` in lines no wider than ``width``, or somewhat wider if a word needs it.

    Args:
        text: the text to break. Its line ends are kept, but empty lines are dropped.
        font: the font face for measuring the text.
        width: the usual maximum width of a line, in font sizes.
        most: the maximum number of lines; an ellipsis replaces the rest of the text.
        stretch: the factor by which lines may be wider than ``width`` to fit a long word.
    """
    # More characters do not fit, because even the narrowest letters are a fifth of a font size
    # wide. The limit also saves processing a long text of invisible characters to its end.
    longest = int(most * (8 * width + 8))
    if len(text) > longest:
        text = "".join(_CLUSTERS.findall(text[:longest].rstrip("\u200d"))[:-1])
    return _wrapped(text, font, width, most, stretch)


@lru_cache(_CACHED_TEXTS)
def _wrapped(text: str, font: Font, width: float, most: int, stretch: float) -> tuple[Line, ...]:
    width = _stretched(text, font, width, stretch)
    lines: list[Line] = []
    for paragraph in text.split("\n"):
        lines.extend(_lines(paragraph, font, width, most + 1 - len(lines)))
        if len(lines) > most:
            return (*lines[: most - 1], _cut(lines[most - 1], font, width))
    return tuple(lines)


def _stretched(text: str, font: Font, width: float, stretch: float) -> float:
    """Return ``width``, enlarged to fit the longest word, by a factor of at most ``stretch``."""
    if len(text) <= width:  # letters are seldom wider than they are high
        return width
    longest = max((font.width(piece) for piece in _PIECES.findall(text)), default=0.0)
    return max(width, min(longest, width * stretch))


def _lines(paragraph: str, font: Font, width: float, most: int) -> list[Line]:
    """Return the first ``most`` lines of a paragraph, balanced if that is all of them."""
    if font.width(paragraph) <= width:  # most topics are short
        return [_line(paragraph, font)] if paragraph.strip() else []
    pieces = [(piece, font.width(piece)) for piece in _pieces(paragraph, font, width)]
    lines = _filled(pieces, width, most)
    if len(lines) < most:
        # The last line is often a single word. Slightly narrower lines avoid that.
        share = _EVEN * sum(taken for _, taken in pieces) / len(lines)
        if share < width:
            even = _filled(pieces, share, most)
            lines = even if len(even) == len(lines) else lines
    return [_line(line, font) for line in lines]


def _filled(pieces: list[tuple[str, float]], width: float, most: int) -> list[str]:
    """Fill lines one after the other, at most ``most``; a wider piece gets a line of its own."""
    lines: list[str] = []
    line, room = "", width
    for piece, taken in pieces:
        if line and taken > room and not piece.isspace():
            lines.append(line)
            if len(lines) == most:
                return lines
            line, room = "", width
        if line or not piece.isspace():
            line += piece
            room -= taken
    return [*lines, line] if line.strip() else lines


def _pieces(paragraph: str, font: Font, width: float) -> list[str]:
    """Return the pieces from which lines are assembled, none wider than a line."""
    pieces: list[str] = []
    for piece in _PIECES.findall(paragraph):
        if piece.isspace() or font.width(piece) <= width:
            pieces.append(piece)
        else:
            pieces.extend(_parts(piece, font, width))
    return pieces


def _parts(word: str, font: Font, width: float) -> list[str]:
    """Divide a word that is too long for a line into parts that fit, about equally long."""
    whole = font.width(word)
    share = min(width, whole / ceil(whole / width) + 0.3)
    parts: list[str] = []
    part, taken = "", 0.0
    for cluster in _CLUSTERS.findall(word):
        wide = font.width(cluster)
        if part and taken + wide > share:
            parts.append(part)
            part, taken = "", 0.0
        part += cluster
        taken += wide
    return [*parts, part]


def _cut(line: Line, font: Font, width: float) -> Line:
    """Return ``line``, cut so that it fits with an ellipsis at its end."""
    room = width - font.width(ELLIPSIS)
    kept, taken = "", 0.0
    for cluster in _CLUSTERS.findall(line.text):
        taken += font.width(cluster)
        if taken > room:
            break
        kept += cluster
    return _line(kept.rstrip(" .,;:-") + ELLIPSIS, font)


def _line(text: str, font: Font) -> Line:
    text = text.strip()
    return Line(text, font.width(text))
