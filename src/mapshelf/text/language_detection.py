"""Which language a text is in, or that it cannot be told.

A wrong language is worse than none: whoever filters or stems by it loses the map. Topics are short,
in capitals, full of addresses, commands and names, of which any language detector makes something.
So such words are left out, and what remains has to be long enough and the guess near certain.

The guess is that of CLD3, the small neural network that Chromium carried. It works offline, and
adds three megabytes to a process (``docs/dependencies.md`` compares it with others).
"""

import re
from typing import Final

import gcld3

LOOKED_AT: Final = 20_000
"""Characters of a text that are looked at. CLD3 itself takes samples of ten thousand bytes."""

_SAMPLED: Final = 1_000
_ENOUGH: Final = 20
_CERTAIN: Final = 0.9

_IDEOGRAPHS: Final = 0x2E80
"""From here on a character says about as much as four letters do."""

_NO_WORD: Final = re.compile(r"[/\\@_{}<>=|#$%&*+~^`\d]|\w[.:(\[]\w|[a-z][A-Z]|www\.")
"""Marks of addresses, paths, commands, names in programs."""

_CURRENT: Final = {"iw": "he", "jw": "jv", "fil": "tl"}
"""Codes of CLD3 → those of ISO 639-1, where it has others (``iw`` and ``jw`` were withdrawn)."""


def guess_language(text: str) -> str:
    """Return the ISO 639-1 code of the language most of ``text`` is in, empty when unsure.

    Any text will do: one that is no text has no language. Languages without a code of two letters,
    and languages in a script that is not theirs, count as unsure.
    """
    words = " ".join(word for word in text[:LOOKED_AT].split() if not _NO_WORD.search(word))
    if _weight(words) < _ENOUGH:
        return ""
    # One for each call, which takes 0.03 ms: nothing says that threads may share it.
    detector = gcld3.NNetLanguageIdentifier(min_num_bytes=0, max_num_bytes=_SAMPLED)
    guess = detector.FindLanguage(words.encode(errors="ignore"))
    code: str = _CURRENT.get(guess.language, guess.language)
    certain = guess.is_reliable and guess.probability >= _CERTAIN
    return code if certain and len(code) == 2 else ""


def _weight(text: str) -> int:
    """Return how many letters there are to judge by."""
    return sum(4 if ord(sign) >= _IDEOGRAPHS else 1 for sign in text if sign.isalpha())
