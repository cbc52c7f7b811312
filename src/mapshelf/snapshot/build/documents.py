"""Makes search documents of maps: which text goes into which field, and in which form."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from mapshelf.comparison.likeness import Likeness, likeness, telling
from mapshelf.formats.outline_codec import Passages
from mapshelf.model import ListedMap
from mapshelf.query import FILTERS, SORT_ORDERS
from mapshelf.query.rating import POPULARITIES, popularity
from mapshelf.search.map_words import MapWords, WordFinder, name_of
from mapshelf.snapshot.format.likeness import terms
from mapshelf.snapshot.format.text_fields import (
    LANGUAGE,
    LIKENESS,
    LONGEST_BEGINNING,
    LONGEST_TITLE_BEGINNING,
    NAME,
    PIECES,
    filter_field,
    order_field,
    precedence,
)
from mapshelf.text.normalize import SEPARATOR, normalize, split_words

COUNTED_TITLE: Final = 12
"""Words of a title that count as its length; longer titles count as this long."""

MOST_COUNTED: Final = 1000
"""Words of the topics that are looked at to tell what a map is about."""

TITLE: Final = 3
"""How much more a word of the title counts than one of a topic."""

Fields = dict[str, str | int | list[int]]
"""The values of a document, by field."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """A map to index.

    Attributes:
        slot: its slot in the snapshot.
        listed: the map.
        passages: the text of its topics.
    """

    slot: int
    listed: ListedMap
    passages: Passages


@dataclass(frozen=True, slots=True)
class Document:
    """The search document of a map.

    Attributes:
        fields: the value of each field.
        words: the words of the map and their parts, without stems.
        likeness: what is compared of it.
    """

    fields: Fields
    words: set[str]
    likeness: Likeness


class Documents:
    """Makes documents of maps, and caches the forms of words meanwhile."""

    def __init__(self) -> None:
        self._finder = WordFinder()

    def of(self, indexed: Indexed) -> Document:
        """Return the document of a map."""
        listed, found = indexed.listed, indexed.listed.map
        said = self._finder.words_of(found, listed.source, indexed.passages)
        level, written = popularity(found), said.written
        alike = likeness(indexed.passages.tree, _about(listed, said))
        fields: Fields = {
            "slot": indexed.slot,
            "precedence": precedence(indexed.slot, level, found.file_id),
            NAME: name_of(said.title),
            LANGUAGE: said.language,
            LIKENESS: terms(alike),
            "title": _padded(said.title, level),
            "description": " ".join(said.description),
            "branches": " ".join(said.branches),
            "topics": " ".join(said.topics),
            "title_forms": " ".join(said.title_words | said.title_stems),
            "forms": " ".join(said.words | said.stems),
            PIECES: " ".join(said.words - written),
            "title_beginnings": " ".join(_beginnings(said.title_words, LONGEST_TITLE_BEGINNING)),
            "beginnings": " ".join(_beginnings(said.words | written, LONGEST_BEGINNING)),
            **{order_field(row.name): row.search_key(listed) for row in SORT_ORDERS},
            **{filter_field(row.name): list(row.keys(listed)) for row in FILTERS},
        }
        return Document(fields, said.words, alike)


def _about(listed: ListedMap, said: MapWords) -> list[str]:
    """Return words that are likely to tell what a map is about, the best first."""
    found = listed.map
    beside = split_words(normalize(SEPARATOR.join((found.owner, found.category, listed.source))))
    # They are among the last words of the main topics.
    branches = said.branches[: max(0, len(said.branches) - len(beside))]
    counts = Counter([*branches, *said.topics[:MOST_COUNTED], *said.description, *said.title])
    for word in said.title:
        counts[word] += TITLE
    return telling(counts.items())


def _beginnings(words: Iterable[str], longest: int) -> set[str]:
    """Return the prefixes of the words, up to ``longest`` characters."""
    # Each length is made from the next longer one, of which there are fewer and fewer.
    level = {word[:longest] for word in words}
    found = set(level)
    for length in range(longest - 1, 0, -1):
        level = {beginning[:length] for beginning in level}
        found |= level
    return found - {"", SEPARATOR}


def _padded(title: list[str], level: int) -> str:
    """Return a title padded with separators, which set the length that it counts as.

    Of titles with the same word Tantivy prefers the shorter; two separators count as one word. A
    popular map gets up to seven fewer, so it wins over a title three words shorter.
    """
    padding = min(len(title), COUNTED_TITLE) + (POPULARITIES - 1 - level) // 2
    return " ".join([*title, *[SEPARATOR] * padding])
