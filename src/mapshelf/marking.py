"""Where in a text the words of a search stand, to show people why a map was found.

The rules are those of the search index, applied to one text: words as they are written, other forms
of them, beginnings, what is written together. They are applied to the text itself and not to its
folded form, since what is shown must be the author's own writing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from mapshelf.folding import UNSPACED, composed, fold, query_words
from mapshelf.forms import pieces_of, query_stems
from mapshelf.parts import Part

# As the words of the index, with the accents that a text may have as characters of their own.
_TOKEN: Final = re.compile(
    rf"(?P<unspaced>[{UNSPACED}]+)|(?:[^\W_{UNSPACED}]|[\u0300-\u036f\u0591-\u05c7\u064b-\u0670]"
    rf"|[\u0900-\u0dff\u0f00-\u0fff])+"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of a text, from ``start`` up to ``end``, that a part of the search means."""

    start: int
    end: int
    part: int


@dataclass(frozen=True, slots=True)
class _Token:
    start: int
    end: int
    text: str
    unspaced: bool


class Marker:
    """Marks texts for one search."""

    def __init__(self, parts: Sequence[Part], languages: Iterable[str]) -> None:
        self._parts = [part for part in parts if not part.excluded]
        languages = tuple(languages)
        self._stems = [
            set(query_stems(part.words[0], languages)) if part.has_forms else set()
            for part in self._parts
        ]
        self._languages = languages
        self._known: dict[str, frozenset[int]] = {}

    def __len__(self) -> int:
        """Return how many parts of the search can be marked."""
        return len(self._parts)

    def marks(self, text: str) -> list[Mark]:
        """Return the marks in ``text``, in order, none overlapping another."""
        tokens = [
            _Token(*match.span(), match[0], match["unspaced"] is not None)
            for match in _TOKEN.finditer(text)
        ]
        found: list[Mark] = []
        for place, token in enumerate(tokens):
            if token.unspaced:
                found += self._in_run(token)
            found += [Mark(token.start, token.end, part) for part in self._said_by(token)]
            found += self._rows(tokens, place)
        return _apart(found)

    def _said_by(self, token: _Token) -> frozenset[int]:
        """Return the parts that a word alone stands for."""
        if token.unspaced:
            return frozenset()
        if token.text not in self._known:
            word = fold(token.text)
            stems = set(query_stems(composed(token.text), self._languages))
            pieces = {fold(piece) for piece in pieces_of(token.text)}
            self._known[token.text] = frozenset(
                number
                for number, part in enumerate(self._parts)
                if self._means(number, part, word, stems, pieces)
            )
        return self._known[token.text]

    def _means(self, number: int, part: Part, word: str, stems: set[str], pieces: set[str]) -> bool:
        if part.together and word == part.together:
            return True
        if len(part.words) > 1:
            return False
        wanted = part.words[0]
        if wanted == word or wanted in pieces:
            return True
        return bool(stems & self._stems[number]) or (part.prefix and word.startswith(wanted))

    def _rows(self, tokens: Sequence[_Token], place: int) -> Iterable[Mark]:
        """Yield the parts of several words that begin at ``place``."""
        for number, part in enumerate(self._parts):
            for words in (part.words, part.pieces):
                if len(words) > 1 and (end := _row_end(tokens, place, words, part)):
                    yield Mark(tokens[place].start, end, number)

    def _in_run(self, token: _Token) -> Iterable[Mark]:
        """Yield the parts that stand inside a run of a script without spaces."""
        folded = [fold(char) for char in token.text]
        places = [place for place, char in enumerate(folded) for _ in char]
        run = "".join(folded)
        for number, part in enumerate(self._parts):
            wanted = _written(part.words)
            start = run.find(wanted) if wanted else -1
            while start >= 0:
                last = places[start + len(wanted) - 1]
                yield Mark(token.start + places[start], token.start + last + 1, number)
                start = run.find(wanted, start + len(wanted))


def marked(text: str, marks: Iterable[Mark]) -> str:
    """Return ``text`` as HTML in which the marks are ``mark`` elements and all else is escaped."""
    pieces, end = [], 0
    for mark in marks:
        pieces += [escape(text[end : mark.start]), "<mark>", escape(text[mark.start : mark.end])]
        pieces.append("</mark>")
        end = mark.end
    return "".join([*pieces, escape(text[end:])])


def _row_end(tokens: Sequence[_Token], place: int, words: Sequence[str], part: Part) -> int:
    """Return where the words end that begin with the token at ``place``, 0 if they do not."""
    rest = list(words)
    for token in tokens[place:]:
        own = query_words(token.text)
        if part.prefix and len(rest) == 1 and own and own[0].startswith(rest[0]):
            return token.end
        if not own or rest[: len(own)] != own:
            return 0
        rest = rest[len(own) :]
        if not rest:
            return token.end
    return 0


def _written(words: Sequence[str]) -> str:
    """Return the text that overlapping pairs of characters were made from, empty for others."""
    if not all(_TOKEN.fullmatch(word) and re.match(f"[{UNSPACED}]", word) for word in words):
        return ""
    return "".join(word[0] for word in words[:-1]) + words[-1]


def _apart(marks: Iterable[Mark]) -> list[Mark]:
    """Return the marks in order, the longer of two that overlap."""
    kept: list[Mark] = []
    for mark in sorted(set(marks), key=lambda mark: (mark.start, -mark.end, mark.part)):
        if not kept or mark.start >= kept[-1].end:
            kept.append(mark)
    return kept
