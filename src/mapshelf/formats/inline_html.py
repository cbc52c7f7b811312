"""Detect HTML in formats that allow both HTML and plain text without marking which (OPML)."""

import re
from typing import Final

_ANY_TAG: Final = re.compile(
    r"<(/?)([A-Za-z][A-Za-z0-9]{0,20})(?:\s[^<>]{0,4000})?/?>|(<[A-Za-z/!?])"
)
_SOURCE: Final = re.compile(r"""["'`\\]\s{0,9}</?[A-Za-z]|>\s{0,9}["'`\\]|[;{}]\s{0,99}\Z""")
_INLINE: Final = frozenset(
    {
        *("a", "b", "big", "br", "code", "del", "em", "font", "i", "ins", "p", "s", "small"),
        *("span", "strike", "strong", "sub", "sup", "tt", "u"),
    }
)
_ALONE: Final = frozenset({"br"})
"""Inline elements without an end tag."""


def is_inline_html(text: str) -> bool:
    """Return whether ``text`` is HTML: it has tags, all inline and all closed.

    Source code with tags does not count: there, tags are quoted, or the line ends like a line of
    code.
    """
    if "<" not in text or _SOURCE.search(text):
        return False
    opened: list[str] = []
    tags = _ANY_TAG.findall(text)
    for end, name, unknown in tags:
        element = name.lower()
        if unknown or element not in _INLINE:
            return False
        if end and (not opened or opened.pop() != element):
            return False
        if not end and element not in _ALONE:
            opened.append(element)
    return bool(tags) and not opened
