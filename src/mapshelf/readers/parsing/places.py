"""Parse the positions of topics: pairs of numbers, with or without braces.

Mac programs write points as ``{12.5, -3}``, others as ``12,-3``. Anything else counts as no
position; the layout then places the topic.
"""

import re
from typing import Final

Place = tuple[float, float]
"""To the right and down, in pixels."""

_NUMBER: Final = r"([-+]?\d{1,12}(?:\.\d{0,40})?(?:e[-+]?\d{1,3})?)"
_PAIR: Final = re.compile(
    rf"\s*\{{?\s*{_NUMBER}\s*,\s*{_NUMBER}\s*\}}?\s*", re.ASCII | re.IGNORECASE
)
_LONGEST: Final = 200
"""Characters; Mac programs write all digits of a number, which are some twenty."""


def place(text: str | None) -> Place | None:
    """Return the pair of numbers that ``text`` consists of, ``None`` if it is none."""
    if not text or len(text) > _LONGEST:
        return None
    found = _PAIR.fullmatch(text)
    return (float(found[1]), float(found[2])) if found else None


def moved(point: Place, origin: Place | None, sign: int = 1) -> Place:
    """Return ``point`` with ``origin`` added, or subtracted if ``sign`` is -1."""
    if origin is None:
        return point
    return point[0] + sign * origin[0], point[1] + sign * origin[1]


def side_of(distance: float) -> str:
    """Return the side of a main topic that is so far to the right of the central one."""
    if distance:
        return "left" if distance < 0 else "right"
    return ""
