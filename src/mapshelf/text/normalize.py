"""Normalize text and split it into words, for sorting titles and for search.

Case, accents, width and compatibility forms are removed. Scripts written without spaces are split
into overlapping pairs of characters, as words of two characters are common and there is no
dictionary here to find them. All other text is split into words with regular expressions, which
are fast. A tokenizer library for every script would be a large dependency for a small gain.
"""

import re
import unicodedata
from collections.abc import Iterator
from operator import add
from typing import Final

# Accents of Latin, Greek and Cyrillic, and the vowel points of Hebrew and Arabic. The marks of
# other scripts (Thai vowels, Japanese voicing) make different letters and are kept.
_ACCENTS: Final = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0670]")

# Han, kana, Hangul, Thai, Lao, Myanmar and Khmer: written without spaces, or with few.
UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Without the signs that end sentences (danda) and syllables (tsheg).
_INDIC: Final = "\u0900-\u0963\u0966-\u0dff\u0f18-\u0f39\u0f3e-\u0fbc"

# Letters and digits of any script, with the vowel signs of the Indic ones, which Python's \w
# leaves out.
_WORD: Final = re.compile(rf"(?P<unspaced>[{UNSPACED}]+)|(?:[^\W_{UNSPACED}]|[{_INDIC}])+|\x1f")
_RUN: Final = re.compile(rf"([{UNSPACED}]+)|((?:[^\W_{UNSPACED}]|[{_INDIC}])+|\x1f)")
_SPACED_WORD: Final = re.compile(rf"(?:[^\W_{UNSPACED}]|[{_INDIC}])+|\x1f")
_UNSPACED_CHARACTER: Final = re.compile(f"[{UNSPACED}]")
# In texts without these characters (all after Arabic), ``_PLAIN_WORD`` finds the same words faster.
# Written as a complement, because a range up to U+10FFFF takes 5 ms to compile at each start.
_BEYOND: Final = re.compile("[^\x00-\u08ff]")
_PLAIN_WORD: Final = re.compile(r"[^\W_]+|\x1f")

MOST_MARKS: Final = 30
"""Maximum number of combining marks in a row that are kept, as in Unicode's Stream-Safe Text
Format (UAX #15, section 13). No language needs as many."""

_WIDTH_MARKS: Final = "\uff9e\uff9f"
"""Letters that normalization turns into marks; there are no others."""

_MAYBE_MARK: Final = re.compile(rf"[^\w\s\x00-\x7f]|[{_WIDTH_MARKS}]")
"""Marks are neither letters nor ASCII. Some other characters are not either."""

_MANY_MARKS: Final = re.compile(rf"(?:{_MAYBE_MARK.pattern}){{{MOST_MARKS + 1},}}")

SEPARATOR: Final = "\x1f"
"""Separates unrelated texts, so that no phrase matches across them."""

LONGEST_WORD: Final = 64  # characters; longer words are truncated, in maps and queries alike

LONGEST_QUERY: Final = 500
"""Maximum characters of a normalized query; normalizing can turn one character into eighteen."""


def normalize(text: str) -> str:
    """Return ``text`` without case, accents, width and compatibility forms."""
    if text.isascii():
        return text.lower()
    casefolded = unicodedata.normalize("NFKC", stream_safe(text)).casefold()
    decomposed = unicodedata.normalize("NFD", casefolded)
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed))


def normalize_keeping_accents(text: str) -> str:
    """Return ``text`` normalized except for its accents, which stemmers need."""
    if text.isascii():
        return text.lower()
    casefolded = unicodedata.normalize("NFKC", stream_safe(text)).casefold()
    return _ACCENTS.sub("", unicodedata.normalize("NFC", casefolded))


def stream_safe(text: str) -> str:
    """Return ``text`` without the combining marks that follow ``MOST_MARKS`` others.

    Use it before ``unicodedata.normalize`` where a text may be long: sorting marks takes time that
    grows with the square of their number, three seconds for 64 KB, and no other thread runs
    meanwhile.
    """
    # Each run that is too long has a character at one of these places.
    if len(text) <= MOST_MARKS or not _MAYBE_MARK.search(text[:: MOST_MARKS + 1]):
        return text
    return _MANY_MARKS.sub(_with_few_marks, text)


def _with_few_marks(run: re.Match[str]) -> str:
    kept, marks = [], 0
    for character in run[0]:
        is_mark = unicodedata.category(character)[0] == "M" or character in _WIDTH_MARKS
        marks = marks + 1 if is_mark else 0
        if marks <= MOST_MARKS:
            kept.append(character)
    return "".join(kept)


def split_words(text: str) -> list[str]:
    """Return the words of a text from ``normalize_keeping_accents``, in their order.

    A run of characters of an unspaced script yields its overlapping pairs and its last character.
    So each of its characters starts a word, and can be found alone as a prefix.
    """
    if has_unspaced(text):
        return [word for run in runs(text) for word in (*_words_of(*run), *run[0][-1:])]
    pattern = _SPACED_WORD if _BEYOND.search(text) else _PLAIN_WORD
    return [word[:LONGEST_WORD] for word in pattern.findall(text)]


def is_simple_word(text: str) -> bool:
    """Return whether ``split_words`` returns a text itself; a fast test that most words pass."""
    return text.isalpha() and not _BEYOND.search(text)


def query_words(text: str) -> list[str]:
    """Return the words that a map must contain in a row to match ``text``."""
    if text.isascii():  # as most are: the same result in a third of the time
        return [word[:LONGEST_WORD] for word in _PLAIN_WORD.findall(_cut(text.lower()))]
    found = runs(_cut(normalize(text)))
    # The last run may continue in the map. Those before it end with their last character.
    ended = [word for run in found[:-1] for word in (*_words_of(*run), *run[0][-1:])]
    return ended + [word for run in found[-1:] for word in (_words_of(*run) or [run[0]])]


def _cut(normalized: str) -> str:
    return normalized[:LONGEST_QUERY].replace(SEPARATOR, " ")


def word_spans(normalized: str) -> Iterator[tuple[int, int, str]]:
    """Yield the words of a normalized text as they are indexed, each with its start and end."""
    for match in _WORD.finditer(normalized):
        start, end = match.span()
        if match["unspaced"]:
            for place in range(start, end):
                yield place, min(place + 2, end), normalized[place : min(place + 2, end)]
        else:
            yield start, end, match[0][:LONGEST_WORD]


def has_unspaced(text: str) -> bool:
    """Return whether any character of ``text`` belongs to a script without spaces."""
    return not text.isascii() and _UNSPACED_CHARACTER.search(text) is not None


def is_unspaced(word: str) -> bool:
    """Return whether ``word`` is one character, or a pair, of a script without spaces."""
    return _UNSPACED_CHARACTER.match(word) is not None


def runs(text: str) -> list[tuple[str, str]]:
    """Split a text from ``normalize_keeping_accents`` into runs of spaced or unspaced script.

    Each run is a pair with one empty part: (characters, "") in a script without spaces, ("", word)
    otherwise.
    """
    return _RUN.findall(text)


def _words_of(unspaced: str, word: str) -> list[str]:
    """Return the words of a run, without the last character of an unspaced run as its own word."""
    return list(map(add, unspaced, unspaced[1:])) if unspaced else [word[:LONGEST_WORD]]
