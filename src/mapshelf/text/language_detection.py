"""Detect the language of a text, if that is possible with near certainty.

A wrong language is worse than none: filters and stemmers that rely on it miss the map. Topics are
short, often in capitals, and full of addresses, commands and names, for which every detector
returns some language. So addresses and commands are removed first, the remaining text must be long
enough, and the detector must be nearly certain.

The detector is CLD3, the small neural network that Chromium used. It works offline and adds three
megabytes to a process (``docs/dependencies.md`` compares it with others).
"""

import re
from typing import Final

import gcld3

SAMPLE_LENGTH: Final = 20_000  # maximum characters; CLD3 itself samples ten thousand bytes

_CLD3_BYTES: Final = 1_000  # maximum bytes in the sample that CLD3 examines
_MIN_LETTERS: Final = 20
_MIN_PROBABILITY: Final = 0.9

_IDEOGRAPHS: Final = 0x2E80  # from this code point on, a character counts as four letters

_NO_WORD: Final = re.compile(r"[/\\@_{}<>=|#$%&*+~^`\d]|\w[.:(\[]\w|[a-z][A-Z]|www\.")
"""Characters that reveal addresses, paths, commands and identifiers."""

_CURRENT: Final = {"iw": "he", "jw": "jv", "fil": "tl"}
"""ISO 639-1 codes by the codes of CLD3 that differ (``iw`` and ``jw`` were withdrawn)."""


def guess_language(text: str) -> str:
    """Return the ISO 639-1 code of the main language of ``text``, empty if unsure.

    Never fails. The result is empty, too, for languages without a two-letter code and for languages
    written in a foreign script.
    """
    words = " ".join(word for word in text[:SAMPLE_LENGTH].split() if not _NO_WORD.search(word))
    if _weight(words) < _MIN_LETTERS:
        return ""
    # A new detector each time (0.03 ms), as it is not documented to be thread-safe.
    detector = gcld3.NNetLanguageIdentifier(min_num_bytes=0, max_num_bytes=_CLD3_BYTES)
    guess = detector.FindLanguage(words.encode(errors="ignore"))
    code: str = _CURRENT.get(guess.language, guess.language)
    certain = guess.is_reliable and guess.probability >= _MIN_PROBABILITY
    return code if certain and len(code) == 2 else ""


def _weight(text: str) -> int:
    """Return the number of letters; ideographs and later characters count four times."""
    return sum(4 if ord(sign) >= _IDEOGRAPHS else 1 for sign in text if sign.isalpha())
