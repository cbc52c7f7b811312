"""Text processing that SQLite and PostgreSQL need before they can search this catalogue.

Both split text at spaces, so a sentence in Chinese or Japanese would be a single word. Their
trigram indexes find no words of two characters, which most Chinese words have. So here every
character becomes a word, and a Chinese word becomes a phrase. PostgreSQL needs its ``unaccent``
extension to ignore accents, which is not always available, so we fold the text before loading it.
Neither system corrects spelling. The usual solution is a table of all words with their trigrams,
which is queried if a search finds nothing.

This code is independent of ``mapshelf.text.normalize`` on purpose: peers must not share our bugs.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

CANDIDATES: Final = 200
"""How many words with the most common trigrams to compare with a misspelled word."""

# Without the voicing marks of Japanese, which make different letters.
_ACCENTS: Final = re.compile("[\u0300-\u036f\u064b-\u0652]")
_LONE: Final = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff])")
_WORDS: Final = re.compile(r"[^\W_]+")
_PARTS: Final = re.compile(r'"([^"]*)"|([^\s"]+)')


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """Words that must follow each other; with ``prefix``, the last one may be incomplete."""

    words: tuple[str, ...]
    prefix: bool = False


def spaced(text: str) -> str:
    """Return ``text`` with spaces around each Chinese and Japanese character."""
    return text if text.isascii() else _LONE.sub(r" \1 ", text)


def fold(text: str) -> str:
    """Return ``text`` in lower case without accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed))


def words_in(text: str) -> list[str]:
    """Return the folded words of ``text``; Chinese and Japanese characters are single words."""
    return _WORDS.findall(spaced(fold(text)))


def parse(text: str) -> list[QueryTerm]:
    """Return the terms of a query; the last one is a prefix unless it is in quotes."""
    matches = list(_PARTS.finditer(text))
    parts = []
    for match in matches:
        words = tuple(words_in(match[0]))
        if words:
            parts.append(QueryTerm(words, prefix=match[2] is not None and match is matches[-1]))
    return parts


def trigrams(word: str) -> list[str]:
    """Return the different trigrams of ``word``, sorted."""
    return sorted({word[i : i + 3] for i in range(len(word) - 2)})


def nearest(word: str, candidates: Iterable[tuple[str, int]]) -> str | None:
    """Return the candidate with the fewest typos, of these the most frequent one.

    Args:
        word: a word that no map contains.
        candidates: words with the number of maps that contain them.
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
    """Return the edit distance: letters replaced, deleted, inserted or swapped with the next."""
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
