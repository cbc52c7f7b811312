"""The schema of the search index and the weights of its fields.

All weights are here. docs/search.md explains what follows from them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import tantivy

from mapshelf.query import FILTERS, ORDERS
from mapshelf.snapshot.format.unavailable import snapshot_error

ZONES: Final = ("title", "description", "branches", "topics")
"""Fields with the words as written, in order. ``branches`` are the main topics, with the names of
owner and category and the path of the file; ``topics`` are all other topics, and all notes."""

FORMS: Final = ("title_forms", "forms")
"""Fields with all forms (stems, parts, compounds) of the words of the title, and of all words. A
word as written matches here too, so it counts for more than its other forms."""

PIECES: Final = "pieces"
"""The field with the words that occur only as parts or compounds of others. ``forms`` has them,
too; this field is for exact searches, which then need not visit every map twice."""

BEGINNINGS: Final = ("title_beginnings", "beginnings")
"""Fields with the prefixes of words: of words of the title, and of all words. The latter have up to
``LONGEST_BEGINNING`` characters: so few words have a longer one that they are looked up instead."""

LANGUAGE: Final = "language"
"""The field with the code of the map's language."""

LONGEST_TITLE_BEGINNING: Final = 16
"""Characters of the longest prefixes indexed of words of the title."""

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
"""The weight of a match in each field, a factor of its BM25 score."""

PRECEDENCE: Final = "precedence"
"""The field that decides between equal matches, and holds the slot of the map."""

_BITS: Final = 30
_MOST: Final = (1 << _BITS) - 1

CHARACTER_WEIGHT: Final = 10.0
"""The weight of a single character of an unspaced script, a factor of that of a prefix."""

PHRASE_WEIGHT: Final = 4.0
"""The weight of a title that has the words of the search as a phrase."""


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
    """Return a number that is higher for maps that come first among near ties, with the slot.

    It is one number because Tantivy opens a column for each look-up. It joins popularity, file id
    (up to a maximum) and slot because Tantivy leaves such a column uncompressed. A column of slots
    alone would be compressed so well that opening one of a million takes 40 µs.
    """
    return (popularity << 2 * _BITS) + (min(file_id, _MOST) << _BITS) + slot


def slot_of(precedence: int) -> int:
    """Return the slot in a precedence."""
    return precedence & _MOST


def filter_field(name: str) -> str:
    """Return the field that holds a filter's keys."""
    return f"filter_{name}"


def order_field(order: str) -> str:
    """Return the field that holds an order's search keys."""
    return f"order_{order}"


@contextmanager
def translated() -> Iterator[None]:
    """Translate exceptions of Tantivy into our own."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise snapshot_error(f"the search index cannot be used: {error}", error) from error
