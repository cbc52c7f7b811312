"""Detect the language of a text, if that is possible with near certainty.

A wrong language is worse than none: a filter or a stemmer that relies on it misses the map. Topics
are short, often in capitals, and full of addresses, commands and names, for which every detector
returns some language. Such words are removed first, the remaining text must be long enough, and the
detector must be nearly certain.

The detector is CLD3, the small neural network that Chromium used. It works offline and adds three
megabytes to a process (``docs/dependencies.md`` compares it with others).
"""

import re
from typing import Final

import gcld3

SAMPLE_LENGTH: Final = 20_000  # characters examined; CLD3 itself samples ten thousand bytes

_CLD3_BYTES: Final = 1_000  # that CLD3 looks at
_MIN_LETTERS: Final = 20
_MIN_PROBABILITY: Final = 0.9

_IDEOGRAPHS: Final = 0x2E80  # from this code on, a character carries as much as four letters

_NO_WORD: Final = re.compile(r"[/\\@_{}<>=|#$%&*+~^`\d]|\w[.:(\[]\w|[a-z][A-Z]|www\.")
"""Signs of addresses, paths, commands and identifiers."""

_CURRENT: Final = {"iw": "he", "jw": "jv", "fil": "tl"}
"""Codes of CLD3 → ISO 639-1, where they differ (``iw`` and ``jw`` were withdrawn)."""


def guess_language(text: str) -> str:
    """Return the ISO 639-1 code of the main language of ``text``, empty if unsure.

    Never fails. The result is empty, too, for languages without a two-letter code and for languages
    written in a foreign script.
    """
    words = " ".join(word for word in text[:SAMPLE_LENGTH].split() if not _NO_WORD.search(word))
    if _weight(words) < _MIN_LETTERS:
        return ""
    # A new one each time (0.03 ms): nothing documents that threads may share it.
    detector = gcld3.NNetLanguageIdentifier(min_num_bytes=0, max_num_bytes=_CLD3_BYTES)
    guess = detector.FindLanguage(words.encode(errors="ignore"))
    code: str = _CURRENT.get(guess.language, guess.language)
    certain = guess.is_reliable and guess.probability >= _MIN_PROBABILITY
    return code if certain and len(code) == 2 else ""


def _weight(text: str) -> int:
    """Return how many letters there are to judge by; ideographs count four times."""
    return sum(4 if ord(sign) >= _IDEOGRAPHS else 1 for sign in text if sign.isalpha())
