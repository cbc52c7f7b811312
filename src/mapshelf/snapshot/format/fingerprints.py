"""Store fingerprints, by which similar maps are found, as a column and as index terms.

The column gives the fingerprint of a map. The terms are in a field of the search index, which gives
the maps that have a certain outline, band or word.
"""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from mapshelf.comparison.fingerprint import BANDS, WORDS, Fingerprint

FINGERPRINT: Final = "likeness"
"""The name of the column."""

LOOKED_UP: Final = 6
"""Number of bands that are also index terms. Each one makes building slower, and these are enough:
of the pairs of maps with six equal bands, 97 in 100 share one of these."""

DTYPE: Final = np.dtype(
    [("outline", "<u8"), ("bands", "<u4", (BANDS,)), ("words", "<u4", (WORDS,))]
)


def row(found: Fingerprint) -> tuple[Any, ...]:
    """Return a fingerprint as a value of the column."""
    return found.outline, list(found.bands), list(found.words)


def terms(found: Fingerprint) -> str:
    """Return the index terms of a fingerprint, separated by spaces."""
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
    """Return the terms for bands, leaving out bands that are 0."""
    return [_band(place) % band for place, band in enumerate(bands) if band]


def word_terms(words: Iterable[int]) -> list[str]:
    """Return the terms for hashes of words, leaving out those that are 0."""
    return [_WORD % word for word in words if word]


def _band(place: int) -> str:
    return f"b{place:x}%08x"


_WORD: Final = "w%08x"
_BANDS: Final = " ".join(map(_band, range(LOOKED_UP)))
