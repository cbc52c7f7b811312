"""What a snapshot keeps of each map to find those that are like it: a column, and terms.

The column says what a map has; the terms, in a field of the search index, say which maps have it.
"""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from mapshelf.comparison.fingerprint import BANDS, WORDS, Fingerprint

FINGERPRINT: Final = "likeness"
"""The column."""

LOOKED_UP: Final = 6
"""Bands that are terms, too: each makes building slower, and of
maps with six equal bands, 97 of 100 share one of these."""

DTYPE: Final = np.dtype(
    [("outline", "<u8"), ("bands", "<u4", (BANDS,)), ("words", "<u4", (WORDS,))]
)


def row(found: Fingerprint) -> tuple[Any, ...]:
    """Return the value of the column."""
    return found.outline, list(found.bands), list(found.words)


def terms(found: Fingerprint) -> str:
    """Return the text of the field."""
    words = [word for word in found.words if word]
    return " ".join(
        (
            *((outline_term(found.outline),) if found.outline else ()),
            *((_BANDS % tuple(found.bands[:LOOKED_UP]),) if found.bands[0] else ()),
            *((" ".join([_WORD] * len(words)) % tuple(words),) if words else ()),
        )
    )


def outline_term(key: int) -> str:
    """Return the term for the key of an outline."""
    return f"o{key:016x}"


def band_terms(bands: Iterable[int]) -> list[str]:
    """Return the terms for bands; there are none for bands that are 0."""
    return [_band(place) % band for place, band in enumerate(bands) if band]


def word_terms(words: Iterable[int]) -> list[str]:
    """Return the terms for hashes of words."""
    return [_WORD % word for word in words if word]


def _band(place: int) -> str:
    return f"b{place:x}%08x"


_WORD: Final = "w%08x"
_BANDS: Final = " ".join(map(_band, range(LOOKED_UP)))
