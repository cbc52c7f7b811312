"""Map EdrawMind's marks to the common vocabulary of markers.

A mark has a group and a name, which is the group's name with a number: ``star1``, ``priority1``.
The numbers of most groups are undocumented, so they are translated only where their meaning is
obvious.
"""

import re
from functools import lru_cache
from typing import Final

from mapshelf.model import Marker
from mapshelf.model.markers import is_known, marker

_NUMBERED: Final = {"priority": "priority", "month": "month", "week": "weekday"}
_GROUPS: Final = {
    "flag": "flag",
    "star": "star",
    "people": "person",
    "person": "person",
    "heart": "heart",
    "arrow": "arrow-right",
    "face": "face-happy",
    "smiley": "face-happy",
    "emotion": "face-happy",
}
"""Markers for groups whose members differ only in colour or mood."""

_NAME: Final = re.compile(r"([a-z]+?)[\s_-]*(\d{0,3})")


@lru_cache(maxsize=512)  # few names, many times
def icon(group: str, name: str) -> Marker:
    """Return the marker for a mark of EdrawMind."""
    original = name or group
    found = _NAME.fullmatch(original.strip().lower())
    if found is None:
        return marker("", original)
    word, number = found.groups()
    if word in _NUMBERED and number:
        guess = f"{_NUMBERED[word]}-{int(number)}"
    else:
        guess = _GROUPS.get(word, word)
    return marker(guess if is_known(guess) else "", original)
