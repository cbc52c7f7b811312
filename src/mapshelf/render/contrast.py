"""Contrast of colours as WCAG 2 computes it, and colours changed just enough to be legible.

Authors choose colours for one ground, and we show them on two. A colour keeps its hue; only its
lightness is changed, and only as far as it has to be.
"""

from colorsys import hls_to_rgb, rgb_to_hls
from functools import lru_cache
from typing import Final

TEXT: Final = 4.5
"""Least contrast of text with what is behind it (WCAG 2, level AA)."""

LINE: Final = 2.0
"""Least contrast of lines: enough to be seen, and pale lines stay pale."""

_TINTED: Final = 1.17
"""Most contrast of a tinted ground with the ground itself: what can be read on the one can be read
on the other."""

_STEPS: Final = 24  # of lightness that are tried
_TINTS: Final = 50  # shares of a colour that are tried


@lru_cache(4096)
def luminance(colour: str) -> float:
    """Return how light ``colour`` (``#rrggbb``) is to the eye, 0 to 1."""
    red, green, blue = (_linear(share) for share in _shares(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, 1 to 21."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@lru_cache(4096)
def legible(colour: str, ground: str, least: float = TEXT) -> str:
    """Return ``colour``, lighter or darker if it could not be told from ``ground``."""
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
    """Return ``ground`` with as much of ``colour`` in it as leaves words on it legible."""
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
