"""Find the terms of a query in the text between two spaces.

The rules of the search index are applied to it, save those of several words in a row. The text is
shown as its author wrote it, so each normalized word is mapped back to the characters it came from.

A text between two spaces may have 64 KiB, and a query eighty words with one stem, which all match
each of its words. So what is found of a chunk is few numbers. The time grows with the number of
words, and a little with the number of terms that match each. One character may become six words, so
that a chunk takes half a second: all loops look at the clock, with a number of words at a time.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from itertools import islice
from operator import attrgetter
from string import punctuation
from typing import Final, NamedTuple, TypeVar

from mapshelf.search.deadline import Deadline
from mapshelf.search.initial_test import InitialTest
from mapshelf.search.normalized_places import normalized_with_places
from mapshelf.search.query_parser import QueryTerm
from mapshelf.search.term_table import TermTable
from mapshelf.search.word_rows import Word
from mapshelf.text.normalize import (
    LONGEST_WORD,
    is_unspaced,
    normalize,
    normalize_keeping_accents,
    word_spans,
)
from mapshelf.text.stemming import (
    PREFIX_STRIPPING,
    STEM,
    joined_words,
    stem_words,
    stems,
    subwords,
)

_AT_ONCE: Final = 64
"""Words that are processed at once. To ask after each whether it is late would take longer."""

_CHARACTERS_PER_WORD: Final = 16
"""How many characters each word counts for the deadline. Words take time even if they are short."""

_LETTERS: Final = re.compile(r"[^\W_]+")

# Latin, Greek or Cyrillic words with an initial that stemmers keep, save those of PREFIX_STRIPPING,
# and numbers.
_KEPT_INITIAL: Final = re.compile("[0-9A-Za-z\u0410-\u044f][\x00-\u052f]*+$")

Span = tuple[int, int]
"""The start and the end of a part of a text."""

NO_TERMS: Final[frozenset[int]] = frozenset()
"""The terms of a text that matches none."""


class Chunk(NamedTuple):
    """The analysis of the text between two spaces.

    Attributes:
        words: its words; empty unless the query has a term of several words or subwords.
        spans: the parts of it that match a term, in order; overlapping parts are merged.
        terms: the numbers of the terms that match.

    Matches of several words in a row are in neither.
    """

    words: Sequence[Word]
    spans: Sequence[Span]
    terms: frozenset[int]


_NOTHING: Final = Chunk((), (), NO_TERMS)


class _Hit(NamedTuple):
    """A part of a chunk that matches some terms."""

    start: int
    end: int
    terms: Iterable[int]


_PlacedWord = tuple[int, int, int, str]
"""The arguments of a ``Word``."""

_start: Final = attrgetter("start")

_IsLate = Callable[[int], bool]
_T = TypeVar("_T")


def _never(_characters: int) -> bool:
    return False


class ChunkAnalysis:
    """Finds the terms of one query in texts without spaces."""

    def __init__(
        self, terms: Sequence[QueryTerm], languages: tuple[str, ...], keeps_words: bool
    ) -> None:
        """Prepare for a query.

        Args:
            terms: its terms.
            languages: the languages of the maps that are searched.
            keeps_words: whether the words of a chunk are needed.
        """
        self._languages = languages
        self._keeps_words = keeps_words
        of_terms = [
            stems(term.words[0], languages) if term.has_forms else frozenset() for term in terms
        ]
        words_of_stems = [
            stem_words(term.words[0], found) for term, found in zip(terms, of_terms, strict=True)
        ]
        self._table = TermTable(terms, of_terms, words_of_stems)
        self._initials = {stem.rpartition(STEM)[2][:1] for found in of_terms for stem in found}
        self.keeps_initials = PREFIX_STRIPPING.isdisjoint(languages)
        self._possible_initials = self._initials | {
            word[:1] for term in terms for word in (*term.words, term.joined)
        }
        self._initial_test = InitialTest(self._possible_initials)
        # Character pairs have no other forms. There are many, so they are looked up here.
        self._pairs: dict[str, list[int]] = {}
        self._characters: dict[str, list[int]] = {}
        for number, term in enumerate(terms):
            if len(term.words) == 1 and is_unspaced(term.words[0]):
                table = self._characters if term.is_character else self._pairs
                table.setdefault(term.words[0], []).append(number)

    def within(self, language: str) -> "ChunkAnalysis":
        """Return the analysis for maps in one language: a code with a stemmer, or ``UNKNOWN``."""
        found = copy(self)
        found._languages = (language,)
        found.keeps_initials = language not in PREFIX_STRIPPING
        return found

    def without_matches(self, text: str) -> Chunk | None:
        """Return the analysis of a chunk that cannot match, after a fast test that most pass.

        A word matches only terms with the same initial, if stemmers keep that. Return ``None`` if
        the chunk may match, or if the places of its words are not as easily found.
        """
        keeps_words = self._keeps_words
        if self.keeps_initials and not keeps_words and self._initial_test.excludes(text):
            return _NOTHING
        word = text.strip(punctuation)
        if not (
            _is_one_word(word)
            and _KEPT_INITIAL.match(word) is not None
            and word[0].lower() not in self._possible_initials
            and self.keeps_initials
        ):
            return None
        if not keeps_words:
            return _NOTHING
        if not text.isascii():
            return None
        start = text.index(word)
        only = Word(start, start + 1, start + len(word), word.lower()[:LONGEST_WORD])
        return Chunk((only,), (), NO_TERMS)

    def analysed(self, text: str, deadline: Deadline | None) -> Chunk | None:
        """Return the analysis of a text, ``None`` if it is not finished by the deadline."""
        word = text.strip(punctuation)
        if text.isascii() and _is_one_word(word):
            return self._analysed_word(word, text.index(word))
        is_late = deadline.was_over if deadline else _never
        normalized, starts, ends = normalized_with_places(text)
        if len(normalized) <= _AT_ONCE:  # as nearly all are
            if is_late(_CHARACTERS_PER_WORD * len(normalized)):
                return None
            is_late = _never
        words: list[_PlacedWord] = []
        for spans in _in_time(word_spans(normalized), is_late):
            words += [(starts[at], ends[at], ends[end - 1], word) for at, end, word in spans]
        joined: list[tuple[int, int, str]] = []
        for spans in _in_time(joined_words(normalized), is_late):
            joined += [(starts[at], ends[end - 1], word) for at, end, word in spans]
        hits = self._hits(words, text, is_late)
        if joined:
            hits.sort(key=_start)
            hits += self._joined_hits(joined, hits, text, is_late)
        kept: list[Word] = []
        if self._keeps_words:
            for some in _in_time(words, is_late):
                kept += map(Word._make, some)
        chunk = _chunk(kept or (), hits, is_late)
        return None if is_late(0) else chunk

    def _hits(self, words: Iterable[_PlacedWord], text: str, is_late: _IsLate) -> list[_Hit]:
        """Return the matches of single words."""
        found: list[_Hit] = []
        spaced: list[tuple[int, int, str]] = []
        pairs, characters = self._pairs, self._characters
        for some in _in_time(words, is_late):
            for start, first_end, end, word in some:
                if not is_unspaced(word):
                    spaced.append((start, end, word))
                    continue
                if word in pairs:
                    found.append(_Hit(start, end, pairs[word]))
                if word[0] in characters:
                    found.append(_Hit(start, first_end, characters[word[0]]))
        for places in _in_time(_by_place(spaced, is_late), is_late):
            for (start, end), forms in places:
                if numbers := self._terms_matching(forms, text[start:end], is_late):
                    found.append(_Hit(start, end, numbers))
        return found

    def _joined_hits(
        self, joined: Iterable[tuple[int, int, str]], hits: list[_Hit], text: str, is_late: _IsLate
    ) -> list[_Hit]:
        """Return the matches of joined words with terms that match none of these words alone."""
        found = []
        for places in _in_time(_by_place(joined, is_late), is_late):
            for (start, end), words in places:
                numbers = self._terms_joined(words, text[start:end], is_late)
                if numbers and (others := set(numbers).difference(*_terms_in(hits, start, end))):
                    found.append(_Hit(start, end, others))
        return found

    def _analysed_word(self, written: str, start: int) -> Chunk:
        """Return the analysis of a chunk that is one ASCII word without parts.

        The result is that of ``analysed`` in a third of the time, as most chunks are such words.
        """
        word, end = written.lower()[:LONGEST_WORD], start + len(written)
        numbers = self._table.matching((word,), self._stems_of(written))
        if not numbers and not self._keeps_words:
            return _NOTHING
        words = (Word(start, start + 1, end, word),) if self._keeps_words else ()
        return Chunk(words, ((start, end),) if numbers else (), frozenset(numbers))

    def _terms_joined(self, words: set[str], written: str, is_late: _IsLate) -> Iterable[int]:
        """Return the numbers of the terms that joined words match (see ``_terms_matching``)."""
        whole = next(joined_words(normalize_keeping_accents(written)), None)
        if whole is not None:
            return self._terms_matching(words, whole[2], is_late)
        return [
            number
            for some in _in_time(words, is_late)
            for word in some
            for number in self._terms_matching([word], word, is_late)
        ]

    def _terms_matching(
        self, words: Iterable[str], written: str, is_late: _IsLate
    ) -> Sequence[int]:
        """Return the numbers of the terms that single words at one place match.

        Args:
            words: the normalized words.
            written: what is at that place, with case and accents, from which the parts follow.
            is_late: tells when to stop (see ``Deadline.was_over``).
        """
        if len(written) > LONGEST_WORD and is_late(len(written)):
            return ()
        forms, found = set(words), set(self._stems_of(written))
        for letters in _LETTERS.findall(written):
            for part in subwords(letters):
                if is_late(_CHARACTERS_PER_WORD):
                    return ()
                forms.add(normalize(part))
                found |= self._stems_of(part)
        if len(forms) <= _AT_ONCE:
            return self._table.matching(forms, found)
        numbers = set(self._table.matching((), found))
        for some in _in_time(forms, is_late):
            numbers.update(self._table.matching(some, ()))
        return sorted(numbers)

    def _stems_of(self, word: str) -> frozenset[str]:
        """Return the stems of a word as written; none if no term can have the same stem."""
        plain = normalize_keeping_accents(word)[:LONGEST_WORD]  # as in the index
        if self.keeps_initials and plain.isascii() and plain[:1] not in self._initials:
            return frozenset()
        return stems(plain, self._languages)


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return parts of a text in order; overlapping parts become one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _in_time(items: Iterable[_T], is_late: _IsLate) -> Iterable[Iterable[_T]]:
    """Return words, or what is made of words, ``_AT_ONCE`` at a time until it is late."""
    return (items,) if is_late is _never else _some_of(items, is_late)


def _some_of(items: Iterable[_T], is_late: _IsLate) -> Iterator[list[_T]]:
    rest = iter(items)
    while some := list(islice(rest, _AT_ONCE)):
        if is_late(_CHARACTERS_PER_WORD * len(some)):
            break
        yield some


def _by_place(
    words: Iterable[tuple[int, int, str]], is_late: _IsLate
) -> Iterable[tuple[Span, set[str]]]:
    """Return the words at each place, given the start and end of each.

    If the characters of a text cannot be normalized alone, all its words have the same place. To
    look up each with what is there would take time that grows with the square of their number.
    """
    found: dict[Span, set[str]] = {}
    for some in _in_time(words, is_late):
        for start, end, word in some:
            found.setdefault((start, end), set()).add(word)
    return found.items()


def _chunk(words: Sequence[Word], hits: Sequence[_Hit], is_late: _IsLate) -> Chunk:
    if not hits:
        return Chunk(words, (), NO_TERMS) if words else _NOTHING
    spans: set[Span] = set()
    terms: set[int] = set()
    for some in _in_time(hits, is_late):
        spans.update([(hit.start, hit.end) for hit in some])
        terms.update(*[hit.terms for hit in some])
    return Chunk(words, merged(spans), frozenset(terms))


def _terms_in(hits: Sequence[_Hit], start: int, end: int) -> Iterable[Iterable[int]]:
    """Return the terms of each of some hits, in order, that is within a part of their text."""
    found = []
    for place in range(bisect_left(hits, start, key=_start), len(hits)):
        hit = hits[place]
        if hit.start >= end:
            break
        if hit.end <= end:
            found.append(hit.terms)
    return found


def _is_one_word(text: str) -> bool:
    """Return whether a text is a word or a number without parts (see ``stemming.subwords``)."""
    if text.isalpha():
        return text.islower() or text[1:].islower() or text.isupper()
    return text.isdigit()
