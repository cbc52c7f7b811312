"""Define the schema of the search index and the weights of its fields.

All weights are here. docs/search.md explains their effects.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import tantivy

from mapshelf.query import FILTERS, ORDERS
from mapshelf.snapshot.format.unavailable import snapshot_error

ZONES: Final = ("title", "description", "branches", "topics")
"""Fields with the words as written, in order. ``branches`` has the main topics, the names of owner
and category, and the path of the file; ``topics`` has all other topics and all notes."""

FORMS: Final = ("title_forms", "forms")
"""Fields with all forms (stems, parts, compounds) of the words of the title, and of all words.

These fields also contain the words as written, which therefore score higher than their other forms.
"""

PIECES: Final = "pieces"
"""The field with the words that occur only as parts or compounds of others.

``forms`` contains them, too. This field is for exact searches for one word: together with ``ZONES``
it covers all words, without visiting a map twice.
"""

BEGINNINGS: Final = ("title_beginnings", "beginnings")
"""Fields with the prefixes of the words of the title, and of all words.

Prefixes of all words have up to ``LONGEST_BEGINNING`` characters. So few words share a longer
prefix that these words are looked up instead.
"""

LANGUAGE: Final = "language"
"""The field with the code of the map's language."""

LONGEST_TITLE_BEGINNING: Final = 16
"""Maximum length of the indexed prefixes of words of the title, in characters."""

FINGERPRINT: Final = "likeness"
"""The field by which similar maps are found (``fingerprints.py``). No search uses it."""

NAME: Final = "name"
"""The field with the whole title as one term."""

WEIGHTS: Final = {
    "title": 8.0,
    "description": 5.0,
    "branches": 2.0,
    "topics": 1.0,
    "title_forms": 4.0,
    "forms": 0.5,
    PIECES: 0.5,
    "title_beginnings": 0.8,
    "beginnings": 0.1,
    NAME: 20.0,
}
"""The weight of a match in each field: a factor by which its BM25 score is multiplied."""

PRECEDENCE: Final = "precedence"
"""The field that breaks near ties between matches, and also holds the slot (``precedence``)."""

_BITS: Final = 30
_MOST: Final = (1 << _BITS) - 1

CHARACTER_WEIGHT: Final = 10.0
"""The weight of a single character of an unspaced script: a factor by which the weight of a prefix
is multiplied."""

PHRASE_WEIGHT: Final = 4.0
"""The weight of a title that contains the words of the search as a phrase."""


def schema() -> tantivy.Schema:
    """Return the schema of the index."""
    builder = tantivy.SchemaBuilder()
    for name in ZONES:
        builder.add_text_field(name, tokenizer_name="whitespace")
    for name in (*FORMS, PIECES, *BEGINNINGS, FINGERPRINT):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="basic")
    for name in (NAME, LANGUAGE):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("slot", indexed=True)
    builder.add_unsigned_field(PRECEDENCE, fast=True)
    for order in ORDERS:
        builder.add_unsigned_field(order_field(order), indexed=True, fast=True)
    for row in FILTERS:
        builder.add_unsigned_field(filter_field(row.name), indexed=True)
    return builder.build()


def precedence(slot: int, popularity: int, file_id: int) -> int:
    """Pack popularity, file id (capped) and slot into one number.

    Near ties are sorted by it, descending; ``slot_of`` unpacks the slot. It is one number because
    Tantivy opens each column anew for every look-up. Tantivy leaves a column of such numbers
    uncompressed. A column of slots alone would be compressed so well that opening one of a million
    takes 40 µs.
    """
    return (popularity << 2 * _BITS) + (min(file_id, _MOST) << _BITS) + slot


def slot_of(precedence: int) -> int:
    """Return the slot that a precedence contains."""
    return precedence & _MOST


def filter_field(name: str) -> str:
    """Return the field that holds a filter's keys."""
    return f"filter_{name}"


def order_field(order: str) -> str:
    """Return the field that holds an order's search keys."""
    return f"order_{order}"


@contextmanager
def translated() -> Iterator[None]:
    """Convert exceptions of Tantivy to ``SnapshotError``."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise snapshot_error(f"the search index cannot be used: {error}", error) from error
