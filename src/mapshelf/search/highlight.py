"""Where in a text the words of a search stand, to show people why a map was found.

The rules are those of the search index, applied to one text: words as they are written, other forms
of them, beginnings, what is written together. What is shown must be the author's own writing, so
every word is traced back from its folded form to the characters it was made from.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from itertools import pairwise
from typing import Final

from mapshelf.search.query_parser import Part
from mapshelf.text.normalize import SEPARATOR, composed, fold, is_unspaced, placed_words
from mapshelf.text.stemming import (
    CUT_AT_THE_FRONT,
    STEM,
    joined_words,
    pieces_of,
    roots_of,
    stems,
    with_unknown,
)

_STRETCH: Final = re.compile(r"\S+")
_LETTERS: Final = re.compile(r"[^\W_]+")

# What becomes one letter with the one before it, though it is no mark: the vowels and finals of
# Hangul in pieces, the voicing marks of narrow kana, and narrow Hangul.
_COMPOSING: Final = re.compile("[\u1160-\u11ff\ud7b0-\ud7fb\uff9e\uff9f\uffa0-\uffdc]")


# What ``forms`` joins words over.
_JOINTS: Final = re.compile("[-._@'\u2019+&]+")


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of a text, from ``start`` up to ``end``, that the search means."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of the index where it stands in a text; ``first_end`` is the end of its first sign."""

    start: int
    first_end: int
    end: int
    word: str

    def moved(self, places: int) -> "_Word":
        return _Word(self.start + places, self.first_end + places, self.end + places, self.word)


@dataclass(frozen=True, slots=True)
class _Said:
    """A stretch that says a part of the search, by the number of that part."""

    start: int
    end: int
    part: int


@dataclass(frozen=True, slots=True)
class _Reading:
    """What stands between two blanks: its words, if rows are looked for, and what each says."""

    words: list[_Word]
    said: list[_Said]


class Marker:
    """Marks texts for one search."""

    def __init__(self, parts: Sequence[Part], languages: Iterable[str]) -> None:
        self._languages = with_unknown(languages)
        self._parts = [part for part in parts if not part.excluded]
        self._stems = [
            stems(part.words[0], self._languages) if part.has_forms else frozenset()
            for part in self._parts
        ]
        self._roots = [
            roots_of(part.words[0], found)
            for part, found in zip(self._parts, self._stems, strict=True)
        ]
        self._initials = {stem.rpartition(STEM)[2][:1] for found in self._stems for stem in found}
        self._keeps_initials = CUT_AT_THE_FRONT.isdisjoint(self._languages)
        self._clues = [part.words[0][:2] for part in self._parts]
        self._beginnings = [re.compile(rf"\b{re.escape(part.words[0])}") for part in self._parts]
        self._rows = [
            (number, words, part.prefix and words is part.words)
            for number, part in enumerate(self._parts)
            for words in (part.words, part.pieces)
            if len(words) > 1
        ]
        # Pairs of signs have no other forms: what they say is looked up, for there are many.
        self._pairs: dict[str, list[int]] = {}
        self._signs: dict[str, list[int]] = {}
        for number, part in enumerate(self._parts):
            if len(part.words) == 1 and is_unspaced(part.words[0]):
                table = self._signs if part.is_character else self._pairs
                table.setdefault(part.words[0], []).append(number)
        self._readings: dict[str, _Reading] = {}

    def __len__(self) -> int:
        """Return how many parts of the search can be marked."""
        return len(self._parts)

    def hinted(self, texts: list[str]) -> list[str]:
        """Return those of ``texts`` that may say all parts, by a look that takes a microsecond.

        Those come first in which words begin as they are searched for. One that is left out does
        not say all, but for the few forms that change one of the first two letters (dying for
        die); one that is returned may not, either.
        """
        # All at once: folding them one by one takes three times as long.
        closed = _JOINTS.sub("", fold(SEPARATOR.join(texts))).split(SEPARATOR)
        if not self._keeps_initials or len(closed) != len(texts):
            return texts
        hinted: tuple[list[str], list[str]] = ([], [])
        for text, folded in zip(texts, closed, strict=True):
            if all(clue in folded for clue in self._clues):
                begun = all(beginning.search(folded) for beginning in self._beginnings)
                hinted[not begun].append(text)
        return hinted[False] + hinted[True]

    def said(self, text: str) -> frozenset[int]:
        """Return the numbers of the parts that ``text`` says."""
        return frozenset(found.part for found in self._found(text))

    def marks(self, text: str) -> list[Mark]:
        """Return the marks in ``text``, in order, none overlapping another."""
        marks: list[Mark] = []
        for start, end in sorted({(found.start, found.end) for found in self._found(text)}):
            if marks and start < marks[-1].end:
                marks[-1] = Mark(marks[-1].start, max(end, marks[-1].end))
            else:
                marks.append(Mark(start, end))
        return marks

    def _found(self, text: str) -> Iterator[_Said]:
        """Yield all that is said, in no order; one may overlap another."""
        words: list[_Word] = []
        for stretch in _STRETCH.finditer(text):
            reading, start = self._reading(stretch[0]), stretch.start()
            for said in reading.said:
                yield _Said(said.start + start, said.end + start, said.part)
            words += [word.moved(start) for word in reading.words]
        for part, row, unfinished in self._rows:
            yield from (_Said(*span, part) for span in _row_spans(words, row, unfinished))

    def _reading(self, stretch: str) -> _Reading:
        """Return what stands between two blanks, read once for all texts."""
        reading = self._readings.get(stretch)
        if reading is None:
            reading = self._readings[stretch] = self._read(stretch)
        return reading

    def _read(self, stretch: str) -> _Reading:
        folded, starts, ends = _folded(stretch)
        words: list[_Word] = []
        said: list[_Said] = []
        for first, last, word in placed_words(folded):
            start, first_end, end = starts[first], ends[first], ends[last - 1]
            if self._rows:
                words.append(_Word(start, first_end, end, word))
            if is_unspaced(word):
                said += [_Said(start, end, number) for number in self._pairs.get(word, ())]
                said += [_Said(start, first_end, number) for number in self._signs.get(word[0], ())]
            else:
                meant = self._meant_by(word, stretch[start:end])
                said += [_Said(start, end, number) for number in meant]
        for first, last, word in joined_words(folded):
            start, end = starts[first], ends[last - 1]
            apart = {one.part for one in said if start <= one.start and one.end <= end}
            _, _, written = next(joined_words(composed(stretch[start:end])), (0, 0, word))
            meant = self._meant_by(word, written)
            said += [_Said(start, end, number) for number in meant if number not in apart]
        return _Reading(words, said)

    def _meant_by(self, word: str, written: str) -> Iterator[int]:
        """Yield the parts that a word stands for by itself."""
        pieces = [piece for letters in _LETTERS.findall(written) for piece in pieces_of(letters)]
        forms = {word, *map(fold, pieces)}
        found = frozenset().union(*map(self._stems_of, (written, *pieces)))
        for number, part in enumerate(self._parts):
            stem = found & self._stems[number] or forms & self._roots[number]
            if stem or part.together in forms or _says(forms, part):
                yield number

    def _stems_of(self, word: str) -> frozenset[str]:
        """Return the stems of a word as written, none if they cannot be those searched for."""
        plain = composed(word)
        if self._keeps_initials and plain.isascii() and plain[:1] not in self._initials:
            return frozenset()
        return stems(plain, self._languages)


