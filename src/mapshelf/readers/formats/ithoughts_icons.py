"""Map iThoughts' icons to the common vocabulary of markers.

iThoughts has two hundred icons from several collections, with different kinds of names
(``icon-pencil``, ``smiley_sad``, ``signal-flag-red``, ``p1``). Most names describe the icon, so a
few rules and a short table translate them.
"""

import re
from functools import lru_cache
from typing import Final

from mapshelf.model import Marker
from mapshelf.model.markers import is_known, marker

_TABLE: Final = {
    "alert": "warning",
    "at": "email",
    "bulb": "idea",
    "calculator": "computer",
    "check": "yes",
    "clip": "attachment",
    "cross": "no",
    "delete": "no",
    "dollar": "money",
    "envelope": "email",
    "euro": "money",
    "exclamationmark": "exclamation",
    "forbidden": "no",
    "hand-thumb-down": "thumbs-down",
    "hand-thumb-up": "thumbs-up",
    "hand-stop": "stop",
    "house": "home",
    "information": "info",
    "magnifier": "search",
    "mail": "email",
    "note": "document",
    "padlock": "lock",
    "paperclip": "attachment",
    "pound": "money",
    "questionmark": "question",
    "thumb-down": "thumbs-down",
    "thumb-up": "thumbs-up",
    "tick": "yes",
    "user": "person",
    "users": "group",
    "warn": "warning",
}
_COLLECTION: Final = re.compile(r"(?:icon|sign|signal|symbol)-(.+)")
_PRIORITY: Final = re.compile(r"(?:p|priority|prio)-?([1-9])")
_FACE: Final = re.compile(r"(?:smiley|face)-(.+)")
_FACES: Final = {"smile": "happy", "grin": "laughing", "indifferent": "neutral", "cry": "crying"}


@lru_cache(maxsize=512)  # few names, many times
def icon(original: str) -> Marker:
    """Return the marker for an icon of iThoughts."""
    name = original.strip().lower().replace("_", "-")
    if found := _COLLECTION.fullmatch(name):
        name = found[1]
    if found := _PRIORITY.fullmatch(name):
        name = f"priority-{found[1]}"
    elif found := _FACE.fullmatch(name):
        name = f"face-{_FACES.get(found[1], found[1])}"
    name = _TABLE.get(name, name)
    return marker(name if is_known(name) else "", original)
