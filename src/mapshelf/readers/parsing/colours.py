"""Parse the colours in map files to ``#rrggbb``.

Programs write colours in several ways. Transparent, unknown and invalid colours count as not set,
and the topic is drawn in the default colours.
"""

import re
from typing import Final

_HEX: Final = re.compile(r"#?([0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})", re.IGNORECASE)
_RGB: Final = re.compile(
    r"rgba?\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*(?:,\s*([\d.]+)\s*)?\)", re.IGNORECASE
)
_NAMES: Final = {
    "black": "#000000",
    "blue": "#0000ff",
    "gray": "#808080",
    "green": "#008000",
    "grey": "#808080",
    "orange": "#ffa500",
    "purple": "#800080",
    "red": "#ff0000",
    "white": "#ffffff",
    "yellow": "#ffff00",
}


def colour(text: str | None, *, alpha_first: bool = False) -> str:
    """Return a colour as ``#rrggbb``, empty if ``text`` is not a colour.

    Args:
        text: ``#rgb``, ``#rrggbb``, eight digits, ``rgb(…)``, ``rgba(…)``, or one of ten names; the
            number sign is optional.
        alpha_first: whether eight digits begin with the opacity (MindManager, Windows) or end with
            it (CSS, Freeplane).
    """
    text = (text or "").strip()
    if found := _HEX.fullmatch(text):
        return _from_digits(found[1].lower(), alpha_first=alpha_first)
    if found := _RGB.fullmatch(text):
        channels = [min(255, int(channel)) for channel in found.groups()[:3]]
        opaque = found[4] is None or found[4].strip("0.") != ""
        return "#{:02x}{:02x}{:02x}".format(*channels) if opaque else ""
    return _NAMES.get(text.lower(), "")


def colour_of_fractions(red: float, green: float, blue: float, alpha: float = 1.0) -> str:
    """Return the colour with channels from 0 to 1, empty if it is transparent."""
    if not alpha > 0:
        return ""
    channels = (round(255 * min(1.0, max(0.0, channel))) for channel in (red, green, blue))
    return "#{:02x}{:02x}{:02x}".format(*channels)


def _from_digits(digits: str, *, alpha_first: bool) -> str:
    if len(digits) == 3:
        return "#" + "".join(2 * digit for digit in digits)
    if len(digits) == 8:
        alpha, digits = (digits[:2], digits[2:]) if alpha_first else (digits[6:], digits[:6])
        return f"#{digits}" if alpha != "00" else ""
    return f"#{digits}"
