"""What the search index keeps of a map: which text goes into which field, and in which form."""

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from mapshelf.formats.outline_codec import Passages
from mapshelf.model import Map
from mapshelf.query import FILTERS
from mapshelf.snapshot.format.columns import title_beginning
from mapshelf.snapshot.format.rating import POPULARITIES, popularity, rating
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
"""Words of a title up to which a shorter one is the better match."""

_HALF: Final = 1 << 32

Fields = dict[str, str | int]
"""What goes into the index for a map, by field."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """A map on its way into the index.

    Attributes:
        slot: its place in the snapshot.
        map: the map.
        source: name of the file it was read from.
        passages: what its topics say.
    """

    slot: int
    map: Map
    source: str
    passages: Passages


@dataclass(frozen=True, slots=True)
class Document:
    """What the index keeps of a map.

    Attributes:
        fields: what goes into each field.
        words: the words of the map and what they are made of, without stems.
    """

    fields: Fields
    words: set[str]


@dataclass(frozen=True, slots=True)
class _Zone:
    """A text of a map.

    Attributes:
        words: its words as the index has them, in their order.
        variants: the different words, their subwords and joined words, with accents.
    """

    words: list[str]
    variants: set[str]


class Documents:
    """Makes documents of maps, for as long as an index is being built."""

    def __init__(self) -> None:
        self._stemmer = IndexStemmer()

    def of(self, indexed: Indexed) -> Document:
        """Return what the index is to keep of a map."""
        found, passages = indexed.map, indexed.passages
        about = (found.owner, found.category, indexed.source)
        title = self._zone(found.title)
        description = self._zone(found.description)
        branches = self._zone(_apart((*passages.shallow, *about)))
        topics = self._zone(_apart(passages.deep))
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
            "title": _measured(title.words, level),
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


def _apart(texts: Iterable[str]) -> str:
    return SEPARATOR.join([text for text in texts if text])


def _beginnings(words: Iterable[str], longest: int) -> set[str]:
    """Return what the words begin with, up to ``longest`` characters."""
    # The longest first, and each shorter one from those: there are fewer and fewer of them.
    level = {word[:longest] for word in words}
    found = set(level)
    for length in range(longest - 1, 0, -1):
        level = {beginning[:length] for beginning in level}
        found |= level
    return found - {"", SEPARATOR}


def _measured(title: list[str], level: int) -> str:
    """Return a title followed by blanks that make it as long as it is to count.

    Of titles with the same word the engine prefers the shorter; two blanks more are one word
    more. What is popular gets up to seven fewer: it wins over a title three words shorter.
    """
    blanks = min(len(title), COUNTED_TITLE) + (POPULARITIES - 1 - level) // 2
    return " ".join([*title, *[SEPARATOR] * blanks])


def _counted(value: int, file_id: int) -> int:
    """Return a key for a counter and, among equal ones, the file id."""
    if value >= _HALF:
        return _HALF * _HALF - 1
    return value * _HALF + min(file_id, _HALF - 1)


def _liked(found: Map) -> int:
    """Return a key for the rating and, where there is none, the file id."""
    value = rating(found.thumbs_up, found.thumbs_down)
    if value == 0.0:
        return 1 + min(found.file_id, _HALF - 1)
    # As numbers, the bits of positive floating-point numbers are in the order of these.
    bits: int = struct.unpack(">Q", struct.pack(">d", max(value, 0.0)))[0]
    return bits


COARSE_KEYS: Final[dict[str, Callable[[Map], int]]] = {
    "alpha": lambda found: title_beginning(found.title),
    "downloads": lambda found: _counted(found.downloads, found.file_id),
    "views": lambda found: _counted(found.views, found.file_id),
    "date": lambda found: found.date_added + (1 << 62),
    "rating": _liked,
}
"""For each order a number of 64 bits that never contradicts it: where two maps have different
numbers, these tell which comes first (the lower for ``alpha``, else the higher); where they have
the same, the listing does."""

_KEYS: Final[dict[str, Callable[[Map], int]]] = {
    **{order_field(order): key for order, key in COARSE_KEYS.items()},
    **{filter_field(row.name): row.key for row in FILTERS},
}
