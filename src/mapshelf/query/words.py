"""Filters as words of a search text: ``folder:``, ``tag:``, and both after a minus.

Whoever does not know them loses nothing: everything else is searched for as it is typed, and
nothing is an error.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

NOT: Final = "-"
"""Stands before the name of a filter whose maps are left out."""

_WORDS: Final = re.compile(
    r'(?P<phrase>(?:(?<=\s)|^)-?["\u201c\u201d\u201e][^"\u201c\u201d]*["\u201c\u201d]?)|'
    r"(?:(?<=\s)|^)(?P<not>[-\u2212\u2013]?)(?P<name>(?i:folder|tag)):"
    r'(?:["\u201c\u201d\u201e](?P<quoted>[^"\u201c\u201d]*)["\u201c\u201d]?|(?P<word>[^\s"]+))'
)
"""A phrase, in which such words mean nothing, or one of them."""


def split_words(
    text: str, keys: Mapping[str, Callable[[str], int]]
) -> tuple[str, str, tuple[tuple[str, int], ...]]:
    """Return a text without such words, these words, and the filters that they mean.

    Args:
        text: what somebody searches for.
        keys: for each name, what makes a key of a value.
    """
    if ":" not in text:
        return text, "", ()
    found: list[str] = []
    filters: list[tuple[str, int]] = []

    def take(match: re.Match[str]) -> str:
        value = (match["quoted"] or match["word"] or "").strip()
        if match["phrase"] is not None or not value:
            return match[0]
        name = match["name"].lower()
        found.append(match[0])
        filters.append(((NOT if match["not"] else "") + name, keys[name](value)))
        return ""

    rest = " ".join(_WORDS.sub(take, text).split()) if _WORDS.search(text) else text
    return (rest, " ".join(found), tuple(dict.fromkeys(filters))) if found else (text, "", ())
