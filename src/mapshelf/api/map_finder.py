"""Looks up single maps in the store that are not in the snapshot.

Equal look-ups share one query, and missing IDs are cached for a moment, so that requests for
invented IDs are cheap, however many there are.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Final

from mapshelf.api.http import Request
from mapshelf.api.work_queue import WorkQueue
from mapshelf.lru_cache import LRUCache
from mapshelf.model import Map, is_public_id
from mapshelf.store.contract import MapsOfPeople

MISSING_FOR: Final = 1.0
"""Seconds for which a missing ID is cached."""

MOST_MISSING: Final = 10_000
"""Most missing IDs to cache."""


class MapFinder:
    """Finds maps in the store. Use it only in the event loop of its worker."""

    def __init__(self, store: Callable[[], MapsOfPeople], queue: WorkQueue) -> None:
        """Create the finder.

        Args:
            store: returns the store, once it is open.
            queue: the queue for queries.
        """
        self._store = store
        self._queue = queue
        self._missing: LRUCache[str, float] = LRUCache(MOST_MISSING)

    def forget(self, public_id: str) -> None:
        """Forget that no map had this ID: the map has been restored."""
        self._missing.remove(public_id)

    async def find(self, public_id: str, request: Request) -> Map | None:
        """Return the map with this public ID, whatever its visibility, ``None`` if there is none.

        Args:
            public_id: the ID.
            request: the request that needs it.

        Raises:
            StoreUnavailable: the store cannot be reached.
            Overloaded: the queue is full.
            ClientDisconnected: the client disconnected.
        """
        if not is_public_id(public_id):
            return None
        missing_until = self._missing.get(public_id)
        if missing_until is not None and time.monotonic() < missing_until:
            return None
        ask = partial(self._store().find_map, public_id)
        key = ("map", public_id)
        found = await self._queue.result(key, ask, request.disconnection, request.owner)
        if found is None:
            self._missing.put(public_id, time.monotonic() + MISSING_FOR)
        return found
