"""Filters as words of a search text: ``folder:``, ``tag:``, and both after a minus.

Whoever does not know them loses nothing: everything else is searched for as it is typed, and
nothing is an error.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

NOT: Final = "-"
"""Stands before the name of a filter whose maps are left out."""

TYPED: Final = {
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb\u300c\u300d\uff02"), '"'),
    **dict.fromkeys(map(ord, "\u2212\u2013"), "-"),
}
"""Typographic quotes and minus signs, which keyboards and word processors insert, and what they
stand for: one character each."""

_WORDS: Final = re.compile(
    r'(?P<phrase>(?:(?<=\s)|^)-?(?i:title:)?"[^"]*"?)|'
    r"(?:(?<=\s)|^)(?P<not>-?)(?P<name>(?i:folder|tag)):"
    r'(?:"(?P<quoted>[^"]*)"?|(?P<word>[^\s"]+))'
)
"""A phrase, in which such words mean nothing, or one of them."""


def split_filters(
    text: str, keys: Mapping[str, Callable[[str], int]]
) -> tuple[str, str, tuple[tuple[str, int], ...]]:
    """Return a text without such words, these words, and the filters that they mean.

    Args:
        text: what somebody searches for.
        keys: for each name, what makes a key of a value.
    """
    found: list[str] = []
    filters: list[tuple[str, int]] = []

    pieces, end = [], 0
    for match in _WORDS.finditer(text.translate(TYPED)):
        part = "quoted" if match["quoted"] is not None else "word"
        if match["phrase"] is not None or not (match[part] or "").strip():
            continue
        name, value = match["name"].lower(), text[match.start(part) : match.end(part)]
        found.append(text[match.start() : match.end()])
        filters.append(((NOT if match["not"] else "") + name, keys[name](value.strip())))
        pieces.append(text[end : match.start()])
        end = match.end()
    if not found:
        return text, "", ()
    rest = " ".join("".join([*pieces, text[end:]]).split())
    return rest, " ".join(found), tuple(dict.fromkeys(filters))
