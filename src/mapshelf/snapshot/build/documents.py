"""Makes search documents of maps: which text goes into which field, and in which form."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from mapshelf.formats.outline_codec import Passages
from mapshelf.model import Map
from mapshelf.query import FILTERS, SORT_ORDERS
from mapshelf.query.rating import POPULARITIES, popularity
from mapshelf.snapshot.format.text_fields import (
    LANGUAGE,
    LONGEST_BEGINNING,
    LONGEST_TITLE_BEGINNING,
    NAME,
    PIECES,
    filter_field,
    name_of,
    order_field,
    precedence,
)
from mapshelf.text.normalize import SEPARATOR, normalize_keeping_accents, split_words
from mapshelf.text.stemming import IndexStemmer, word_variants

COUNTED_TITLE: Final = 12
"""Words of a title that count as its length; longer titles count as this long."""

Fields = dict[str, str | int]
"""The values of a document, by field."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """A map to index.

    Attributes:
        slot: its slot in the snapshot.
        map: the map.
        source: name of the file it was read from.
        passages: the text of its topics.
    """

    slot: int
    map: Map
    source: str
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


@dataclass(frozen=True, slots=True)
class _Zone:
    """A text of a map.

    Attributes:
        words: its normalized words in the order of the text.
        variants: the distinct words, with parts and compounds, before accents are removed.
    """

    words: list[str]
    variants: set[str]


class Documents:
    """Makes documents of maps, and caches the forms of words meanwhile."""

    def __init__(self) -> None:
        self._stemmer = IndexStemmer()

    def of(self, indexed: Indexed) -> Document:
        """Return the document of a map."""
        found, passages = indexed.map, indexed.passages
        about = (found.owner, found.category, indexed.source)
        title = self._zone(found.title)
        description = self._zone(found.description)
        branches = self._zone(_separated((*passages.shallow, *about)))
        topics = self._zone(_separated(passages.deep))
        level = popularity(found)
        title_words = {*title.words, *self._stemmer.normalized(title.variants)}
        variants = title.variants | description.variants | branches.variants | topics.variants
        words = title_words.union(self._stemmer.normalized(variants))
        stems = self._stemmer.stems(variants, passages.language)
        alone = {*title.words, *description.words, *branches.words, *topics.words}
        fields: Fields = {
            "slot": indexed.slot,
            "precedence": precedence(indexed.slot, level, found.file_id),
            NAME: name_of(title.words),
            LANGUAGE: passages.language,
            "title": _padded(title.words, level),
            "description": " ".join(description.words),
            "branches": " ".join(branches.words),
            "topics": " ".join(topics.words),
            "title_forms": " ".join(
                title_words | self._stemmer.stems(title.variants, passages.language)
            ),
            "forms": " ".join(words | stems),
            PIECES: " ".join(words - alone),
            "title_beginnings": " ".join(_beginnings(title_words, LONGEST_TITLE_BEGINNING)),
            "beginnings": " ".join(_beginnings(words | alone, LONGEST_BEGINNING)),
            **{name: key(found) for name, key in _KEYS.items()},
        }
        return Document(fields, words)

    def _zone(self, text: str) -> _Zone:
        whole = normalize_keeping_accents(text)
        accented = split_words(whole)
        words = accented if whole.isascii() else self._stemmer.normalized(accented)
        return _Zone(words, word_variants(text, whole, accented))


def _separated(texts: Iterable[str]) -> str:
    return SEPARATOR.join([text for text in texts if text])


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


_KEYS: Final[dict[str, Callable[[Map], int]]] = {
    **{order_field(row.name): row.search_key for row in SORT_ORDERS},
    **{filter_field(row.name): row.key for row in FILTERS},
}
