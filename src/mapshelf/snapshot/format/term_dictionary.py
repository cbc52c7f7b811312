"""Store all words of a catalogue, and find the words nearest to a misspelt one.

Tantivy can search its term dictionary with a Levenshtein automaton, but that takes 60 ms and more.
Here every word has a signature: the set of its letters as 64 bits. A typo changes at most two bits,
and the length by at most one letter. NumPy compares a million signatures and lengths in a few
milliseconds, and about one word in a hundred remains whose edit distance has to be computed.

Words are never removed. A word that no map has any more only takes up space, because the caller
looks up how often each word occurs. The builder starts a new dictionary when many words are unused.

Anyone who may upload can fill maps with arrangements of the same few letters, which all have one
signature. So there are limits for the words of a map, for all words, and for those compared.

Source of the distance: F. J. Damerau, "A technique for computer detection and correction of
spelling errors" (1964), in its restricted form (optimal string alignment).
"""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from struct import Struct
from typing import Final

import numpy as np
import numpy.typing as npt
import xxhash
from rapidfuzz.distance import OSA

from mapshelf.errors import SnapshotDamaged
from mapshelf.snapshot.format.append_file import AppendFile
from mapshelf.snapshot.format.columns import map_file
from mapshelf.text.normalize import is_unspaced

SHORTEST: Final = 3
"""Minimum length of stored words in letters.

It is less than that of correctable words, because a typo may have inserted a letter.
"""

LONGEST: Final = 40
"""Maximum length of stored words in bytes."""

MOST_FROM_ONE_MAP: Final = 8192
"""Maximum number of words that a map adds. Of 940 real maps, none has more than 5,000 of them."""

MOST_WORDS: Final = 1 << 22
"""Maximum number of words: 200 MB. A million maps have fewer."""

MOST_LEFT_OUT: Final = 1 << 13
"""Number of words remembered because the dictionary does not keep them, such as numbers. Then, and
with the words of one more map, they are forgotten."""

MOST_COMPARED: Final = 1 << 16
"""Maximum number of words whose edit distance to a misspelt word is computed, which takes 30 ms. If
more are similar, these are the oldest, so that nobody can displace words of earlier maps. Of words
that people use, a million have fewer."""

_ENTRY: Final = np.dtype([("signature", "<u8"), ("letters", "u1"), ("word", f"S{LONGEST}")])
_PACKED: Final = Struct(f"<QB{LONGEST}s")  # the same layout


def typos_in(word: str) -> int:
    """Return the maximum number of typos to correct in a word, which depends on its length."""
    return 0 if len(word) < 4 else 1 if len(word) < 8 else 2


class TermDictionary:
    """The words of one snapshot, for reading.

    Raises:
        SnapshotDamaged: the file is missing or cut short.
    """

    def __init__(self, path: Path, length: int) -> None:
        if length % _ENTRY.itemsize:
            raise SnapshotDamaged(f"{path.name} ends with an incomplete word")
        self._entries = np.frombuffer(map_file(path, length), _ENTRY)

    def __len__(self) -> int:
        return len(self._entries)

    @cached_property
    def _signatures(self) -> npt.NDArray[np.uint64]:
        # Comparing a contiguous array is several times as fast.
        return np.ascontiguousarray(self._entries["signature"])

    @cached_property
    def _letters(self) -> npt.NDArray[np.uint8]:
        return np.ascontiguousarray(self._entries["letters"])

    def nearest(self, word: str) -> list[tuple[int, str]]:
        """Return the words that a misspelt ``word`` may stand for, each with its edit distance."""
        allowed = typos_in(word)
        if not allowed or is_unspaced(word) or not word.isalpha():
            return []
        differing = np.bitwise_count(self._signatures ^ np.uint64(_signature(word)))
        similar = differing <= 2 * allowed
        similar &= self._letters >= max(0, len(word) - allowed)
        similar &= self._letters <= min(255, len(word) + allowed)
        places = np.flatnonzero(similar)[:MOST_COMPARED]
        found = []
        for entry in self._entries["word"][places].tolist():
            # Invalid UTF-8 can only come from damage; no map contains the replacement character.
            other = entry.decode(errors="replace")
            distance = OSA.distance(word, other, score_cutoff=allowed)
            if 0 < distance <= allowed:
                found.append((distance, other))
        return found


class TermDictionaryWriter:
    """Adds words to the dictionary while snapshots are being built."""

    def __init__(self, path: Path, length: int = 0) -> None:
        self._file = AppendFile(path, length)
        data = self._file.read(0, length)
        self._known = {word.decode() for word in np.frombuffer(data, _ENTRY)["word"].tolist()}
        self._left_out: set[str] = set()

    def __len__(self) -> int:
        return len(self._known)

    def add(self, words: Iterable[str]) -> int:
        """Add the words (folded) of a map that are not in the dictionary yet, within the limits.

        Return how many were added.
        """
        unknown = set(words).difference(self._known, self._left_out)
        fresh = sorted([word for word in unknown if _is_kept(word)])
        self._leave_out(unknown.difference(fresh))
        room = min(MOST_FROM_ONE_MAP, MOST_WORDS - len(self._known))
        if len(fresh) > room:
            # In alphabetical order, only words with the first few initials would be kept.
            fresh = sorted(sorted(fresh, key=_scattered)[:room])
        if fresh:
            self._known.update(fresh)
            entries = [_PACKED.pack(_signature(word), len(word), word.encode()) for word in fresh]
            self._file.append(b"".join(entries))
        return len(fresh)

    def _leave_out(self, words: set[str]) -> None:
        """Remember words that are not kept, because to find that out again takes longer."""
        if len(self._left_out) > MOST_LEFT_OUT:
            self._left_out.clear()
        self._left_out.update(words)

    def link_to(self, path: Path) -> tuple[int, str]:
        """Hard-link the file into a snapshot; return its length and checksum there."""
        return self._file.link_to(path)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _is_kept(word: str) -> bool:
    if not (SHORTEST <= len(word) <= LONGEST and word.isalpha()):
        return False
    return len(word.encode()) <= LONGEST and not is_unspaced(word)


def _scattered(word: str) -> int:
    return xxhash.xxh3_64_intdigest(word.encode())


def _bit(letter: int) -> int:
    # Multiplying by a large odd number spreads the letters of any script over the 64 bits.
    return 1 << ((letter * 0x9E3779B1 >> 13) & 63)


_BITS: Final = tuple(map(_bit, range(128)))


def _signature(word: str) -> int:
    signature = 0
    if word.isascii():
        for letter in word.encode():
            signature |= _BITS[letter]
    else:
        for letter in map(ord, word):
            signature |= _bit(letter)
    return signature
