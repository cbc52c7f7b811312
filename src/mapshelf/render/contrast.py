"""Compute WCAG 2 contrast, and adjust colours until they are legible.

Authors choose colours for one background, and we show them on a light and on a dark one. A colour
keeps its hue. Only its lightness changes, and only as much as necessary.
"""

from colorsys import hls_to_rgb, rgb_to_hls
from functools import lru_cache
from typing import Final

TEXT: Final = 4.5
"""Minimum contrast of text with its background (WCAG 2, level AA)."""

LINE: Final = 2.0
"""Minimum contrast of lines: enough to be seen, and pale lines stay pale."""

_TINTED: Final = 1.17
"""Maximum contrast between a tinted background and the plain one: text that is legible on one is
also legible on the other."""

_STEPS: Final = 24  # number of lightness values to try
_TINTS: Final = 50  # number of shares of a colour to try


@lru_cache(4096)
def luminance(colour: str) -> float:
    """Return the relative luminance of ``colour`` (``#rrggbb``), 0 to 1, as WCAG 2 defines it."""
    red, green, blue = (_linear(share) for share in _shares(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@lru_cache(4096)
def legible(colour: str, ground: str, least: float = TEXT) -> str:
    """Return ``colour``, made lighter or darker if its contrast with ``ground`` is below ``least``.

    If no lightness has enough contrast, it becomes white or black.
    """
    if contrast(colour, ground) >= least:
        return colour
    hue, lightness, saturation = rgb_to_hls(*_shares(colour))
    end = 1.0 if contrast("#ffffff", ground) >= contrast("#000000", ground) else 0.0
    for step in range(1, _STEPS + 1):
        changed = lightness + (end - lightness) * step / _STEPS
        found = _written(hls_to_rgb(hue, changed, saturation))
        if contrast(found, ground) >= least:
            break
    return found


@lru_cache(4096)
def tint(colour: str, ground: str) -> str:
    """Return ``ground``, mixed with as much of ``colour`` as keeps text on it legible."""
    pairs = list(zip(_shares(colour), _shares(ground), strict=True))
    found = ground
    for step in range(_TINTS, 0, -1):
        share = step / _TINTS
        found = _written(tuple(share * one + (1 - share) * other for one, other in pairs))
        if contrast(found, ground) <= _TINTED:
            break
    return found


def _shares(colour: str) -> tuple[float, float, float]:
    red, green, blue = bytes.fromhex(colour[1:])
    return red / 255, green / 255, blue / 255


def _linear(share: float) -> float:
    return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)


def _written(shares: tuple[float, ...]) -> str:
    return "#" + "".join(f"{round(share * 255):02x}" for share in shares)
