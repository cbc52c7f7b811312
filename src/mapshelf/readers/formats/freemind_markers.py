"""Map the icons of FreeMind and Freeplane to the vocabulary of ``model.markers``.

The programs name icons after the image files of an old desktop (``ksmiletris``, ``licq``). The
names are often misleading: ``yes`` is an exclamation mark, ``bookmark`` a star. The table follows
the images in Freeplane 1.7, because authors choose icons by their looks.
"""

import re
from collections.abc import Iterable
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.model import Marker
from mapshelf.model.markers import PROGRESS, marker

_NAMES: Final = {
    "DecoratedLink": "link",
    "DecoratedLinkLocal": "link",
    "Mail": "email",
    "addition": "plus",
    "attach": "attachment",
    "audio": "music",
    "back": "arrow-left",
    "bee": "emoji-1f41d",
    "bell": "bell",
    "bookmark": "star-yellow",
    "broken-line": "broken-line",
    "button_cancel": "no",
    "button_ok": "yes",
    "calendar": "calendar",
    "checked": "task-done",
    "clanbomber": "bomb",
    "clock": "clock",
    "clock2": "clock",
    "closed": "emoji-26d4",
    "decrypted": "unlock",
    "desktop_new": "emoji-1f4cb",
    "division": "emoji-2797",
    "down": "arrow-down",
    "edit": "pencil",
    "encrypted": "lock",
    "executable": "gear",
    "family": "family",
    "fema": "group",
    "female1": "female",
    "female2": "female",
    "females": "group",
    "flag": "flag-red",
    "folder": "folder",
    "forward": "arrow-right",
    "freemind_butterfly": "emoji-1f98b",
    "go": "go",
    "gohome": "home",
    "group": "group",
    "help": "question",
    "hourglass": "hourglass",
    "idea": "idea",
    "image": "image",
    "info": "info",
    "internet": "globe",
    "internet_warning": "globe",
    "kaddressbook": "phone",
    "kmail": "email",
    "knotify": "music",
    "korn": "mailbox",
    "ksmiletris": "face-happy",
    "laptop": "computer",
    "launch": "rocket",
    "licq": "flower",
    "list": "list",
    "male1": "male",
    "male2": "male",
    "males": "group",
    "messagebox_warning": "warning",
    "multiplication": "emoji-2716",
    "negative": "minus",
    "password": "key",
    "pencil": "pencil",
    "penguin": "penguin",
    "positive": "plus",
    "prepare": "pause",
    "redo": "arrow-refresh",
    "refresh": "arrow-refresh",
    "revision": "arrow-refresh",
    "smiley-angry": "face-angry",
    "smiley-neutral": "face-neutral",
    "smiley-oh": "face-surprised",
    "smily_bad": "face-sad",
    "stop": "stop",
    "stop-sign": "stop",
    "subtraction": "minus",
    "unchecked": "task-todo",
    "up": "arrow-up",
    "very_negative": "minus",
    "very_positive": "plus",
    "video": "video",
    "wizard": "wizard",
    "xmag": "search",
    "yes": "exclamation",
    **{f"full-{number}": f"priority-{number}" for number in range(10)},
    **{f"{percent}%": f"progress-{percent}" for percent in PROGRESS},
    **{
        f"flag-{colour}": f"flag-{colour}"
        for colour in ("black", "blue", "green", "orange", "pink", "yellow")
    },
}

_EMOJI: Final = re.compile(r"emoji-[0-9A-Fa-f]{2,6}(?:-[0-9A-Fa-f]{2,6}){0,15}")
_PERCENT: Final = re.compile(r"([0-9]{1,3})%")


def markers_of(icons: Iterable[Element]) -> tuple[Marker, ...]:
    """Return the markers for ``icon`` elements."""
    return tuple(icon_marker(name) for icon in icons if (name := icon.get("BUILTIN", "")))


def progress_of(markers: Iterable[Marker]) -> int | None:
    """Return the progress according to the icons of a topic, in per cent."""
    found = (_PERCENT.fullmatch(marker.original) for marker in markers)
    return next((int(percent[1]) for percent in found if percent), None)


def icon_marker(name: str) -> Marker:
    """Return the marker for an icon."""
    # Custom icons, and icons from other parts of the program, are paths.
    known = _NAMES.get(name, "") or _NAMES.get(name.rpartition("/")[2], "")
    if not known and _EMOJI.fullmatch(name):
        known = name.lower()
    return marker(known, name)
