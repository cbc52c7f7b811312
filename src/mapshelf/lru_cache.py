"""What was used most recently, in bounded memory: what was not used for longest goes first.

``functools.lru_cache`` does the same for functions. As an attribute of an object whose method it
wraps, it would keep that object in memory until the next full garbage collection: a snapshot, with
all files that it has open.
"""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LRUCache(Generic[K, V]):
    """Up to ``most`` values by key. Several threads may use it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """Return the value of ``key``, which is the latest used now; ``None`` if there is none."""
        try:
            self._values.move_to_end(key)
        except KeyError:
            return None
        return self._values.get(key)  # another thread may have needed the room meanwhile

    def values(self) -> list[V]:
        """Return all values, the one that was not used for longest first."""
        return list(self._values.values())

    def put(self, key: K, value: V) -> None:
        """Keep a value; if there are too many, forget the one that was not used for longest."""
        self._values.pop(key, None)
        self._values[key] = value
        if len(self._values) > self._most:
            self._values.popitem(last=False)
