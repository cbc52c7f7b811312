"""A few numbers by which maps with the same topics are found among a million others.

* The key of an outline is equal for maps with the same topics in the same tree, whatever the
  format of their files. A topic without text is what its pictures are.
* Bands are equal for maps that share most topics (MinHash with locality-sensitive hashing): each is
  made of three minima over the topics, and the more topics two maps share, the more bands they do.
* Words are those that are likely to tell what a map is about. Which of them are rare enough to mean
  something is decided when they are looked up.

``datasketch`` makes such bands, too, but keeps an index of its own in the memory of one process.
Here they are terms of the search index and a column of the snapshot: they come and go with maps.
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

_PORTION: Final = 2048
"""Topics hashed at a time, which takes less than a megabyte."""

_SEEDS: Final = np.random.default_rng(20261123)
_FACTORS: Final = _SEEDS.integers(0, 2**63, BANDS * _ROWS, "u8") * 2 + np.uint64(1)
_ADDED: Final = _SEEDS.integers(0, 2**63, BANDS * _ROWS, "u8")


class Fingerprint(NamedTuple):
    """What is compared of a map.

    Attributes:
        outline: the key of its outline, 0 without text in topics.
        bands: ``BANDS`` numbers, all 0 with fewer than ``FEWEST_TOPICS`` different topics.
        words: up to ``WORDS`` hashes of words, filled up with 0.
    """

    outline: int = 0
    bands: Sequence[int] = (0,) * BANDS
    words: Sequence[int] = (0,) * WORDS


def fingerprints(
    maps: Sequence[Sequence[tuple[int, str]]], words: Iterable[Iterable[str]]
) -> list[Fingerprint]:
    """Return what is compared of each of some maps.

    Args:
        maps: for each map the depth and the text of each topic, in order.
        words: for each map what it is about, the most important first.
    """
    rows = [[(depth, spaced(text)) for depth, text in topics] for topics in maps]
    found = _bands([{text.casefold() for _, text in topics} for topics in rows])
    return [
        Fingerprint(_key(topics), own, _hashes(about))
        for topics, own, about in zip(rows, found, words, strict=True)
    ]


def outline_key(topics: Iterable[tuple[int, str]]) -> int:
    """Return the key of an outline: of the depths and texts of its topics, in order."""
    return _key((depth, spaced(text)) for depth, text in topics)


def _key(topics: Iterable[tuple[int, str]]) -> int:
    said = False
    rows = []
    for depth, text in topics:
        said = said or text != ""
        rows.append(f"{depth} {text}")
    # Nothing is known of maps that say nothing.
    return xxhash.xxh3_64_intdigest("\n".join(rows).encode("utf-8", "replace")) if said else 0


def bands(texts: Iterable[str]) -> Sequence[int]:
    """Return the bands of a map with topics of these texts."""
    (found,) = _bands([{spaced(text).casefold() for text in texts}])
    return found


def _bands(maps: Sequence[set[str]]) -> list[Sequence[int]]:
    """Return the bands of maps with topics of these different texts.

    The topics of all are computed with at once: for the few of one map, calling NumPy would take
    longer than computing.
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
    """Return the least value of each hash function over the keys of each map.

    Args:
        keys: the keys of all maps, one map after the other.
        starts: where those of each map start.
    """
    minima = np.full((len(starts), BANDS * _ROWS), np.iinfo("u8").max, "u8")
    for first in range(0, len(keys), _PORTION):
        hashes = keys[first : first + _PORTION, None] * _FACTORS
        hashes += _ADDED
        # The maps with keys in this portion; the first may have begun in the one before.
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
        if (len(word) >= _SHORTEST or word >= _UNSPACED) and not word.isdigit()
    ]
    if len(weighed) > WORDS:  # numbers sort faster than words: only the best are sorted as these
        worst = sorted([weight for weight, _ in weighed])[WORDS - 1]
        weighed = [one for one in weighed if one[0] <= worst]
    weighed.sort()
    return [word for _, word in weighed[:WORDS]]
