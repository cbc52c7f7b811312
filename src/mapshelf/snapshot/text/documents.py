"""What the search index keeps of a map: which text goes into which field, and in which form."""

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mapshelf.folding import SEPARATOR, fold, index_words, is_unspaced
from mapshelf.forms import CACHED_WORDS, STEM, index_forms
from mapshelf.model import Map
from mapshelf.outlines import Passages
from mapshelf.query import FILTERS
from mapshelf.snapshot.rating import POPULARITIES, popularity, rating
from mapshelf.snapshot.text.fields import (
    LANGUAGE,
    LONGEST_BEGINNING,
    LONGEST_TITLE_BEGINNING,
    NAME,
    filter_field,
    order_field,
)

LONGEST_NAME: Final = 1024
"""Characters of a title to be known by the whole of it; nobody types a longer one."""

COUNTED_TITLE: Final = 12
"""Words of a title up to which a shorter one is the better match."""

_HALF: Final = 1 << 32

Document = dict[str, str | int]
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


def document_of(indexed: Indexed) -> Document:
    """Return what goes into the index."""
    found, passages = indexed.map, indexed.passages
    level = popularity(found)
    about = (found.owner, found.category, indexed.source)
    title = index_words(found.title).split(" ")
    description = index_words(found.description)
    branches, topics = _apart((*passages.shallow, *about)), _apart(passages.deep)
    title_words, title_stems = index_forms(found.title, passages.language)
    title_words.update(title)
    others = "\n".join((found.description, *about, *passages.shallow, *passages.deep))
    words, stems = index_forms(others, passages.language)
    words |= title_words
    # Pairs of characters have no other forms; but they have beginnings.
    written = words.union(*(text.split(" ") for text in (description, branches, topics)))
    return {
        "slot": indexed.slot,
        "file_id": found.file_id,
        "popularity": level,
        NAME: name_of(title),
        LANGUAGE: passages.language,
        "title": _measured(title, level),
        "description": description,
        "branches": branches,
        "topics": topics,
        "title_forms": " ".join(title_words | title_stems),
        "forms": " ".join(words | stems | title_stems),
        "title_beginnings": " ".join(_beginnings(title_words, LONGEST_TITLE_BEGINNING)),
        "beginnings": " ".join(_beginnings(written, LONGEST_BEGINNING)),
        **{order_field(order): key(found) for order, key in COARSE_KEYS.items()},
        **{filter_field(row.name): row.key(found) for row in FILTERS},
    }


def words_of(document: Document) -> list[str]:
    """Return the words of a map and what they are made of, without their stems."""
    return [word for word in str(document["forms"]).split(" ") if word[:1] not in ("", STEM)]


def name_of(words: Iterable[str]) -> str:
    """Return what these words name, as a title is compared with a whole search text.

    Blanks and hyphens do not count, and overlapping pairs of characters are put together again.
    """
    name, paired = "", False
    for word in words:
        if not is_unspaced(word):
            name, paired = name + word, False
        elif not paired:
            name, paired = name + word, len(word) == 2
        elif len(word) == 2:
            # A single character after a pair only ends the run that the pair belongs to.
            name += word[1] if name[-1] == word[0] else word
    return name[:LONGEST_NAME]


def _apart(texts: Iterable[str]) -> str:
    return index_words(SEPARATOR.join(text for text in texts if text))


def _beginnings(words: Iterable[str], longest: int) -> set[str]:
    # Pairs of characters are too many different ones to be kept at hand, and have few beginnings.
    short = {word for word in words if len(word) <= 2 and word != SEPARATOR}
    short.update([word[0] for word in short if word])
    return short.union(*[_beginnings_of(word, longest) for word in words if len(word) > 2])


@lru_cache(CACHED_WORDS)
def _beginnings_of(word: str, longest: int) -> frozenset[str]:
    return frozenset(word[:end] for end in range(1, min(len(word), longest) + 1))


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
    "alpha": lambda found: int.from_bytes(fold(found.title).encode()[:8].ljust(8, b"\0"), "big"),
    "downloads": lambda found: _counted(found.downloads, found.file_id),
    "views": lambda found: _counted(found.views, found.file_id),
    "date": lambda found: found.date_added + (1 << 62),
    "rating": _liked,
}
"""For each order a number of 64 bits that never contradicts it: where two maps have different
numbers, these tell which comes first (the lower for ``alpha``, else the higher); where they have
the same, the listing does."""
