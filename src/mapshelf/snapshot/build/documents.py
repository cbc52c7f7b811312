"""Create search documents from maps, putting each text into its fields in the right form."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import orjson

from mapshelf.comparison.fingerprint import Fingerprint, fingerprints, telling
from mapshelf.formats.outline_codec import Passages
from mapshelf.model import ListedMap
from mapshelf.query import FILTERS, SORT_ORDERS
from mapshelf.query.rating import POPULARITIES, popularity
from mapshelf.search.map_words import MapWords, WordFinder, name_of, without_stems
from mapshelf.snapshot.format.fingerprints import terms
from mapshelf.snapshot.format.keys import Keys
from mapshelf.snapshot.format.text_fields import (
    FINGERPRINT,
    LANGUAGE,
    LONGEST_TITLE_BEGINNING,
    NAME,
    PIECES,
    filter_field,
    order_field,
    precedence,
)
from mapshelf.text.normalize import SEPARATOR, normalize, split_words
from mapshelf.text.word_forms import CACHED_PIECES, beginnings_of

COUNTED_TITLE: Final = 12
"""Maximum number of words that count as the length of a title; longer ones count as this long."""

MOST_COUNTED: Final = 1000
"""Number of words of topics that are examined to determine the subject of a map."""

TITLE: Final = 3
"""Added to the count of each word in the title when the subject of a map is determined."""

_ORDERS: Final = tuple(order_field(row.name) for row in SORT_ORDERS)
_FILTERS: Final = tuple(filter_field(row.name) for row in FILTERS)


@dataclass(frozen=True, slots=True)
class Indexed:
    """A map to index.

    Attributes:
        slot: its slot in the snapshot.
        listed: the map.
        keys: its keys.
        passages: the text of its topics.
    """

    slot: int
    listed: ListedMap
    keys: Keys
    passages: Passages


@dataclass(frozen=True, slots=True)
class Document:
    """The search document of a map.

    Attributes:
        encoded: the value of each field, as JSON. Tantivy reads it sooner than a dictionary, and
            one object passes from process to process sooner than many.
        words: the words of the map and their parts, without stems, separated by spaces.
        fingerprint: its fingerprint, by which similar maps are found.
    """

    encoded: bytes
    words: str
    fingerprint: Fingerprint


class SearchDocuments:
    """Creates search documents, with a cache of word forms."""

    def __init__(self, cached: int = CACHED_PIECES) -> None:
        """Begin with an empty cache for ``cached`` pieces of text (``CACHED_PIECES``)."""
        self._finder = WordFinder(cached)

    def of(self, maps: Sequence[Indexed]) -> list[Document]:
        """Return the documents of some maps. Processing several maps at once takes less time."""
        said = [
            self._finder.words_of(one.listed.map, one.listed.source, one.passages) for one in maps
        ]
        alike = fingerprints(
            [one.passages.tree for one in maps],
            [_about(one.listed, words) for one, words in zip(maps, said, strict=True)],
        )
        return [_document(*each) for each in zip(maps, said, alike, strict=True)]


def _document(indexed: Indexed, said: MapWords, alike: Fingerprint) -> Document:
    found, keys = indexed.listed.map, indexed.keys
    level = popularity(found)
    forms, written = said.forms, said.written
    words = without_stems(forms)
    fields: dict[str, object] = {
        "slot": indexed.slot,
        "precedence": precedence(indexed.slot, level, found.file_id),
        NAME: name_of(said.title),
        LANGUAGE: said.language,
        FINGERPRINT: terms(alike),
        "title": _padded(said.title, level),
        "description": " ".join(said.description),
        "branches": " ".join(said.branches),
        "topics": " ".join(said.topics),
        "title_forms": " ".join(said.title_forms),
        "forms": " ".join(forms),
        PIECES: " ".join(words - written),
        "title_beginnings": " ".join(_beginnings(said.title_words, LONGEST_TITLE_BEGINNING)),
        "beginnings": " ".join(beginnings_of(words | written)),
    }
    fields.update(zip(_ORDERS, keys.searches, strict=True))
    fields.update(zip(_FILTERS, keys.filters, strict=True))
    return Document(orjson.dumps(fields), " ".join(words), alike)


def _about(listed: ListedMap, said: MapWords) -> list[str]:
    """Return the words that are likely to describe the subject of a map, best first."""
    found = listed.map
    # The branches end with the words of owner, category and path, and two separators.
    beside = _length(found.owner) + _length(found.category) + _length(listed.source) + 2
    branches = said.branches[: max(0, len(said.branches) - beside)]
    counts = Counter([*branches, *said.topics[:MOST_COUNTED], *said.description, *said.title])
    for word in said.title:
        counts[word] += TITLE
    return telling(counts.items())


def _beginnings(words: Iterable[str], longest: int) -> set[str]:
    """Return the prefixes of the words, up to ``longest`` characters."""
    return {
        word[:length]
        for word in words
        if word != SEPARATOR
        for length in range(1, min(len(word), longest) + 1)
    }


@lru_cache(1 << 12)
def _length(text: str) -> int:
    """Return the number of words in a text; cached, because the same names occur many times."""
    return len(split_words(normalize(text)))


def _padded(title: list[str], level: int) -> str:
    """Return a title padded with separators, which adjust the length that Tantivy sees.

    Among titles with the same word, Tantivy prefers shorter ones; two separators have the weight of
    one word. A popular map gets up to seven separators fewer, so it wins over a title that is three
    words shorter.
    """
    padding = min(len(title), COUNTED_TITLE) + (POPULARITIES - 1 - level) // 2
    return " ".join([*title, *[SEPARATOR] * padding])
