"""Text that every format can hold.

Outlines that readers made are clean already. Writers do not rely on it, because what an export
may contain is a promise to whoever opens it, whichever way the text came into the catalogue.
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
    """Return ``text`` with line feeds as the only line ends, and without what may do harm.

    That are the characters XML forbids, lone surrogates, which no encoding can express, and those
    that reorder the text around them.
    """
    return _FORBIDDEN.sub("", _LINE_ENDS.sub("\n", text))


def one_line(text: str) -> str:
    """Return ``text`` with every run of white space made a single blank."""
    return " ".join(sound(text).split())
