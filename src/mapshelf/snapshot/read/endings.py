"""Find the words of the search index that start with a prefix.

Tantivy goes through all words with a prefix, in each segment of the index. Anybody can search, and
one map has a hundred thousand words. So what was found is cached for the whole snapshot, and
clients cannot make up endless prefixes: words with a long prefix are picked from those with a
shorter one.
"""

from collections.abc import Callable, Sequence
from sys import getsizeof
from typing import Final

from mapshelf.lru_cache import LRUCache, SizedCache

MOST_ENDINGS: Final = 4096
"""Maximum number of words looked up for a prefix, the most frequent ones; there are seldom half as
many."""

LOOKED_UP: Final = (5, 8)
"""Lengths to which longer prefixes are cut to look them up: to the second if too many words have
the first."""

ENDINGS_IN_MEMORY: Final = 8 << 20
"""Maximum number of bytes of cached words. A prefix of five letters has tens of words."""

CUT_OFF_IN_MEMORY: Final = 1 << 14
"""Number of prefixes cached of which only is known that too many words have them. They are apart
from the others, because it takes the longest to find out."""

_ENTRY: Final = 512
"""Approximate number of bytes that a cached prefix takes besides its words."""

_POINTER: Final = 8

Key = tuple[str, str]
"""A field and a prefix."""


class EndingFinder:
    """Finds the words of one snapshot that start with a prefix. Thread-safe."""

    def __init__(self, look_up: Callable[[str, str], Sequence[tuple[str, int]]]) -> None:
        """Begin with an empty cache.

        Args:
            look_up: returns up to ``MOST_ENDINGS`` words of a field with a prefix, and how many
                maps have them, the most frequent words first.
        """
        self._look_up = look_up
        self._known: SizedCache[Key, list[str]] = SizedCache(ENDINGS_IN_MEMORY)
        self._cut_off: LRUCache[Key, bool] = LRUCache(CUT_OFF_IN_MEMORY)

    def all(self, field: str, prefix: str) -> list[str] | None:
        """Return all words of a field that start with ``prefix``; ``None`` if they are too many.

        For a prefix that is longer than the second of ``LOOKED_UP``, ``None`` if too many words
        have so much of it.
        """
        for beginning in _looked_up(prefix):
            found = self._few(field, beginning)
            if found is not None:
                return _picked(found, prefix, beginning)
        return None

    def most_frequent(self, field: str, prefix: str) -> list[str]:
        """Return up to ``MOST_ENDINGS`` words of a field that start with ``prefix``."""
        for beginning in _looked_up(prefix):
            found = self._found(field, beginning)
            if len(found) < MOST_ENDINGS:
                break
        return _picked(found, prefix, beginning)

    def _few(self, field: str, prefix: str) -> list[str] | None:
        key = field, prefix
        if self._cut_off.get(key):
            return None
        found = self._known.get(key)
        if found is None:
            found = [word for word, _ in self._look_up(field, prefix)]
            if len(found) < MOST_ENDINGS:
                self._keep(key, found)
        if len(found) < MOST_ENDINGS:
            return found
        self._cut_off.put(key, value=True)
        return None

    def _found(self, field: str, prefix: str) -> list[str]:
        found = self._known.get((field, prefix))
        if found is None:
            found = [word for word, _ in self._look_up(field, prefix)]
            self._keep((field, prefix), found)
        return found

    def _keep(self, key: Key, words: list[str]) -> None:
        size = _ENTRY + sum(map(getsizeof, words)) + _POINTER * len(words)
        self._known.put(key, words, size)


def _looked_up(prefix: str) -> list[str]:
    """Return the beginnings of a prefix to look up, one after the other."""
    return list(dict.fromkeys([prefix[:length] for length in LOOKED_UP]))


def _picked(words: list[str], prefix: str, beginning: str) -> list[str]:
    """Return those of ``words``, which have ``beginning``, that start with ``prefix``."""
    if prefix == beginning:
        return words
    return [word for word in words if word.startswith(prefix)]
