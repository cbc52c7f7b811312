"""The common vocabulary of markers, shared by all formats.

Programs have between twenty and two hundred icons each, with names of their own (``full-1``,
``priority-1``, ``urn:mindjet:Prio1``). Readers map them to the names in this module, so that
pictures, exports and searches need only one vocabulary. An icon without an equivalent is stored as
``other-`` and its original name; it is listed, and drawn as a plain mark.
"""

import re
from typing import Final

from mapshelf.model.outline import Marker

COLOURS: Final = (
    *("red", "orange", "yellow", "green", "blue", "purple"),
    *("pink", "brown", "grey", "black", "white"),
)

COLOURED: Final = (
    *("flag", "star", "person", "group", "pin", "circle", "square", "tag", "heart", "hat"),
)
"""Markers that exist in several colours: ``flag`` and ``flag-red``."""

PROGRESS: Final = (0, 10, 12, 20, 25, 30, 37, 40, 50, 60, 62, 70, 75, 80, 87, 90, 100)
"""Percentages of the progress markers (``progress-50``)."""

FACES: Final = (
    *("happy", "laughing", "wink", "neutral", "sad", "crying", "angry", "surprised", "confused"),
    *("cool", "love", "sick", "afraid", "tired"),
)

ARROWS: Final = (
    *("up", "down", "left", "right", "up-left", "up-right", "down-left", "down-right"),
    *("left-right", "up-down", "refresh"),
)

SYMBOLS: Final = frozenset(
    re.findall(
        r"[\w-]+",
        """
    warning signpost question exclamation info idea yes no plus minus stop go pause play bomb fire
    lock unlock key home pencil search link attachment bookmark bell clock hourglass calendar
    phone email message mailbox globe map book folder document list image music camera video
    money chart trophy gift cup sun moon cloud rain lightning snow tree leaf flower apple
    car plane ship train cart basket wizard penguin tools gear computer printer database
    thumbs-up thumbs-down hand handshake eye ribbon target puzzle brain speech quote
    female male family doctor business crown medal rocket magnet scissors glasses
    bank coffee food drink health shield broken-line launch code
""",
    )
)

_VOCABULARY: Final = frozenset(
    (
        *(f"priority-{number}" for number in range(10)),
        *(f"progress-{percent}" for percent in PROGRESS),
        *(f"task-{state}" for state in ("todo", "started", "paused", "done", "cancelled")),
        *COLOURED,
        *(f"{name}-{colour}" for name in COLOURED for colour in COLOURS),
        *(f"face-{name}" for name in FACES),
        *(f"arrow-{name}" for name in ARROWS),
        *(f"month-{number}" for number in range(1, 13)),
        *(f"weekday-{number}" for number in range(1, 8)),
        *(f"letter-{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"),
        *SYMBOLS,
    )
)

_EMOJI: Final = re.compile(r"emoji-[0-9a-f]{2,6}(?:-[0-9a-f]{2,6}){0,15}")
"""``emoji-1f507``: code points in hexadecimal digits, joined by hyphens."""

_OTHER: Final = re.compile(r"[^0-9a-z]+")


def is_known(name: str) -> bool:
    """Return whether ``name`` belongs to the vocabulary, rather than only to one program."""
    return name in _VOCABULARY or _EMOJI.fullmatch(name) is not None


def marker(name: str, original: str) -> Marker:
    """Return a marker.

    Args:
        name: its name in the vocabulary, empty if it has none.
        original: its name in the program.
    """
    return Marker(name or f"other-{_OTHER.sub('-', original.lower()).strip('-')[:50]}", original)


def emoji(text: str, original: str = "") -> Marker:
    """Return the marker for an emoji, of one character or several joined ones."""
    points = "-".join(f"{ord(character):x}" for character in text)
    return Marker(f"emoji-{points}", original or text)
