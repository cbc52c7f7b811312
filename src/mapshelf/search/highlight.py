"""Find the terms of a query in one text, to show why a map was found.

The rules of the search index are applied to one text: exact words, other forms of them, prefixes
and joined words. The text is shown as its author wrote it, so each normalized word is mapped
back to the characters it came from.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass
from html import escape
from string import punctuation
from typing import Final

from mapshelf.search.deadline import Deadline
from mapshelf.search.initial_test import InitialTest
from mapshelf.search.normalized_places import normalized_with_places
from mapshelf.search.query_parser import QueryTerm
from mapshelf.search.term_table import TermTable
from mapshelf.text.normalize import (
    LONGEST_WORD,
    SEPARATOR,
    is_unspaced,
    normalize,
    normalize_keeping_accents,
    word_spans,
)
from mapshelf.text.stemming import (
    LANGUAGES,
    PREFIX_STRIPPING,
    STEM,
    UNKNOWN,
    joined_words,
    stem_words,
    stems,
    subwords,
    with_unknown,
)

_CHUNK: Final = re.compile(r"\S+")
_LETTERS: Final = re.compile(r"[^\W_]+")

# Latin, Greek or Cyrillic words with an initial that stemmers keep, save those of PREFIX_STRIPPING,
# and numbers.
_KEPT_INITIAL: Final = re.compile("[0-9A-Za-z\u0410-\u044f][\x00-\u052f]*+$")

# The characters that join words for ``stemming.joined_words``.
_JOINTS: Final = re.compile("[-._@'\u2019+&]+")


@dataclass(frozen=True, slots=True)
class Highlight:
    """A part of a text that matches the query: ``text[start:end]``."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a text, with its place; ``first_end`` is the end index of its first character."""

    start: int
    first_end: int
    end: int
    word: str

    def moved(self, places: int) -> "_Word":
        return _Word(self.start + places, self.first_end + places, self.end + places, self.word)


_Row = tuple[int, Sequence[str], bool]
"""Words in a row that a term matches: its number, the words, whether the last one is a prefix."""


@dataclass(frozen=True, slots=True)
class _Match:
    """A part of a text that matches a term; ``term`` is the index of the term."""

    start: int
    end: int
    term: int


@dataclass(frozen=True, slots=True)
class _Chunk:
    """The analysis of the text between two spaces.

    Attributes:
        words: its words; empty unless the query has a term of several words or subwords.
        matches: its matches, except those of several words in a row.
    """

    words: list[_Word]
    matches: list[_Match]


_NOTHING: Final = _Chunk([], [])

NO_TERMS: Final[frozenset[int]] = frozenset()
"""The terms of a text that matches none."""


