"""Find the terms of a query in one text, to show why a map was found.

The rules of the search index are applied to one text: exact words, other forms of them, prefixes
and joined words. The text is shown as its author wrote it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from html import escape
from typing import Final, NamedTuple

from mapshelf.search.chunk_analysis import NO_TERMS, Chunk, ChunkAnalysis, Span, merged
from mapshelf.search.deadline import CHARACTERS_PER_LOOK, Deadline
from mapshelf.search.query_parser import QueryTerm
from mapshelf.search.word_rows import LONGEST_STRETCH, Placed, RowSearch, row_matches, stretches
from mapshelf.text.normalize import SEPARATOR, normalize
from mapshelf.text.stemming import LANGUAGES, UNKNOWN, with_unknown

LONGEST_PIECE: Final = 1024
"""Characters of a text that are highlighted at once, unless a longer part of it has no space."""

_CHUNK: Final = re.compile(r"\S+")

# The characters that join words for ``stemming.joined_words``.
_JOINTS: Final = re.compile("[-._@'\u2019+&]+")


@dataclass(frozen=True, slots=True)
class Highlight:
    """A part of a text that matches the query: ``text[start:end]``."""

    start: int
    end: int


class _Piece(NamedTuple):
    """What a piece of a text matches.

    Attributes:
        spans: the parts that match, in no order. They may overlap, and begin in earlier pieces.
        terms: the numbers of the terms that match.
        settled: no part that begins before this place is in a later piece.
    """

    spans: set[Span]
    terms: set[int]
    settled: int


class Highlighter:
    """Finds the terms of one query in texts. Excluded terms are ignored."""

    def __init__(self, terms: Sequence[QueryTerm], languages: Iterable[str]) -> None:
        """Prepare for a query.

        Args:
            terms: the parsed query.
            languages: the languages that the maps are in, as ISO 639-1 codes.
        """
        self._terms = [term for term in terms if not term.excluded]
        self._first_letters = [term.words[0][:2] for term in self._terms]
        self._beginnings = [re.compile(rf"\b{re.escape(term.words[0])}") for term in self._terms]
        self._rows = [
            (number, words, term.prefix and words is term.words)
            for number, term in enumerate(self._terms)
            for words in (term.words, term.subwords)
            if len(words) > 1
        ]
        keeps_words = bool(self._rows)
        self._analysis = ChunkAnalysis(self._terms, with_unknown(languages), keeps_words)
        self._chunks: dict[str, Chunk] = {}
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
            found._analysis = self._analysis.within(code)
            found._chunks, found._unmatched = {}, set()
        return found

    def until(self, deadline: Deadline) -> "Highlighter":
        """Return a highlighter that analyses no more words after ``deadline``.

        Of a text that it has not finished by then, it finds what is before that place.
        """
        found = copy(self)
        found._deadline, found._within = deadline, {}
        return found

    def forget_maps(self) -> None:
        """Forget what ``within`` has cached; it is megabytes after some tenths of a second."""
        # Not replaced: the highlighters in it refer to it, and so would stay until a collection.
        self._within.clear()

    def __len__(self) -> int:
        """Return how many terms can be highlighted."""
        return len(self._terms)

    def candidates(self, texts: list[str]) -> list[str]:
        """Return those of ``texts`` that may match all terms, after a fast test (1 µs per text).

        Texts in which words start with the words of the query come first. The test is not exact: it
        accepts some texts that do not match, and rejects the few forms that differ in their first
        two letters (``dying`` for ``die``). Those that have not been tested by the deadline are
        left out.
        """
        # Normalizing all texts at once takes a third of the time.
        normalized = _JOINTS.sub("", normalize(SEPARATOR.join(texts))).split(SEPARATOR)
        if not self._analysis.keeps_initials or len(normalized) != len(texts):
            return texts
        candidates: tuple[list[str], list[str]] = ([], [])
        for text, plain in zip(texts, normalized, strict=True):
            if self._is_late(len(plain)):
                break
            if all(letters in plain for letters in self._first_letters):
                begun = all(beginning.search(plain) for beginning in self._beginnings)
                candidates[not begun].append(text)
        return candidates[False] + candidates[True]

    def matched_terms(self, text: str) -> frozenset[int]:
        """Return the indices of the terms that occur in ``text``."""
        if self._rows:
            return self._terms_with_rows(text)
        parts = text.split()
        if self._unmatched.issuperset(parts):
            return NO_TERMS
        found: set[int] = set()
        # Callers look at the clock between short texts.
        deadline = self._deadline if len(text) > CHARACTERS_PER_LOOK else None
        # A loop, not a generator: this runs for every topic that is searched.
        for part in parts:
            if part in self._unmatched:
                continue
            if deadline and deadline.was_over(len(part)):
                break
            chunk = self._chunk(part)
            if chunk is None:
                break
            found |= chunk.terms
            if len(found) == len(self._terms):
                break
        return frozenset(found)

    def _terms_with_rows(self, text: str) -> frozenset[int]:
        if len(text) <= LONGEST_PIECE:
            return frozenset(self._only_piece(text).terms)
        found: set[int] = set()
        for piece in self._pieces(text):
            found |= piece.terms
            if len(found) == len(self._terms):
                break
        return frozenset(found)

    def highlights(self, text: str) -> list[Highlight]:
        """Return the matching parts of ``text`` in order; overlapping parts are merged."""
        if len(text) <= LONGEST_PIECE:
            spans = self._only_piece(text).spans
        else:
            spans = {span for piece in self._pieces(text) for span in piece.spans}
        return [Highlight(start, end) for start, end in merged(spans)]

    def first_highlights(self, text: str, length: int) -> list[Highlight]:
        """Return the first highlights of a text that may be long, without reading the rest of it.

        They are those of ``highlights`` that begin up to ``length`` characters after the first one,
        and maybe some of the others. Of the last ones, the ends may be missing.
        """
        spans: set[Span] = set()
        first = len(text)
        for piece in self._pieces(text):
            spans |= piece.spans
            first = min(first, min(piece.spans, default=(first, 0))[0])
            if first + length < piece.settled:
                break
        return [Highlight(start, end) for start, end in merged(spans)]

    def _pieces(self, text: str) -> Iterator[_Piece]:
        """Yield what is found in each piece of a text, up to the deadline."""
        if len(text) <= LONGEST_PIECE:
            yield self._only_piece(text)
            return
        rows, words = RowSearch(self._rows), list[Placed]()
        spans, terms = set[Span](), set[int]()
        begun = end = 0
        for found in _CHUNK.finditer(text):
            start = found.start()
            chunk = None if self._is_late(len(found[0])) else self._chunk(found[0])
            if chunk is None:
                break
            end = found.end()
            if chunk.terms:
                spans.update([(first + start, last + start) for first, last in chunk.spans])
                terms |= chunk.terms
            if chunk.words:
                words.append((start, chunk.words))
            if end - begun >= LONGEST_PIECE:
                yield from self._with_rows(_Piece(spans, terms, end), rows, words)
                spans, terms, words, begun = set(), set(), [], end
        yield from self._with_rows(_Piece(spans, terms, end), rows, words)

    def _only_piece(self, text: str) -> _Piece:
        """Return what is found in a text that has one piece, as nearly all have.

        The loop is that of ``_pieces`` without looks at the clock. It is repeated for speed.
        """
        spans: set[Span] = set()
        terms: set[int] = set()
        words: list[Placed] = []
        for found in _CHUNK.finditer(text):
            chunk = self._chunk(found[0])
            if chunk is None:
                break
            if chunk.terms:
                start = found.start()
                spans.update([(first + start, last + start) for first, last in chunk.spans])
                terms |= chunk.terms
            if chunk.words:
                words.append((found.start(), chunk.words))
        if words:
            for match in row_matches(words, self._rows):
                spans.add((match.start, match.end))
                terms.add(match.term)
        return _Piece(spans, terms, len(text))

    def _with_rows(
        self, piece: _Piece, rows: RowSearch, words: Sequence[Placed]
    ) -> Iterator[_Piece]:
        """Yield a piece with the matches of its words in rows, divided if it has many words."""
        spans, terms, end = piece
        for some in stretches(words):
            if self._is_late(LONGEST_STRETCH):
                break
            for match in rows.next(some):
                spans.add((match.start, match.end))
                terms.add(match.term)
            yield _Piece(spans, terms, rows.settled(end))
            spans, terms = set(), set()
        yield _Piece(spans, terms, rows.settled(end))

    def _is_late(self, characters: int) -> bool:
        return self._deadline is not None and self._deadline.was_over(characters)

    def _chunk(self, text: str) -> Chunk | None:
        """Return the analysis of the text between two spaces, cached across texts.

        Return ``None`` if the text has not been analysed before the deadline.
        """
        chunk = self._chunks.get(text)
        if chunk is None:
            chunk = self._analysis.without_matches(text)
            if chunk is None:
                if self._is_late(len(text)):
                    return None
                chunk = self._analysis.analysed(text, self._deadline)
                if chunk is None:
                    return None
            self._chunks[text] = chunk
            if not chunk.terms:
                self._unmatched.add(text)
        return chunk


def highlighted(text: str, highlights: Iterable[Highlight]) -> str:
    """Return ``text`` as HTML: the highlights in ``mark`` elements, everything escaped."""
    pieces, end = [], 0
    for found in highlights:
        pieces += [escape(text[end : found.start]), "<mark>", escape(text[found.start : found.end])]
        pieces.append("</mark>")
        end = found.end
    return "".join([*pieces, escape(text[end:])])
