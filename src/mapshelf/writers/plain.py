"""Clean text for export, so that every format can contain it.

Outlines from our readers are clean already. Writers do not rely on that, because an export must be
safe to open whatever the source of the text.
"""

import re
from typing import Final

_LINE_ENDS: Final = re.compile("\r\n?|[\x85\u2028\u2029]")
_FORBIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\ud800-\udfff\ufffe\uffff]"
)


def sound(text: str) -> str:
    """Return ``text`` with normalised line ends and without harmful characters.

    Removed are characters that XML forbids, lone surrogates, which cannot be encoded, and
    bidirectional controls, which reorder the text around them.
    """
    return _FORBIDDEN.sub("", _LINE_ENDS.sub("\n", text))


def one_line(text: str) -> str:
    """Return ``text`` with every run of white space replaced by a space."""
    return " ".join(sound(text).split())