def marked(text: str, marks: Iterable[Mark]) -> str:
    """Return ``text`` as HTML in which the marks are ``mark`` elements and all else is escaped."""
    pieces, end = [], 0
    for mark in marks:
        pieces += [escape(text[end : mark.start]), "<mark>", escape(text[mark.start : mark.end])]
        pieces.append("</mark>")
        end = mark.end
    return "".join([*pieces, escape(text[end:])])


def _says(forms: set[str], part: Part) -> bool:
    """Tell whether one of the forms of a word is the only word of a part, or begins so."""
    if len(part.words) > 1:
        return False
    if part.prefix:
        return any(form.startswith(part.words[0]) for form in forms)
    return part.words[0] in forms


def _row_spans(
    words: Sequence[_Word], row: Sequence[str], unfinished: bool
) -> Iterator[tuple[int, int]]:
    """Yield from where to where the words of ``row`` follow each other, the last maybe begun."""
    *whole, last = row
    for place in range(len(words) - len(whole)):
        final = words[place + len(whole)]
        if not (final.word.startswith(last) if unfinished else final.word == last):
            continue
        if all(words[place + i].word == word for i, word in enumerate(whole)):
            lone = len(last) == 1 and is_unspaced(last)
            yield words[place].start, final.first_end if lone else final.end


def _folded(stretch: str) -> tuple[str, list[int], list[int]]:
    """Return a stretch folded, and where what each of its characters was made from starts, ends."""
    if stretch.isascii():
        places = list(range(len(stretch) + 1))
        return fold(stretch), places[:-1], places[1:]
    bounds = [place for place, sign in enumerate(stretch) if not place or not _composes(sign)]
    bounds.append(len(stretch))
    pieces = [_fold_sign(stretch[a:b]) for a, b in pairwise(bounds)]
    folded = fold(stretch)
    if "".join(pieces) != folded:
        # Signs that change each other in a way we do not know of: then they are marked as one.
        bounds, pieces = [0, len(stretch)], [folded]
    starts = [start for start, piece in zip(bounds, pieces, strict=False) for _ in piece]
    ends = [end for end, piece in zip(bounds[1:], pieces, strict=True) for _ in piece]
    return folded, starts, ends


@lru_cache(1 << 14)
def _fold_sign(sign: str) -> str:
    return fold(sign)


def _composes(sign: str) -> bool:
    return unicodedata.category(sign).startswith("M") or _COMPOSING.match(sign) is not None
