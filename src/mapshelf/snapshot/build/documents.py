"""Makes search documents of maps: which text goes into which field, and in which form."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from mapshelf.formats.outline_codec import Passages
from mapshelf.model import ListedMap
from mapshelf.query import FILTERS, SORT_ORDERS
from mapshelf.query.rating import POPULARITIES, popularity
from mapshelf.search.map_words import WordFinder, name_of
from mapshelf.snapshot.format.text_fields import (
    LANGUAGE,
    LONGEST_BEGINNING,
    LONGEST_TITLE_BEGINNING,
    NAME,
    PIECES,
    filter_field,
    order_field,
    precedence,
)
from mapshelf.text.normalize import SEPARATOR

COUNTED_TITLE: Final = 12
"""Words of a title that count as its length; longer titles count as this long."""

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
    """

    fields: Fields
    words: set[str]


class Documents:
    """Makes documents of maps, and caches the forms of words meanwhile."""

    def __init__(self) -> None:
        self._finder = WordFinder()

    def of(self, indexed: Indexed) -> Document:
        """Return the document of a map."""
        listed, found = indexed.listed, indexed.listed.map
        said = self._finder.words_of(found, listed.source, indexed.passages)
        level, written = popularity(found), said.written
        fields: Fields = {
            "slot": indexed.slot,
            "precedence": precedence(indexed.slot, level, found.file_id),
            NAME: name_of(said.title),
            LANGUAGE: said.language,
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
        return Document(fields, said.words)


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
