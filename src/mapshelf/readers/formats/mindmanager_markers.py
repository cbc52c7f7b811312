"""Map MindManager's icons to the common vocabulary of markers.

The names of the standard icons are in the schema that older MindManager files contain. Icons that
the author added have only a number; the map's list of markers contains their names.
"""

import re
from typing import Final

from mapshelf.model import Marker
from mapshelf.model.markers import is_known, marker

_PREFIX: Final = "urn:mindjet:"
_NAMES: Final = {
    "ArrowDown": "arrow-down",
    "ArrowLeft": "arrow-left",
    "ArrowRight": "arrow-right",
    "ArrowUp": "arrow-up",
    "BrokenConnection": "broken-line",
    "Cellphone": "phone",
    "Check": "yes",
    "CoffeeCup": "coffee",
    "Dollar": "money",
    "Emergency": "warning",
    "Euro": "money",
    "ExclamationMark": "exclamation",
    "Fax": "phone",
    "House": "home",
    "Information": "info",
    "Letter": "email",
    "Lightbulb": "idea",
    "MagnifyingGlass": "search",
    "Meeting": "group",
    "NoEntry": "stop",
    "Note": "document",
    "OnHold": "pause",
    "PadlockLocked": "lock",
    "PadlockUnlocked": "unlock",
    "QuestionMark": "question",
    "Redo": "arrow-refresh",
    "Resource1": "person",
    "Resource2": "group",
    "Rolodex": "person",
    "SmileyAngry": "face-angry",
    "SmileyHappy": "face-happy",
    "SmileyNeutral": "face-neutral",
    "SmileySad": "face-sad",
    "SmileyScreaming": "face-afraid",
    "ThumbsDown": "thumbs-down",
    "ThumbsUp": "thumbs-up",
    "TrafficLightsRed": "stop",
    "TwoEndArrow": "arrow-left-right",
}
"""Icons whose markers have other names. Other known markers have the same name in lower case, with
hyphens between words: ``key`` for ``Key``, ``flag-red`` for ``FlagRed``."""

_PRIORITY: Final = re.compile(r"Prio(\d)")
_WORD: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def mindmanager_marker(icon: str) -> Marker:
    """Return the marker for an icon such as ``urn:mindjet:FlagRed``; the prefix may be missing."""
    short = icon.removeprefix(_PREFIX)
    name = _NAMES.get(short, "")
    if not name and (priority := _PRIORITY.fullmatch(short)):
        name = f"priority-{priority[1]}"
    name = name or _WORD.sub("-", short).lower()
    return marker(name, icon) if is_known(name) else Marker(marker("", name).name, icon)
