"""Parse numbers in untrusted attributes, which may contain arbitrary text."""

from math import isfinite


def number(text: object, default: float = 0.0) -> float:
    """Return ``text`` as a number, ``default`` if it is not a finite one. Units are ignored."""
    if isinstance(text, str):
        text = text.strip().rstrip("ptxmc% ")
    try:
        found = float(text)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return default
    return found if isfinite(found) else default
