"""What SQLite and PostgreSQL need done for them before they can search this catalogue.

Both cut text at blanks, so Chinese and Japanese would be one long word a sentence. Their trigram
indexes find nothing for the two-character words that most Chinese words are, so every character
becomes a word here, and a Chinese word a phrase. PostgreSQL needs its ``unaccent`` extension to
ignore accents, which is not everywhere; the text is folded before it goes in. Neither corrects
spelling; the usual recipe is a table of all words with their trigrams, asked when nothing is found.

Written apart from ``mapshelf.text.normalize`` on purpose: peers must not inherit our mistakes.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

CANDIDATES: Final = 200
"""Words that share most trigrams with a misspelled one, to be looked at closely."""

# Not the voicing marks of Japanese, which make other letters.
_ACCENTS: Final = re.compile("[\u0300-\u036f\u064b-\u0652]")
_LONE: Final = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff])")
_WORDS: Final = re.compile(r"[^\W_]+")
_PARTS: Final = re.compile(r'"([^"]*)"|([^\s"]+)')


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """Words that must follow each other, the last of them perhaps only begun."""

    words: tuple[str, ...]
    prefix: bool = False


def spaced(text: str) -> str:
    """Return ``text`` with blanks around each Chinese and Japanese character."""
    return text if text.isascii() else _LONE.sub(r" \1 ", text)


def fold(text: str) -> str:
    """Return ``text`` in small letters without accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed))


def words_in(text: str) -> list[str]:
    """Return the folded words of ``text``, single characters for Chinese and Japanese."""
    return _WORDS.findall(spaced(fold(text)))


def parse(text: str) -> list[QueryTerm]:
    """Return the parts of what was typed: quoted ones are whole, the last word may go on."""
    matches = list(_PARTS.finditer(text))
    parts = []
    for match in matches:
        words = tuple(words_in(match[0]))
        if words:
            parts.append(QueryTerm(words, prefix=match[2] is not None and match is matches[-1]))
    return parts


def trigrams(word: str) -> list[str]:
    """Return the different runs of three characters in ``word``."""
    return sorted({word[i : i + 3] for i in range(len(word) - 2)})


def nearest(word: str, candidates: Iterable[tuple[str, int]]) -> str | None:
    """Return the most frequent candidate with the fewest typos between it and ``word``.

    Args:
        word: one that occurs nowhere.
        candidates: words with the number of maps they occur in.
    """
    allowed = typos_allowed(word)
    ranked = (
        (distance, -count, candidate)
        for candidate, count in candidates
        if abs(len(candidate) - len(word)) <= allowed
        and (distance := _distance(word, candidate)) <= allowed
    )
    best = min(ranked, default=None)
    return best[2] if best else None


def typos_allowed(word: str) -> int:
    """Return how many typos a word of this length may have."""
    return 0 if len(word) < 4 else 1 if len(word) < 8 else 2


@lru_cache(maxsize=4096)
def _distance(one: str, other: str) -> int:
    """Return how many letters must be changed, left out, added or swapped with the next one."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, letter_there in enumerate(other, 1):
            cost = min(row[-1] + 1, last[j] + 1, last[j - 1] + (letter != letter_there))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == letter_there:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]
