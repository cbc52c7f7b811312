"""Find terms of several words in a row: phrases, words joined by hyphens, and parts of words.

A text may be one word a hundred thousand times, and so may a row. So texts are searched in
stretches, and the caller looks at the clock between them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from mapshelf.text.normalize import is_unspaced

LONGEST_STRETCH: Final = 512
"""Maximum number of words that are searched at once."""


class Word(NamedTuple):
    """A word of a text, with its place; ``first_end`` is the end index of its first character."""

    start: int
    first_end: int
    end: int
    word: str

    def moved(self, places: int) -> "Word":
        """Return the word of a text that begins with ``places`` more characters."""
        return Word(self.start + places, self.first_end + places, self.end + places, self.word)


Row = tuple[int, Sequence[str], bool]
"""Words in a row that a term matches: its number, the words, whether the last one is a prefix."""

Placed = tuple[int, Sequence[Word]]
"""Some words that follow each other, with the place in the text that theirs are relative to."""


class RowMatch(NamedTuple):
    """A part of a text that matches a term; ``term`` is the number of the term."""

    start: int
    end: int
    term: int


class RowSearch:
    """Finds rows of words in one text, which is given stretch by stretch."""

    def __init__(self, rows: Sequence[Row]) -> None:
        """Begin with an empty text."""
        self._rows = rows
        self._most_before = max((len(words) for _, words, _ in rows), default=1) - 1
        self._before: list[Placed] = []

    def next(self, words: Sequence[Placed]) -> list[RowMatch]:
        """Return the matches that end in the next words of the text, in no order."""
        before, self._before = self._before, _last([*self._before, *words], self._most_before)
        return row_matches(words, self._rows, before)

    def settled(self, end: int) -> int:
        """Return the place before which no match begins that ends after the text so far.

        Args:
            end: the end of the text so far.
        """
        if not self._before:
            return end
        start, words = self._before[0]
        return start + words[0].start


def stretches(words: Iterable[Placed]) -> Iterator[list[Placed]]:
    """Yield the words of a text in stretches of ``LONGEST_STRETCH``."""
    found: list[Placed] = []
    room = LONGEST_STRETCH
    for start, some in words:
        first = 0
        while len(some) - first >= room:
            found.append((start, some[first : first + room]))
            yield found
            first, found, room = first + room, [], LONGEST_STRETCH
        if first < len(some):
            found.append((start, some[first:]))
            room -= len(some) - first
    if found:
        yield found


def _last(words: Sequence[Placed], most: int) -> list[Placed]:
    """Return the last ``most`` of some words."""
    found: list[Placed] = []
    for start, some in reversed(words):
        if most <= 0:
            break
        found.append((start, some[-most:]))
        most -= len(some)
    return found[::-1]


def row_matches(
    words: Sequence[Placed], rows: Iterable[Row], before: Sequence[Placed] = ()
) -> list[RowMatch]:
    """Return the matches that end in ``words``, of which some begin in those ``before`` them."""
    every = [*before, *words] if before else words
    present = {word.word for _, some in every for word in some}
    possible = [row for row in rows if present.issuperset(row[1][:-1])]
    if not possible:
        return []
    moved = [word.moved(start) for start, some in every for word in some]
    return list(_matches(moved, sum(len(some) for _, some in before), possible))


def _matches(words: Sequence[Word], first: int, rows: Iterable[Row]) -> Iterator[RowMatch]:
    """Yield the matches whose last word is ``words[first]`` or a later one."""
    written = [word.word for word in words]
    # A query may have sixteen phrases: going through a long text for each takes seconds.
    places: dict[str, list[int]] = {}
    for place in range(first, len(written)):
        places.setdefault(written[place], []).append(place)
    for number, row, unfinished in rows:
        *whole, last = row
        single = len(last) == 1 and is_unspaced(last)
        for place in _places_of(last, places, unfinished):
            start = place - len(whole)
            # Compared as slices, which is fast: a text may be hundreds of repetitions of the row.
            if start >= 0 and written[start:place] == whole:
                final = words[place]
                end = final.first_end if single else final.end
                yield RowMatch(words[start].start, end, number)


def _places_of(word: str, places: Mapping[str, Sequence[int]], unfinished: bool) -> Iterable[int]:
    """Return the places of a word; if ``unfinished``, of all words that start with it."""
    if not unfinished:
        return places.get(word, ())
    return [place for other, some in places.items() if other.startswith(word) for place in some]
