"""Clean text for export, so that every format can contain it.

Outlines from our readers are clean already. Writers do not rely on that, because an export must be
safe to open whatever the source of the text.
"""

import re
from collections.abc import Iterable
from typing import Final

_LINE_ENDS: Final = re.compile("\r\n?|[\x85\u2028\u2029]")
_FORBIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\ud800-\udfff\ufffe\uffff]"
)

_SCRIPTS: Final = ("javascript:", "vbscript:")
"""The schemes of links that run a script where they are opened. All others are kept: many programs
have their own, such as ``zotero:``."""


def sound(text: str) -> str:
    """Return ``text`` with normalised line ends and without harmful characters.

    Removed are characters that XML forbids, lone surrogates, which cannot be encoded, and
    bidirectional controls, which reorder the text around them.
    """
    return _FORBIDDEN.sub("", _LINE_ENDS.sub("\n", text))


def one_line(text: str) -> str:
    """Return ``text`` with every run of white space replaced by a space."""
    return " ".join(sound(text).split())


def safe_links(links: Iterable[str]) -> tuple[str, ...]:
    """Return the links of a topic without those that run scripts.

    Other programs, and the pages that they export, may open any link. Nothing is lost for good: the
    original file keeps all links.
    """
    return tuple(link for link in links if not _plain(link).startswith(_SCRIPTS))


def _plain(link: str) -> str:
    """Return a link as browsers read its scheme: they ignore what is not printable."""
    return "".join(letter for letter in link if letter.isprintable()).strip().lower()
