"""Clean text for export, so that every format can contain it.

Outlines from our readers are clean already. Writers do not rely on that, because an export must be
safe to open whatever the source of the text.
"""

import re
from collections.abc import Iterable
from typing import Final

from mapshelf.formats.map_links import linked_name

_LINE_ENDS: Final = re.compile("\r\n?|[\x85\u2028\u2029]")
_FORBIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\ud800-\udfff\ufffe\uffff]"
)

_HARMFUL: Final = frozenset({"data", "javascript", "vbscript"})
"""The schemes of links that run a script, or show a page that can contain one, where they are
opened. Others are kept, although pages do not link them: many programs have their own, such as
``zotero:``."""


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
    """Return the links of a topic without harmful ones and those to files of the author.

    Left out are links that run scripts, and ``file:`` links to anything but maps, because opening a
    file may start a program. Other programs, and the pages that they export, may open any link.
    Nothing is lost for good: the original file keeps all links.
    """
    return tuple(link for link in links if _is_safe(link))


def _is_safe(link: str) -> bool:
    # Programs ignore what is not printable, and some also spaces, so "java script:" is a scheme.
    plain = "".join(letter for letter in link if letter.isprintable()).strip()
    before, colon, _ = plain.partition(":")
    scheme = before.replace(" ", "").lower() if colon else ""
    if scheme == "file":
        return scheme == before.lower() and bool(linked_name(plain))
    return scheme not in _HARMFUL
