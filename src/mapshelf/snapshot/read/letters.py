"""Find the offset of each first letter in an alphabetical list of maps.

A column holds the first bytes of each title, so bisection finds a letter in about twenty steps.
Titles in alphabetic scripts are grouped by letter. Each script with thousands of characters is a
single group, and so are all characters that are neither letters nor digits.
"""

import sys
from bisect import bisect_left
from dataclasses import dataclass
from typing import Final, Protocol

from mapshelf.snapshot.format.columns import Array

MOST_STEPS: Final = 150
"""Maximum number of letters looked up in a list. Titles after the last one have no link, but can be
reached page by page."""

OTHERS: Final = "#"
"""The group of characters that are neither letters nor digits."""

_DIGITS: Final = "0-9"

_GROUPS: Final = (
    (0x0000, 0x002F, OTHERS),
    (0x0030, 0x0039, _DIGITS),
    (0x003A, 0x0060, OTHERS),
    (0x007B, 0x00A9, OTHERS),
    (0x1100, 0x11FF, "가"),
    (0x2000, 0x2BFF, OTHERS),
    (0x2E80, 0x303F, OTHERS),
    (0x3040, 0x30FF, "あ"),
    (0x3100, 0x312F, "ㄅ"),
    (0x3400, 0x9FFF, "漢"),
    (0xAC00, 0xD7FF, "가"),
    (0xE000, 0xFFFF, OTHERS),
    (0x10000, 0x10FFFF, OTHERS),
)
"""Groups of several characters: the first and last code points, and the name of the group."""

_KEY_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class Letter:
    """A group of titles in a list.

    Attributes:
        name: the letter, digit or script that the titles begin with.
        offset: the number of maps before the group.
    """

    name: str
    offset: int


class Pages(Protocol):
    """A list of slots, from which pages are read."""

    def __len__(self) -> int:
        """Return the length of the list."""

    def page(self, start: int, end: int) -> list[int]:
        """Return the slots from ``start`` to ``end``."""


def letters(found: Pages, title_starts: Array) -> list[Letter]:
    """Return the groups of an alphabetical list, in its order.

    Args:
        found: the list.
        title_starts: the column with the first bytes of titles as numbers.
    """

    def start(place: int) -> int:
        (slot,) = found.page(place, place + 1)
        return int(title_starts[slot])

    groups: dict[str, Letter] = {}
    offset, total = 0, len(found)
    for _ in range(MOST_STEPS):
        if offset >= total:
            break
        name, beyond = _group(start(offset))
        groups.setdefault(name, Letter(name, offset))
        offset = bisect_left(range(total), beyond, lo=offset + 1, key=start)
    return list(groups.values())


def _group(start: int) -> tuple[str, int]:
    """Return the group of a title start, and the first title start after the group."""
    first = _first_letter(start.to_bytes(_KEY_BYTES))
    name, last = first.upper() if first.isalpha() else OTHERS, ord(first)
    for low, high, group in _GROUPS:
        if low <= ord(first) <= high:
            name, last = group, high
    return name, _beginning(last + 1)


def _first_letter(start: bytes) -> str:
    # The first character has at most four bytes, so it is complete; later ones may be truncated.
    return start.decode(errors="ignore")[:1] or "\0"


def _beginning(code_point: int) -> int:
    """Return the lowest title start whose first character has this code point."""
    if code_point > sys.maxunicode:
        return 1 << 8 * _KEY_BYTES
    if 0xD800 <= code_point <= 0xDFFF:  # surrogates are not characters
        code_point = 0xE000
    return int.from_bytes(chr(code_point).encode().ljust(_KEY_BYTES, b"\0"))
