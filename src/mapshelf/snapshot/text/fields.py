"""The fields of the search index, what a word found in each counts for, and how they are kept.

All weights stand here. How they were chosen, and what follows from them, is in docs/search.md.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import tantivy

from mapshelf.query import FILTERS, ORDERS
from mapshelf.snapshot.shortage import snapshot_error

ZONES: Final = ("title", "description", "branches", "topics")
"""Where words stand as they are written, in their order. ``branches`` are the main topics, with the
names of owner and category and the path of the file; ``topics`` are all others, and all notes."""

FORMS: Final = ("title_forms", "forms")
"""Every form of the words of the title, and of all words: inflected, in pieces, written together.
A word as it is written matches here too, so it counts for more than a form of it."""

PIECES: Final = "pieces"
"""Words that stand nowhere by themselves, only as a part of others or made of several. ``forms``
has them, too, with all others: this is for searches that want no other form, and need not go
through every map twice."""

BEGINNINGS: Final = ("title_beginnings", "beginnings")
"""What the words begin with: for those of the title the longer ones too."""

LONGEST_BEGINNING: Final = 4
"""Characters of the longest beginnings kept of words outside the title. Few enough words have a
longer one for these words to be looked up instead."""

LANGUAGE: Final = "language"
"""The code of the map's language."""

LONGEST_TITLE_BEGINNING: Final = 16
"""Likewise of words of the title."""

NAME: Final = "name"
"""The whole title."""

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
"""What a match in each field counts for, times how rare the word is there."""

PRECEDENCE: Final = "precedence"
"""Which of two maps that match as well comes first, and where the map is."""

_BITS: Final = 30
_MOST: Final = (1 << _BITS) - 1

CHARACTER_WEIGHT: Final = 10.0
"""What a single character of an unspaced script counts for, next to the beginning of a word."""

PHRASE_WEIGHT: Final = 4.0
"""What counts when the title has the words searched for in a row."""


def schema() -> tantivy.Schema:
    """Return the schema of the index."""
    builder = tantivy.SchemaBuilder()
    for name in ZONES:
        builder.add_text_field(name, tokenizer_name="whitespace")
    for name in (*FORMS, PIECES, *BEGINNINGS):
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
    """Return a number that is the higher the sooner a map comes among near ties, with its slot.

    One number, because the engine opens a column anew for each look-up; of popularity, the file id
    (as high as it may go) and the slot, because the engine then keeps it as it is: a column of
    slots alone it would compress so well that opening one of a million takes 40 µs.
    """
    return (popularity << 2 * _BITS) + (min(file_id, _MOST) << _BITS) + slot


def slot_of(precedence: int) -> int:
    """Return the slot in a precedence."""
    return precedence & _MOST


def filter_field(name: str) -> str:
    """Return the field that holds a filter's keys."""
    return f"filter_{name}"


def order_field(order: str) -> str:
    """Return the field that holds an order's coarse keys."""
    return f"order_{order}"


@contextmanager
def translated() -> Iterator[None]:
    """Turn what Tantivy raises into our own errors."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise snapshot_error(f"the search index cannot be used: {error}", error) from error
