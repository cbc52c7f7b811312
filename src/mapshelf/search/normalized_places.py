"""Normalize a text so that each of its characters can be mapped back to the text as written."""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import Final

from mapshelf.text.normalize import normalize

# Characters that combine with the one before them, though their category is not "mark": vowels and
# finals of decomposed Hangul, the voicing marks of half-width kana, and half-width Hangul.
_COMPOSING: Final = re.compile("[\u1160-\u11ff\ud7b0-\ud7fb\uff9e\uff9f\uffa0-\uffdc]")

LONGEST_CACHED: Final = 16
"""Maximum length of a character with its marks that is cached."""


def normalized_with_places(text: str) -> tuple[str, list[int], list[int]]:
    """Return a normalized text, and the start and end of each of its characters in ``text``."""
    if text.isascii():
        places = list(range(len(text) + 1))
        return normalize(text), places[:-1], places[1:]
    bounds = [place for place, sign in enumerate(text) if not place or not _composes(sign)]
    bounds.append(len(text))
    pieces = [_normalized_character(text[a:b]) for a, b in pairwise(bounds)]
    normalized = normalize(text)
    if "".join(pieces) != normalized:
        # Normalizing depends on neighbouring characters. The text is highlighted as a whole.
        bounds, pieces = [0, len(text)], [normalized]
    starts = [start for start, piece in zip(bounds, pieces, strict=False) for _ in piece]
    ends = [end for end, piece in zip(bounds[1:], pieces, strict=True) for _ in piece]
    return normalized, starts, ends


def _normalized_character(character: str) -> str:
    # A character may have thousands of marks, which would stay in memory.
    return _cached(character) if len(character) <= LONGEST_CACHED else normalize(character)


_cached = lru_cache(1 << 14)(normalize)


def _composes(character: str) -> bool:
    return unicodedata.category(character).startswith("M") or bool(_COMPOSING.match(character))
