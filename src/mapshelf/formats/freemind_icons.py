"""The icons of FreeMind and Freeplane that mean what a marker means.

Writers need this direction: a marker from any program becomes an icon that FreeMind 1.0 and
Freeplane 1.7 draw. Several icons may mean the same; then the map keeps the one it had, and others
get the first.
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
"""By the name of the marker: the names of its icons, the one to write first."""

_KIN: Final = {"flag": "flag-red", "star": "star-yellow", "launch": "rocket", "person": "male"}
"""Markers that only the icon of another one can stand for, in whatever colour."""

_PLAIN: Final = re.compile(r"[\w%+-][\w .%+-]{0,60}")
"""What may be the name of an icon: programs look for a picture file that is called so."""


def freemind_icon(marker: Marker) -> str:
    """Return the name of the icon for ``marker``, empty if there is none.

    Where neither program of old has one, it is an emoji: Freeplane has them all since 1.8. What
    nobody else knows keeps the name it had, which Freeplane keeps, too.
    """
    kin = _KIN.get(marker.name.partition("-")[0], "")
    same = FREEMIND_ICONS.get(marker.name) or FREEMIND_ICONS.get(kin, ())
    if same:
        return marker.original if marker.original in same else same[0]
    if emoji := marker_emoji(marker.name):
        return "emoji-" + "-".join(f"{ord(character):X}" for character in emoji)
    return marker.original if _PLAIN.fullmatch(marker.original) else ""
