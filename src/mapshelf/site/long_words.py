"""Lets browsers break words of thousands of letters, such as encoded files in notes.

Browsers look for the place to break such a word again and again: laying out three words of 65,000
letters takes Chromium twenty seconds.
"""

import re
from typing import Final

LONG: Final = 1000
"""Letters from which a word is long."""

PIECE: Final = 100
"""Maximum letters between two places where it may be broken."""

# Looks for a word only where one begins: at every letter, it would take time in the square.
_WORD: Final = rf"(?<![^\s<>])[^\s<>]{{{LONG},}}"
_LONG_WORD: Final = re.compile(_WORD)
_TAG_OR_LONG_WORD: Final = re.compile(f"<[^>]*>|{_WORD}")
_PIECE: Final = re.compile(rf"(?:&[#\w]{{1,31}};|.){{1,{PIECE}}}")


def breakable(html: str) -> str:
    """Return HTML with places to break its long words; nothing else in it changes."""
    return _TAG_OR_LONG_WORD.sub(_broken, html) if _LONG_WORD.search(html) else html


def _broken(found: re.Match[str]) -> str:
    word = found[0]
    return word if word.startswith("<") else "<wbr>".join(_PIECE.findall(word))
