"""Compute fingerprints of maps: a few numbers each, to find similar maps among a million.

* The outline key is equal for maps with the same topics in the same tree, whatever their file
  format. A topic without text is identified by its pictures.
* Bands (MinHash with locality-sensitive hashing) are equal for maps that share most topics. Each
  band combines three minima over the topics: the more topics two maps share, the more bands they
  share.
* Words describe the likely subject of a map. Lookup decides whether they are rare enough to be
  significant.

``datasketch`` also computes such bands, but keeps its own index in the memory of one process. Here
they are terms of the search index and a column of the snapshot, updated along with the maps.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

from mapshelf.comparison.flat_outline import spaced

Array = npt.NDArray[Any]

BANDS: Final = 16
_ROWS: Final = 3

WORDS: Final = 12
"""Number of words per map for finding maps on the same subject."""

FEWEST_TOPICS: Final = 4
"""Maps with fewer distinct texts have no bands: a few topics may be shared by chance."""

NEAR: Final = 6
"""Minimum number of equal bands for near twins, which share about 70 % of their topics."""

_SHORTEST: Final = 3
_LONGEST: Final = 9
"""Word length in letters up to which longer words count as more specific."""

_ONCE: Final = 3
"""Weight of the presence of a word relative to each repetition."""

_UNSPACED: Final = "\u3040"
"""First code point of scripts without spaces, where words are pairs of characters."""

_PORTION: Final = 2048
"""Topics hashed at a time, using less than a megabyte."""

_SEEDS: Final = np.random.default_rng(20261123)
_FACTORS: Final = _SEEDS.integers(0, 2**63, BANDS * _ROWS, "u8") * 2 + np.uint64(1)
_ADDED: Final = _SEEDS.integers(0, 2**63, BANDS * _ROWS, "u8")


class Fingerprint(NamedTuple):
    """The fingerprint of a map.

    Attributes:
        outline: key of the outline, 0 if no topic has text.
        bands: ``BANDS`` numbers, all 0 with fewer than ``FEWEST_TOPICS`` distinct topics.
        words: up to ``WORDS`` word hashes, padded with 0.
    """

    outline: int = 0
    bands: Sequence[int] = (0,) * BANDS
    words: Sequence[int] = (0,) * WORDS


def fingerprints(
    maps: Sequence[Sequence[tuple[int, str]]], words: Iterable[Iterable[str]]
) -> list[Fingerprint]:
    """Return the fingerprints of some maps.

    Args:
        maps: depth and text of each topic in order, for each map.
        words: descriptive words for each map, the most important first.
    """
    rows = [[(depth, spaced(text)) for depth, text in topics] for topics in maps]
    found = _bands([{text.casefold() for _, text in topics} for topics in rows])
    return [
        Fingerprint(_key(topics), own, _hashes(about))
        for topics, own, about in zip(rows, found, words, strict=True)
    ]


def outline_key(topics: Iterable[tuple[int, str]]) -> int:
    """Return the key of an outline, given the depths and texts of its topics in order."""
    return _key([(depth, spaced(text)) for depth, text in topics])


def _key(topics: Sequence[tuple[int, str]]) -> int:
    if not any(text for _, text in topics):
        return 0  # maps without text cannot be compared
    rows = "\n".join([f"{depth} {text}" for depth, text in topics])
    return xxhash.xxh3_64_intdigest(rows.encode("utf-8", "replace"))


def bands(texts: Iterable[str]) -> Sequence[int]:
    """Return the bands of a map with topics of these texts."""
    (found,) = _bands([{spaced(text).casefold() for text in texts}])
    return found


def _bands(maps: Sequence[set[str]]) -> list[Sequence[int]]:
    """Return the bands of maps with topics of these distinct texts.

    The topics of all maps are processed together: for the few topics of one map, the overhead of
    calling NumPy would exceed the computation.
    """
    digest = xxhash.xxh3_64_intdigest
    found: list[Sequence[int]] = [(0,) * BANDS] * len(maps)
    keys: list[int] = []
    starts, places = [], []
    for place, different in enumerate(maps):
        different.discard("")
        if len(different) >= FEWEST_TOPICS:
            places.append(place)
            starts.append(len(keys))
            keys += [digest(words.encode("utf-8", "replace")) for words in different]
    if places:
        minima = _minima(np.array(keys, "u8"), np.array(starts))
        rows = minima.reshape(len(places), BANDS, _ROWS)
        mixed = rows[:, :, 0] * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= rows[:, :, 1] * np.uint64(0xC2B2AE3D27D4EB4F)
        mixed ^= rows[:, :, 2] * np.uint64(0x165667B19E3779F9)
        numbers: list[list[int]] = ((mixed >> np.uint64(32)) | np.uint64(1)).tolist()
        for place, own in zip(places, numbers, strict=True):
            found[place] = own
    return found


def _minima(keys: Array, starts: Array) -> Array:
    """Return the minimum of each hash function over the keys of each map.

    Args:
        keys: the keys of all maps, concatenated.
        starts: index of the first key of each map.
    """
    minima = np.full((len(starts), BANDS * _ROWS), np.iinfo("u8").max, "u8")
    for first in range(0, len(keys), _PORTION):
        hashes = keys[first : first + _PORTION, None] * _FACTORS
        hashes += _ADDED
        # The maps with keys in this chunk; the first may begin in the previous chunk.
        low = int(np.searchsorted(starts, first, "right")) - 1
        high = int(np.searchsorted(starts, first + len(hashes)))
        within = np.maximum(starts[low:high] - first, 0)
        part = minima[low:high]
        np.minimum(part, np.minimum.reduceat(hashes, within), out=part)
    return minima


def _hashes(words: Iterable[str]) -> list[int]:
    found = [hashed(word) for word in islice(words, WORDS)]
    return found + [0] * (WORDS - len(found))


def hashed(word: str) -> int:
    """Return a non-zero hash of a word."""
    return xxhash.xxh32_intdigest(word.encode()) or 1


def telling(counts: Iterable[tuple[str, int]]) -> list[str]:
    """Return the words that best describe a map, best first.

    Args:
        counts: words and their weighted frequencies.
    """
    weighed = [
        (-(count + _ONCE) * (_LONGEST if (size := len(word)) > _LONGEST else size), word)
        for word, count in counts
        if (len(word) >= _SHORTEST or word >= _UNSPACED) and not word.isdigit()
    ]
    if len(weighed) > WORDS:  # numbers sort faster than words
        worst = sorted([weight for weight, _ in weighed])[WORDS - 1]
        weighed = [one for one in weighed if one[0] <= worst]
    weighed.sort()
    return [word for _, word in weighed[:WORDS]]
