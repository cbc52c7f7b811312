"""Parse the positions of topics: pairs of numbers, with or without braces.

Mac programs write points as ``{12.5, -3}``, others as ``12,-3``. Any other text counts as no
position, and the layout places the topic. So does a place that no program draws at: the numbers of
a file may be infinite, or become so in a subtraction, and nothing could be computed with them.
"""

import re
from typing import Final

Place = tuple[float, float]
"""x (to the right) and y (downwards), in pixels."""

_NUMBER: Final = r"([-+]?\d{1,12}(?:\.\d{0,40})?(?:e[-+]?\d{1,3})?)"
_PAIR: Final = re.compile(
    rf"\s*\{{?\s*{_NUMBER}\s*,\s*{_NUMBER}\s*\}}?\s*", re.ASCII | re.IGNORECASE
)
FARTHEST: Final = 1_000_000.0
"""Maximum pixels from the middle of a sheet; real maps are some ten thousand wide."""

_LONGEST: Final = 200
"""In characters; Mac programs write numbers with all their digits, some twenty."""


def place(text: str | None) -> Place | None:
    """Parse a pair of numbers; return ``None`` if ``text`` is not one."""
    if not text or len(text) > _LONGEST:
        return None
    found = _PAIR.fullmatch(text)
    return (float(found[1]), float(found[2])) if found else None


def is_near(point: Place) -> bool:
    """Return whether a topic can be drawn at ``point``: it is finite, and within ``FARTHEST``."""
    return all(abs(distance) <= FARTHEST for distance in point)


def moved(point: Place, origin: Place | None, sign: int = 1) -> Place:
    """Return ``point`` plus ``origin``, or minus ``origin`` if ``sign`` is -1."""
    if origin is None:
        return point
    return point[0] + sign * origin[0], point[1] + sign * origin[1]


def side_of(distance: float) -> str:
    """Return the side of a main topic, given its distance to the right of the central one."""
    if distance:
        return "left" if distance < 0 else "right"
    return ""
