"""A fast test that rules out most texts, because none of their words has the right initial.

It holds for words whose stems begin like the words themselves. Of the scripts with such words, it
knows the most frequent ones.
"""

import re
from collections.abc import Collection
from typing import Final

from mapshelf.text.normalize import normalize

# Latin, Cyrillic, Chinese and Japanese, and punctuation.
_KNOWN_SCRIPTS: Final = re.compile(
    "[\x00-\u024f\u0400-\u052f\u2010-\u2027\u3000-\u30ff\u3400-\u9fff\uff00-\uff60]+"
)

_NEVER: Final = "(?!)"  # matches nothing


class InitialTest:
    """Tells which texts have no word, and no part of a word, with one of several initials."""

    def __init__(self, initials: Collection[str]) -> None:
        """Prepare for ``initials``: normalized characters, or empty."""
        self._initials = frozenset(initials)
        self._starts = _starts_of_words(initials)

    def excludes(self, text: str) -> bool:
        """Return whether no word of ``text`` can have one of the initials.

        It often is ``False`` although no word has: characters within words count, too.
        """
        if text.isascii():
            return self._starts.search(text) is None
        is_known = _KNOWN_SCRIPTS.fullmatch(text) is not None
        return is_known and self._initials.isdisjoint(normalize(text))


def _starts_of_words(initials: Collection[str]) -> re.Pattern[str]:
    """Return a pattern for the places in an ASCII text where words with these initials may start.

    Within a word in camelCase, a part starts at each capital, and where digits follow letters or
    letters digits (see ``stemming.subwords``).
    """
    ascii_initials = sorted(initial for initial in initials if initial.isascii())
    letters = "".join(filter(str.isalpha, ascii_initials))
    digits = "".join(filter(str.isdigit, ascii_initials))
    patterns = []
    if letters:
        patterns += [f"(?<![A-Za-z])[{letters}]", f"[{letters.upper()}]"]
    if digits:
        patterns.append(f"(?<![0-9])[{digits}]")
    return re.compile("|".join(patterns) or _NEVER)
