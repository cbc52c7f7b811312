"""Lets browsers break words of thousands of letters, such as encoded files in notes.

Browsers look for the place to break such a word again and again: laying out three words of 65,000
letters takes Chromium twenty seconds. Where a writing system has no spaces, they know other places.
"""

import re
import unicodedata
from typing import Final

LONG: Final = 1000
"""Letters from which a word is long."""

PIECE: Final = 100
"""Maximum letters between two places where it may be broken, except before combining marks."""

_LETTER: Final = (
    "[^\\s<>\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u2e80-\ua4cf"
    "\ua9e0-\ua9ff\uaa60-\uaadf\uac00-\ud7ff\uf900-\ufaff\ufe30-\uffef\U0001f000-\U0003ffff]"
)
"""All but those of Southeast and East Asia, and emoji."""

# Looks for a word only where one begins: at every letter, it would take time in the square.
_WORD: Final = rf"(?<!{_LETTER}){_LETTER}{{{LONG},}}"
_TAG_OR_LONG_WORD: Final = re.compile(f"<[^>]*>|{_WORD}")
_SIGN: Final = re.compile(r"&[#\w]{1,31};|.")
_PIECE: Final = re.compile(rf"(?:{_SIGN.pattern}){{1,{PIECE}}}")
_JOINER: Final = "\u200d"


def with_breaks(html: str) -> str:
    """Return HTML with places to break its long words; nothing else in it changes."""
    if not any(len(word) >= LONG for word in html.split()):  # as is usual
        return html
    return _TAG_OR_LONG_WORD.sub(_broken, html)


def _broken(found: re.Match[str]) -> str:
    word = found[0]
    if word.startswith("<"):
        return word
    pieces, begin = [], 0
    while begin < len(word):
        end = _end(_PIECE, word, begin)
        while end < len(word) and (_is_combining(word[end]) or word[end - 1] == _JOINER):
            end = _end(_SIGN, word, end)
        pieces.append(word[begin:end])
        begin = end
    return "<wbr>".join(pieces)


def _end(pattern: re.Pattern[str], word: str, begin: int) -> int:
    found = pattern.match(word, begin)
    assert found, "a word has no line breaks"
    return found.end()


def _is_combining(letter: str) -> bool:
    return letter == _JOINER or unicodedata.category(letter).startswith("M")
