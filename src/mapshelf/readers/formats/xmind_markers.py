"""Map XMind's markers to the common vocabulary.

XMind has some 200 markers, whose names have been the same since version 3. The names of newer ones
begin with ``c_symbol_``; eight of them begin with ``c_simbol-``, spelled like this.
"""

from typing import Final

from mapshelf.model import Marker
from mapshelf.model.markers import is_known, marker

_COLOURS: Final = {
    "gray": "grey",
    "dark-blue": "blue",
    "dark-green": "green",
    "dark-gray": "grey",
    "dark-grey": "grey",
    "dark-purple": "purple",
    "dark-red": "red",
}
_COLOURED: Final = {
    "flag": "flag",
    "star": "star",
    "half-star": "star",
    "people": "person",
    "tag": "tag",
}
_MONTHS: Final = (
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
)
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_SYMBOLS: Final = {
    "about": "info",
    "apostrophe": "quote",
    "attention": "warning",
    "bar_chart": "chart",
    "broken_heart": "heart",
    "comment": "speech",
    "contact": "person",
    "dislike": "thumbs-down",
    "exclam": "exclamation",
    "exclamation": "exclamation",
    "flight": "plane",
    "airplane": "plane",
    "like": "thumbs-up",
    "line_graph": "chart",
    "medals": "medal",
    "no-entry": "stop",
    "notice": "bell",
    "pen": "pencil",
    "pie_chart": "chart",
    "right": "yes",
    "shopping_cart": "cart",
    "telephone": "phone",
    "wrong": "no",
}
"""Symbols with another name in the vocabulary; the others have the same name."""

_NAMES: Final = {
    "task-start": "progress-0",
    "task-oct": "progress-12",
    "task-quarter": "progress-25",
    "task-3oct": "progress-37",
    "task-half": "progress-50",
    "task-5oct": "progress-62",
    "task-3quar": "progress-75",
    "task-3quarter": "progress-75",
    "task-7oct": "progress-87",
    "task-pause": "task-paused",
    "task-doing": "task-started",
    "smiley-smile": "face-happy",
    "smiley-laugh": "face-laughing",
    "smiley-angry": "face-angry",
    "smiley-cry": "face-crying",
    "smiley-surprise": "face-surprised",
    "smiley-boring": "face-neutral",
    "smiley-embarrass": "face-confused",
    "smiley-think": "face-confused",
    "smiley-love": "face-love",
    "smiley-adore": "face-love",
    "smiley-sad": "face-sad",
    "smiley-upset": "face-sad",
    "smiley-cry-laugh": "face-laughing",
    "smiley-devil": "face-angry",
    "celebration-birthday": "gift",
    "celebration-boom": "bomb",
    "celebration-cheers": "drink",
    "celebration-clap": "hand",
    "celebration-five": "hand",
    "celebration-king": "crown",
    "celebration-kiss": "face-love",
    "celebration-ribbon": "ribbon",
    "other-businesscard": "person",
    "other-chat": "speech",
    "other-coffee-cup": "coffee",
    "other-exclam": "exclamation",
    "other-fax": "phone",
    "other-lightbulb": "idea",
    "other-note": "document",
    "other-people": "person",
    "other-people2": "group",
    "other-phone2": "phone",
    "other-social": "globe",
    **{f"month-{month}": f"month-{number}" for number, month in enumerate(_MONTHS, 1)},
    **{f"week-{day}": f"weekday-{number}" for number, day in enumerate(_DAYS, 1)},
}

_PREFIXES: Final = ("c_symbol_", "c_simbol-", "symbol_", "symbol-", "other-")


def xmind_marker(identifier: str) -> Marker:
    """Return the marker that XMind calls ``identifier``."""
    return marker(_name(identifier.strip().lower()), identifier)


def _name(identifier: str) -> str:
    if found := _NAMES.get(identifier):
        return found
    if is_known(identifier):
        return identifier
    for prefix in _PREFIXES:
        if identifier.startswith(prefix):
            symbol = identifier.removeprefix(prefix)
            return _known(_SYMBOLS.get(symbol, symbol))
    for group, name in _COLOURED.items():
        if identifier.startswith(f"{group}-"):
            colour = identifier.removeprefix(f"{group}-")
            return _known(f"{name}-{_COLOURS.get(colour, colour)}")
    return ""


def _known(name: str) -> str:
    return name if is_known(name) else ""
