"""Thread-safe least-recently-used (LRU) caches of bounded size.

``functools.lru_cache`` does the same for functions. But wrapped around a method and stored as an
attribute of its object, it would hold that object in memory until the next full garbage collection:
a snapshot, with all its open files.
"""

import threading
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


class SizedCache(Generic[K, V]):
    """Values by key, with sizes that add up to ``most`` at most. It is thread-safe.

    Use it for values that clients can make large.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return the value of ``key`` and mark it as used; ``None`` if it is missing."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Store a value of this size; evict the least recently used ones if there is no room.

        A value that is larger than the whole cache is not stored.
        """
        if size > self._most:
            return
        with self._lock:
            self._size += size - self._values.pop(key, (value, 0))[1]
            self._values[key] = value, size
            while self._size > self._most:
                _, (_, evicted) = self._values.popitem(last=False)
                self._size -= evicted

    def size(self) -> int:
        """Return the sum of the sizes of all values."""
        return self._size
