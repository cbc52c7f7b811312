"""A thread-safe least-recently-used (LRU) cache of bounded size.

``functools.lru_cache`` does the same for functions. But wrapped around a method and stored as an
attribute of its object, it would hold that object in memory until the next full garbage collection:
a snapshot, with all its open files.
"""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LRUCache(Generic[K, V]):
    """Up to ``most`` values by key. It is thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """Return the value of ``key`` and mark it as used; ``None`` if it is missing."""
        try:
            self._values.move_to_end(key)
        except KeyError:
            return None
        return self._values.get(key)  # another thread may have evicted it

    def values(self) -> list[V]:
        """Return all values, least recently used first."""
        return list(self._values.values())

    def put(self, key: K, value: V) -> None:
        """Store a value; evict the least recently used one if the cache is full."""
        self._values.pop(key, None)
        self._values[key] = value
        if len(self._values) > self._most:
            self._values.popitem(last=False)

    def remove(self, key: K) -> None:
        """Forget the value of ``key``, if there is one."""
        self._values.pop(key, None)
