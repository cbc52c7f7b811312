"""Map markers to the icons of FreeMind and Freeplane.

Writers use this mapping: a marker from any program becomes an icon that FreeMind 1.0 and Freeplane
1.7 draw. If several icons have the same meaning, a marker keeps its original icon; markers from
other programs get the first.
"""

import re
from typing import Final

from mapshelf.formats.marker_emoji import marker_emoji
from mapshelf.model import Marker
from mapshelf.model.markers import PROGRESS

_ICONS: Final = {
    "arrow-down": "down",
    "arrow-left": "back",
    "arrow-refresh": "revision redo refresh",
    "arrow-right": "forward",
    "arrow-up": "up",
    "attachment": "attach",
    "bell": "bell",
    "bomb": "clanbomber",
    "broken-line": "broken-line",
    "calendar": "calendar",
    "clock": "clock clock2",
    "email": "Mail kmail",
    "exclamation": "yes",
    "face-angry": "smiley-angry",
    "face-happy": "ksmiletris",
    "face-neutral": "smiley-neutral",
    "face-sad": "smily_bad",
    "face-surprised": "smiley-oh",
    "family": "family",
    "female": "female1 female2",
    "flag-black": "flag-black",
    "flag-blue": "flag-blue",
    "flag-green": "flag-green",
    "flag-orange": "flag-orange",
    "flag-pink": "flag-pink",
    "flag-red": "flag",
    "flag-yellow": "flag-yellow",
    "flower": "licq",
    "folder": "folder",
    "gear": "executable",
    "globe": "internet internet_warning",
    "go": "go",
    "group": "group fema females males",
    "home": "gohome",
    "hourglass": "hourglass",
    "idea": "idea",
    "image": "image",
    "info": "info",
    "key": "password",
    "list": "list",
    "lock": "encrypted",
    "mailbox": "korn",
    "male": "male1 male2",
    "minus": "subtraction negative very_negative",
    "music": "knotify audio",
    "no": "button_cancel",
    "pause": "prepare",
    "pencil": "pencil edit",
    "penguin": "penguin",
    "phone": "kaddressbook",
    "plus": "addition positive very_positive",
    "question": "help",
    "rocket": "launch",
    "search": "xmag",
    "star-yellow": "bookmark",
    "stop": "stop stop-sign",
    "task-done": "checked",
    "task-todo": "unchecked",
    "unlock": "decrypted",
    "video": "video",
    "warning": "messagebox_warning",
    "wizard": "wizard",
    "yes": "button_ok",
    "emoji-1f41d": "bee",
    "emoji-1f98b": "freemind_butterfly",
    "emoji-26d4": "closed",
    "emoji-2716": "multiplication",
    "emoji-2797": "division",
    **{f"priority-{number}": f"full-{number}" for number in range(10)},
    **{f"progress-{percent}": f"{percent}%" for percent in PROGRESS},
}

FREEMIND_ICONS: Final = {name: tuple(icons.split()) for name, icons in _ICONS.items()}
"""The names of the icons for each marker, the preferred one first."""

_KIN: Final = {"flag": "flag-red", "star": "star-yellow", "launch": "rocket", "person": "male"}
"""Markers without an icon of their own, with the marker whose icon they use, in any colour."""

_PLAIN: Final = re.compile(r"[\w%+-][\w .%+-]{0,60}")
"""Valid icon names: programs look for an image file of that name."""


def freemind_icon(marker: Marker) -> str:
    """Return the name of the icon for ``marker``, empty if there is none.

    A marker that neither FreeMind 1.0 nor Freeplane 1.7 has becomes an emoji; Freeplane has them
    all since 1.8. An unknown marker keeps its original name, which Freeplane preserves.
    """
    kin = _KIN.get(marker.name.partition("-")[0], "")
    same = FREEMIND_ICONS.get(marker.name) or FREEMIND_ICONS.get(kin, ())
    if same:
        return marker.original if marker.original in same else same[0]
    if emoji := marker_emoji(marker.name):
        return "emoji-" + "-".join(f"{ord(character):X}" for character in emoji)
    return marker.original if _PLAIN.fullmatch(marker.original) else ""
