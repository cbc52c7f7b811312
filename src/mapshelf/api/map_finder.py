"""Looks up single maps in the store, for those that the snapshot does not have.

Equal questions are asked once. That there is no map with an ID is remembered for a moment. So
invented IDs cost little, however many there are of them.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Final

from mapshelf.api.work_queue import Disconnection, WorkQueue
from mapshelf.model import Map, is_public_id
from mapshelf.store.contract import MapsOfPeople

MISSING_FOR: Final = 1.0
"""Seconds for which it is remembered that there is no map with an ID."""

MOST_MISSING: Final = 10_000
"""IDs that are remembered so; when there are more, all are forgotten."""


class MapFinder:
    """Finds maps in the store. For use in the event loop of its worker only."""

    def __init__(self, store: Callable[[], MapsOfPeople], queue: WorkQueue) -> None:
        """Prepare.

        Args:
            store: returns the store, once it is open.
            queue: where the store is asked.
        """
        self._store = store
        self._queue = queue
        self._missing: dict[str, float] = {}

    def forget(self, public_id: str) -> None:
        """Forget that there was no map with this ID: it has been brought back."""
        self._missing.pop(public_id, None)

    async def find(self, public_id: str, disconnection: Disconnection) -> Map | None:
        """Return the map with this public ID, whoever sees it, ``None`` if there is none.

        Raises:
            StoreUnavailable: the store cannot be reached.
            Overloaded: the queue is full.
            ClientDisconnected: the client hung up before.
        """
        if not is_public_id(public_id):
            return None
        missing_until = self._missing.get(public_id)
        if missing_until is not None:
            if time.monotonic() < missing_until:
                return None
            del self._missing[public_id]
        ask = partial(self._store().find_map, public_id)
        found = await self._queue.result(public_id, ask, disconnection)
        if found is None:
            if len(self._missing) >= MOST_MISSING:
                self._missing.clear()
            self._missing[public_id] = time.monotonic() + MISSING_FOR
        return found
