"""A few numbers by which maps with the same topics are found among a million others.

* The key of an outline is equal for maps with the same topics in the same tree, whatever the
  format of their files.
* Bands are equal for maps that share most topics (MinHash with locality-sensitive hashing): each is
  made of three minima over the topics, and the more topics two maps share, the more bands they do.
* Words are those that are likely to tell what a map is about. Which of them are rare enough to mean
  something is decided when they are looked up.

``datasketch`` makes such bands, too, but keeps an index of its own in the memory of one process.
Here they are terms of the search index and a column of the snapshot: they come and go with maps.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
import xxhash

from mapshelf.comparison.flat_outline import spaced

BANDS: Final = 16
_ROWS: Final = 3

WORDS: Final = 12
"""Words of a map by which others about the same are found."""

FEWEST_TOPICS: Final = 4
"""Different texts below which a map has no bands: three topics are shared by chance."""

NEAR: Final = 6
"""Bands from which two maps are near twins: about seven in ten of their topics are the same."""

_SHORTEST: Final = 3
_LONGEST: Final = 9
"""Letters of words: longer ones tell more, up to a length."""

_ONCE: Final = 3
"""How many times more a word counts that is said at all, so that repeating it is not everything."""

_UNSPACED: Final = "\u3040"
"""From this letter on, words are pairs of characters of a script without spaces."""

_PORTION: Final = 8192
"""Topics hashed at a time, which takes three megabytes."""

_SEEDS: Final = np.random.default_rng(20261123)
_FACTORS: Final = _SEEDS.integers(0, 2**63, BANDS * _ROWS, "u8") * 2 + np.uint64(1)
_ADDED: Final = _SEEDS.integers(0, 2**63, BANDS * _ROWS, "u8")


class Likeness(NamedTuple):
    """What is compared of a map.

    Attributes:
        outline: the key of its outline, 0 without topics.
        bands: ``BANDS`` numbers, all 0 with fewer than ``FEWEST_TOPICS`` different topics.
        words: up to ``WORDS`` hashes of words, filled up with 0.
    """

    outline: int = 0
    bands: Sequence[int] = (0,) * BANDS
    words: Sequence[int] = (0,) * WORDS


def likeness(topics: Sequence[tuple[int, str]], words: Iterable[str]) -> Likeness:
    """Return what is compared of a map.

    Args:
        topics: the depth and the text of each topic, in order.
        words: what it is about, the most important first.
    """
    hashes = [hashed(word) for word in islice(words, WORDS)]
    rows = [(depth, spaced(text)) for depth, text in topics]
    return Likeness(
        _key(rows),
        _bands({text.casefold() for _, text in rows}),
        hashes + [0] * (WORDS - len(hashes)),
    )


def outline_key(topics: Iterable[tuple[int, str]]) -> int:
    """Return the key of an outline: of the depths and texts of its topics, in order."""
    return _key((depth, spaced(text)) for depth, text in topics)


def _key(topics: Iterable[tuple[int, str]]) -> int:
    rows = "\n".join([f"{depth} {text}" for depth, text in topics])
    return xxhash.xxh3_64_intdigest(rows.encode("utf-8", "replace")) if rows else 0


def bands(texts: Iterable[str]) -> Sequence[int]:
    """Return the bands of a map with topics of these texts."""
    return _bands({spaced(text).casefold() for text in texts})


def _bands(different: set[str]) -> Sequence[int]:
    different.discard("")
    if len(different) < FEWEST_TOPICS:
        return (0,) * BANDS
    digest = xxhash.xxh3_64_intdigest
    keys = np.fromiter(
        (digest(words.encode("utf-8", "replace")) for words in different), "u8", len(different)
    )
    minima = np.full(BANDS * _ROWS, np.iinfo("u8").max, "u8")
    for start in range(0, len(keys), _PORTION):
        portion = keys[start : start + _PORTION, None]
        np.minimum(minima, (portion * _FACTORS + _ADDED).min(axis=0), out=minima)
    rows = minima.reshape(BANDS, _ROWS)
    mixed = rows[:, 0] * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= rows[:, 1] * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= rows[:, 2] * np.uint64(0x165667B19E3779F9)
    found: list[int] = ((mixed >> np.uint64(32)) | np.uint64(1)).tolist()
    return found


def hashed(word: str) -> int:
    """Return the number that stands for a word; it is never 0."""
    return xxhash.xxh32_intdigest(word.encode()) or 1


def telling(counts: Iterable[tuple[str, int]]) -> list[str]:
    """Return the words that are likely to tell what a map is about, the best first.

    Args:
        counts: words, and how much each is said.
    """
    weighed = [
        (-(count + _ONCE) * (_LONGEST if (size := len(word)) > _LONGEST else size), word)
        for word, count in counts
        if len(word) >= _SHORTEST or word >= _UNSPACED
    ]
    weighed.sort()
    return list(islice((word for _, word in weighed if not word.isdigit()), WORDS))