class Highlighter:
    """Finds the terms of one query in texts. Excluded terms are ignored."""

    def __init__(self, terms: Sequence[QueryTerm], languages: Iterable[str]) -> None:
        """Prepare for a query.

        Args:
            terms: the parsed query.
            languages: the languages that the maps are in, as ISO 639-1 codes.
        """
        self._languages: tuple[str, ...] = with_unknown(languages)
        self._terms = [term for term in terms if not term.excluded]
        of_terms = [
            stems(term.words[0], self._languages) if term.has_forms else frozenset()
            for term in self._terms
        ]
        words_of_stems = [
            stem_words(term.words[0], found)
            for term, found in zip(self._terms, of_terms, strict=True)
        ]
        self._table = TermTable(self._terms, of_terms, words_of_stems)
        self._initials = {stem.rpartition(STEM)[2][:1] for found in of_terms for stem in found}
        self._keeps_initials = PREFIX_STRIPPING.isdisjoint(self._languages)
        self._possible_initials = self._initials | {
            word[:1] for term in self._terms for word in (*term.words, term.joined)
        }
        self._initial_test = InitialTest(self._possible_initials)
        self._first_letters = [term.words[0][:2] for term in self._terms]
        self._beginnings = [re.compile(rf"\b{re.escape(term.words[0])}") for term in self._terms]
        self._rows = [
            (number, words, term.prefix and words is term.words)
            for number, term in enumerate(self._terms)
            for words in (term.words, term.subwords)
            if len(words) > 1
        ]
        # Character pairs have no other forms. There are many, so they are looked up here.
        self._pairs: dict[str, list[int]] = {}
        self._characters: dict[str, list[int]] = {}
        for number, term in enumerate(self._terms):
            if len(term.words) == 1 and is_unspaced(term.words[0]):
                table = self._characters if term.is_character else self._pairs
                table.setdefault(term.words[0], []).append(number)
        self._chunks: dict[str, _Chunk] = {}
        self._unmatched: set[str] = set()  # the chunks without matches, which nearly all are
        self._within: dict[str, Highlighter] = {}
        self._deadline: Deadline | None = None

    def within(self, language: str) -> "Highlighter":
        """Return the highlighter for maps in one language; the index has only its stems of them.

        Args:
            language: the language of a map, empty if unknown. One without a stemmer counts as
                unknown.
        """
        code = language if language in LANGUAGES else UNKNOWN
        found = self._within.get(code)
        if found is None:
            found = self._within[code] = copy(self)
            found._languages = (code,)
            found._keeps_initials = code not in PREFIX_STRIPPING
            found._chunks, found._unmatched = {}, set()
        return found

    def until(self, deadline: Deadline) -> "Highlighter":
        """Return a highlighter that analyses no more words after ``deadline``.

        Of a text that it has not finished by then, it finds what is before that place.
        """
        found = copy(self)
        found._deadline, found._within = deadline, {}
        return found

    def __len__(self) -> int:
        """Return how many terms can be highlighted."""
        return len(self._terms)

    def candidates(self, texts: list[str]) -> list[str]:
        """Return those of ``texts`` that may match all terms, after a fast test (1 µs per text).

        Texts in which words start with the words of the query come first. The test is not exact: it
        accepts some texts that do not match, and rejects the few forms that differ in their first
        two letters (``dying`` for ``die``).
        """
        # Normalizing all texts at once takes a third of the time.
        normalized = _JOINTS.sub("", normalize(SEPARATOR.join(texts))).split(SEPARATOR)
        if not self._keeps_initials or len(normalized) != len(texts):
            return texts
        candidates: tuple[list[str], list[str]] = ([], [])
        for text, plain in zip(texts, normalized, strict=True):
            if all(letters in plain for letters in self._first_letters):
                begun = all(beginning.search(plain) for beginning in self._beginnings)
                candidates[not begun].append(text)
        return candidates[False] + candidates[True]

    def matched_terms(self, text: str) -> frozenset[int]:
        """Return the indices of the terms that occur in ``text``."""
        parts = text.split()
        if not self._rows and self._unmatched.issuperset(parts):
            return NO_TERMS
        found: set[int] = set()
        if self._rows:
            for match in self._matches(text):
                found.add(match.term)
                if len(found) == len(self._terms):
                    break
            return frozenset(found)
        # A loop, not a generator: this runs for every topic that is searched.
        for part in parts:
            if part in self._unmatched:
                continue
            chunk = self._chunk(part)
            if chunk is None:
                break
            for match in chunk.matches:
                found.add(match.term)
        return frozenset(found)

    def highlights(self, text: str) -> list[Highlight]:
        """Return the matching parts of ``text`` in order; overlapping parts are merged."""
        highlights: list[Highlight] = []
        for start, end in sorted({(match.start, match.end) for match in self._matches(text)}):
            if highlights and start < highlights[-1].end:
                highlights[-1] = Highlight(highlights[-1].start, max(end, highlights[-1].end))
            else:
                highlights.append(Highlight(start, end))
        return highlights

    def _matches(self, text: str) -> Iterator[_Match]:
        """Yield all matches, in no order; they may overlap."""
        analysed: list[tuple[int, list[_Word]]] = []
        for found in _CHUNK.finditer(text):
            chunk, start = self._chunk(found[0]), found.start()
            if chunk is None:
                break
            for match in chunk.matches:
                yield _Match(match.start + start, match.end + start, match.term)
            if chunk.words:
                analysed.append((start, chunk.words))
        if analysed:
            possible = _possible_rows({w.word for _, words in analysed for w in words}, self._rows)
            if possible:
                moved = [word.moved(start) for start, words in analysed for word in words]
                yield from _row_matches(moved, possible)

    def _chunk(self, text: str) -> _Chunk | None:
        """Return the analysis of the text between two spaces, cached across texts.

        Return ``None`` if the text has not been analysed before the deadline.
        """
        chunk = self._chunks.get(text)
        if chunk is None:
            chunk = self._without_matches(text)
            if chunk is None:
                if self._deadline and self._deadline.was_over(len(text)):
                    return None
                chunk = self._analysed(text)
            self._chunks[text] = chunk
            if not chunk.matches:
                self._unmatched.add(text)
        return chunk

    def _without_matches(self, text: str) -> _Chunk | None:
        """Return the analysis of a chunk that cannot match, after a fast test that most pass.

        A word matches only terms with the same initial, if stemmers keep that. Return ``None`` if
        the chunk may match, or if the places of its words are not as easily found.
        """
        if self._keeps_initials and not self._rows and self._initial_test.excludes(text):
            return _NOTHING
        word = text.strip(punctuation)
        if not (
            _is_one_word(word)
            and _KEPT_INITIAL.match(word) is not None
            and word[0].lower() not in self._possible_initials
            and self._keeps_initials
        ):
            return None
        if not self._rows:
            return _NOTHING
        if not text.isascii():
            return None
        start = text.index(word)
        return _Chunk([_Word(start, start + 1, start + len(word), word.lower()[:LONGEST_WORD])], [])

    def _analysed(self, text: str) -> _Chunk:
        word = text.strip(punctuation)
        if text.isascii() and _is_one_word(word):
            return self._analysed_word(word, text.index(word))
        normalized, starts, ends = normalized_with_places(text)
        words: list[_Word] = []
        matches: list[_Match] = []
        for first, last, word in word_spans(normalized):
            start, first_end, end = starts[first], ends[first], ends[last - 1]
            if self._rows:
                words.append(_Word(start, first_end, end, word))
            if is_unspaced(word):
                matches += [_Match(start, end, number) for number in self._pairs.get(word, ())]
                alone = self._characters.get(word[0], ())
                matches += [_Match(start, first_end, number) for number in alone]
            else:
                numbers = self._terms_matching(word, text[start:end])
                matches += [_Match(start, end, number) for number in numbers]
        for first, last, word in joined_words(normalized):
            start, end = starts[first], ends[last - 1]
            inside = {match.term for match in matches if start <= match.start and match.end <= end}
            accented = normalize_keeping_accents(text[start:end])
            _, _, written = next(joined_words(accented), (0, 0, word))
            numbers = self._terms_matching(word, written)
            matches += [_Match(start, end, number) for number in numbers if number not in inside]
        return _Chunk(words, matches)

    def _analysed_word(self, written: str, start: int) -> _Chunk:
        """Return the analysis of a chunk that is one ASCII word without parts.

        The result is that of ``_analysed`` in a third of the time, as most chunks are such words.
        """
        word, end = written.lower()[:LONGEST_WORD], start + len(written)
        numbers = self._table.matching((word,), self._stems_of(written))
        words = [_Word(start, start + 1, end, word)] if self._rows else []
        return _Chunk(words, [_Match(start, end, number) for number in numbers])

    def _terms_matching(self, word: str, written: str) -> list[int]:
        """Return the indices of the terms that a single word matches.

        Args:
            word: the normalized word.
            written: the word as written, with case and accents, from which its parts follow.
        """
        parts = [part for letters in _LETTERS.findall(written) for part in subwords(letters)]
        found = frozenset().union(*map(self._stems_of, (written, *parts)))
        return self._table.matching({word, *map(normalize, parts)}, found)

    def _stems_of(self, word: str) -> frozenset[str]:
        """Return the stems of a word as written; none if no term can have the same stem."""
        plain = normalize_keeping_accents(word)[:LONGEST_WORD]  # as in the index
        if self._keeps_initials and plain.isascii() and plain[:1] not in self._initials:
            return frozenset()
        return stems(plain, self._languages)


