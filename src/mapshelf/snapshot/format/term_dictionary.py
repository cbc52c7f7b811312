"""The words of a catalogue, to find those that a misspelt one was meant for.

A search engine can follow an automaton through its dictionary, which takes it 60 ms and more. Here
every word has a signature, the set of its letters as 64 bits: a typo changes at most two of them,
so comparing signatures, which NumPy does for a million words in a few milliseconds, leaves a
few hundred words whose distance is worth computing.

Words are only ever added: one that no map holds any more costs nothing but its place, since whoever
asks looks up how often a word occurs.

Source of the distance: F. J. Damerau, "A technique for computer detection and correction of
spelling errors" (1964), in its restricted form (optimal string alignment).
"""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import OSA

from mapshelf.errors import SnapshotDamaged
from mapshelf.snapshot.format.append_file import GrowingFile
from mapshelf.snapshot.format.columns import map_file
from mapshelf.text.normalize import is_unspaced

SHORTEST: Final = 3
"""Letters of the shortest words that are known: a typo may have made one longer."""

LONGEST: Final = 40
"""Bytes of the longest words that are known."""

_ENTRY: Final = np.dtype([("signature", "<u8"), ("word", f"S{LONGEST}")])


def typos_in(word: str) -> int:
    """Return how many typos a word may have and still be known again."""
    return 0 if len(word) < 4 else 1 if len(word) < 8 else 2


class Lexicon:
    """The words of one snapshot, for reading.

    Raises:
        SnapshotDamaged: the file is missing or cut short.
    """

    def __init__(self, path: Path, length: int) -> None:
        if length % _ENTRY.itemsize:
            raise SnapshotDamaged(f"{path.name} does not hold whole words")
        self._entries = np.frombuffer(map_file(path, length), _ENTRY)

    def __len__(self) -> int:
        return len(self._entries)

    @cached_property
    def _signatures(self) -> npt.NDArray[np.uint64]:
        # Side by side they are gone through several times as fast.
        return np.ascontiguousarray(self._entries["signature"])

    def nearest(self, word: str) -> list[tuple[int, str]]:
        """Return the words that ``word`` may have been meant for, each with its distance."""
        allowed = typos_in(word)
        if not allowed or is_unspaced(word) or not word.isalpha():
            return []
        differing = np.bitwise_count(self._signatures ^ np.uint64(_signature(word)))
        found = []
        for entry in self._entries["word"][differing <= 2 * allowed].tolist():
            # Damage may only cost a correction: what is no text is no word that any map holds.
            other = entry.decode(errors="replace")
            distance = OSA.distance(word, other, score_cutoff=allowed)
            if 0 < distance <= allowed:
                found.append((distance, other))
        return found


class LexiconWriter:
    """The words while snapshots are being built."""

    def __init__(self, path: Path, length: int = 0) -> None:
        self._file = GrowingFile(path, length)
        data = self._file.read(0, length)
        self._known = {word.decode() for word in np.frombuffer(data, _ENTRY)["word"].tolist()}

    def add(self, words: Iterable[str]) -> None:
        """Take in words, folded, that are not known yet."""
        for word in sorted(set(words) - self._known):
            if _is_worth_knowing(word):
                self._known.add(word)
                entry = np.array((_signature(word), word.encode()), _ENTRY)
                self._file.append(entry.tobytes())

    def link_to(self, path: Path) -> tuple[int, str]:
        """Give the file its name in a snapshot; return its length there and its checksum."""
        return self._file.link_to(path)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def _is_worth_knowing(word: str) -> bool:
    if not (SHORTEST <= len(word) <= LONGEST and word.isalpha()):
        return False
    return len(word.encode()) <= LONGEST and not is_unspaced(word)


def _signature(word: str) -> int:
    signature = 0
    for letter in word:
        # Multiplying by a large odd number spreads the letters of any script over the bits.
        signature |= 1 << ((ord(letter) * 0x9E3779B1 >> 13) & 63)
    return signature
