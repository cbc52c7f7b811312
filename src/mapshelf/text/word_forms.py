"""Find the words of texts and their other forms, with a cache for building an index.

Most of any text consists of the same few thousand words. So texts are split at spaces, and the
forms of each piece are computed only once: its words as they are indexed, their parts and
compounds, and their stems. No word, part or compound contains a space.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import add
from typing import Final

from mapshelf.text.normalize import (
    LONGEST_WORD,
    SEPARATOR,
    has_unspaced,
    is_simple_word,
    is_unspaced,
    normalize,
    normalize_keeping_accents,
    runs,
    split_words,
)
from mapshelf.text.stemming import (
    LANGUAGES,
    SHORTEST_STEMMED,
    UNKNOWN,
    stems_of,
    subwords,
    tagged_stems,
    word_variants,
)

LONGEST_BEGINNING: Final = 4
"""Maximum length of the beginnings of words, in characters."""

CACHED_PIECES: Final = 1 << 12
"""Maximum number of pieces that are cached since older ones were put aside. Both together take up
to 5 MB. One large map may exceed it."""

MOST_VARIANTS: Final = 1 << 17
"""Maximum number of different variants in the texts of a map. Each takes 10 to 20 microseconds. The
map of people with the most that we know has 29,000."""

_PARTED: Final = f" {SEPARATOR} "
_LETTERS: Final = re.compile(f"[a-z]{{{SHORTEST_STEMMED},{LONGEST_WORD}}}")


@dataclass(slots=True, eq=False)
class Forms:
    """The forms by which a piece of text is found. Pieces are compared by identity, which is fast.

    Nothing changes them. They are not frozen, because that takes longer than to find the forms.

    Attributes:
        words: its normalized words in order.
        variants: its distinct words, their parts and their compounds, normalized; character pairs
            of unspaced scripts have no parts or compounds.
        forms: the variants and the tagged stems of all of them, separated by spaces.
    """

    # A single string instead of many small ones, because scattered memory access takes most time.
    words: tuple[str, ...]
    variants: tuple[str, ...]
    forms: str


class WordForms:
    """Finds the forms of words in any language, and caches them.

    Use one instance for as long as an index is being built.
    """

    def __init__(self, cached: int = CACHED_PIECES) -> None:
        """Begin with an empty cache for ``cached`` pieces; see ``CACHED_PIECES``."""
        self._cached = cached
        self._pieces: dict[str, _Pieces] = {}
        self._older: dict[str, _Pieces] = {}

    def of(self, text: str, language: str, most: int = MOST_VARIANTS) -> list[Forms]:
        """Return the forms of the pieces of a text, in order.

        Args:
            text: the text as written.
            language: the language of the map, a key of ``LANGUAGES``; any other counts as unknown.
            most: number of different variants after which the rest of a long text is left out.
        """
        code = language if language in LANGUAGES else UNKNOWN
        pieces = self._pieces.get(code)
        if pieces is None:
            pieces = self._pieces[code] = _Pieces(code, self._older.get(code, {}))
        if not _is_short(text, most):
            return list(_limited(self._in_parts(text, pieces), most))
        return self._in(text, pieces)

    def _in_parts(self, text: str, pieces: "_Pieces") -> Iterator[Forms]:
        """Yield the forms of the pieces of a long text, computing few in advance."""
        for place, part in enumerate(text.split(_PARTED)):
            if place:
                yield pieces[SEPARATOR]
            if has_unspaced(part):
                yield pieces.found_in(part)
            else:
                yield from map(pieces.__getitem__, part.replace("\n", " ").split(" "))

    def _in(self, text: str, pieces: "_Pieces") -> list[Forms]:
        if has_unspaced(text):  # pieces in such scripts are long and hardly ever recur
            return [pieces.found_in(text)]
        if "\n" in text:
            text = text.replace("\n", " ")
        return list(map(pieces.__getitem__, text.split(" ")))

    def limit(self) -> None:
        """Put the cache aside if it is too large, and forget what was put aside before.

        What is used again is taken from there, so frequent words stay cached.
        """
        if sum(map(len, self._pieces.values())) > self._cached:
            self._older, self._pieces = self._pieces, {}
            for pieces in self._older.values():
                pieces.older = {}


class _Pieces(dict[str, Forms]):
    """The forms of pieces in one language, taken from older ones or computed on first access."""

    def __init__(self, language: str, older: Mapping[str, Forms]) -> None:
        super().__init__()
        self._languages = (language,)
        self.older = older

    def __missing__(self, piece: str) -> Forms:
        found = self.older.get(piece) or self.found_in(piece)
        if len(piece) <= LONGEST_WORD:
            self[piece] = found
        return found

    def found_in(self, text: str) -> Forms:
        """Return the forms of any text, without the cache."""
        if _LETTERS.fullmatch(text):
            return self._of_word(text)
        whole = normalize_keeping_accents(text)
        if text.isalpha() and is_simple_word(whole) and not subwords(text):  # as most are
            return self._of_word(whole[:LONGEST_WORD])
        if has_unspaced(whole):
            words, accented = _words_in(whole)
            return self._of_several(words, word_variants(text, whole, accented))
        accented = split_words(whole)
        if len(accented) == 1 and text.isalpha() and whole.isalpha():  # there are no compounds
            variants = {*accented, *subwords(text)}
        else:
            variants = word_variants(text, whole, accented)
        if len(accented) == 1 and len(variants) == 1:  # such as an Arabic word with vowel points
            return self._of_word(accented[0])
        words = accented if whole.isascii() else list(map(normalize, accented))
        return self._of_several(words, variants)

    def _of_word(self, word: str) -> Forms:
        """Return the forms of a single word without parts; the word has its accents."""
        plain = normalize(word)
        one = (plain,)
        stems = tagged_stems(word, plain, self._languages)
        return Forms(one, one, " ".join((plain, *stems)))

    def _of_several(self, words: Iterable[str], variants: set[str]) -> Forms:
        """Return the forms of several normalized words, given their variants with accents."""
        found = tuple(words)
        normalized = {word if is_unspaced(word) else normalize(word) for word in variants}
        same = len(found) == len(normalized) and normalized == {*found}
        own = found if same else tuple(normalized)
        forms = normalized.union(*map(self._stems, variants))
        return Forms(found, own, " ".join(forms))

    def _stems(self, word: str) -> Iterable[str]:
        if _LETTERS.fullmatch(word):
            return self[word].forms.split(" ")  # the word and its stems
        return stems_of(word, self._languages)


def beginnings_of(words: Iterable[str]) -> set[str]:
    """Return the first one to ``LONGEST_BEGINNING`` characters of all words."""
    begun = {word[:LONGEST_BEGINNING] for word in words}
    begun.discard(SEPARATOR)
    found = begun
    for length in reversed(range(1, LONGEST_BEGINNING)):
        begun = {word[:length] for word in begun}
        found = found | begun
    return found


def variants_in(found: Iterable[Forms]) -> int:
    """Return the number of variants of different pieces."""
    return sum([len(piece.variants) for piece in set(found)])


def _is_short(text: str, most: int) -> bool:
    """Return whether a text can hardly have more than ``most`` variants: ``aB`` has three."""
    return 2 * len(text) <= most


def _limited(found: Iterable[Forms], most: int) -> Iterator[Forms]:
    """Yield pieces until there are more than ``most`` variants of different pieces."""
    seen: set[Forms] = set()
    for piece in found:
        if piece not in seen:
            seen.add(piece)
            most -= len(piece.variants)
            if most < 0:
                return
        yield piece


def _words_in(text: str) -> tuple[list[str], list[str]]:
    """Return all words of a text without accents, and those of spaced scripts with accents."""
    words: list[str] = []
    accented: list[str] = []
    for unspaced, word in runs(text):
        if unspaced:  # these have no accents
            words += map(add, unspaced, unspaced[1:])
            words.append(unspaced[-1])
        elif word == SEPARATOR:
            words.append(word)
        else:
            accented.append(word[:LONGEST_WORD])
            words.append(normalize(accented[-1]))
    return words, accented