def _is_one_word(text: str) -> bool:
    """Return whether a text is a word or a number without parts (see ``stemming.subwords``)."""
    if text.isalpha():
        return text.islower() or text[1:].islower() or text.isupper()
    return text.isdigit()


def highlighted(text: str, highlights: Iterable[Highlight]) -> str:
    """Return ``text`` as HTML: the highlights in ``mark`` elements, everything escaped."""
    pieces, end = [], 0
    for found in highlights:
        pieces += [escape(text[end : found.start]), "<mark>", escape(text[found.start : found.end])]
        pieces.append("</mark>")
        end = found.end
    return "".join([*pieces, escape(text[end:])])


def _possible_rows(words: Set[str], rows: Iterable[_Row]) -> list[_Row]:
    """Return the rows whose words, except for the last, are all in a text."""
    return [row for row in rows if all(word in words for word in row[1][:-1])]


def _row_matches(words: Sequence[_Word], rows: Iterable[_Row]) -> Iterator[_Match]:
    """Yield the matches of terms of several words in a text.

    Args:
        words: the words of the text.
        rows: for each term its number, its words, and whether the last one is a prefix.
    """
    written = [word.word for word in words]
    # A query may have a hundred phrases: going through a long text for each takes seconds.
    places: dict[str, list[int]] = {}
    for place, word in enumerate(written):
        places.setdefault(word, []).append(place)
    for number, row, unfinished in rows:
        *whole, last = row
        single = len(last) == 1 and is_unspaced(last)
        for place in _places_of(last, places, unfinished):
            start = place - len(whole)
            # Compared as slices, which is fast: a text may be hundreds of repetitions of the row.
            if start >= 0 and written[start:place] == whole:
                final = words[place]
                end = final.first_end if single else final.end
                yield _Match(words[start].start, end, number)


def _places_of(word: str, places: Mapping[str, Sequence[int]], unfinished: bool) -> Iterable[int]:
    """Return the places of a word; if ``unfinished``, of all words that start with it."""
    if not unfinished:
        return places.get(word, ())
    return [place for other, some in places.items() if other.startswith(word) for place in some]
