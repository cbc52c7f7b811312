"""How this node is, for whoever shares out requests among several: asked often, and by anybody.

A node is alive while it answers at all, and ready once it has a snapshot to answer from. That the
database is away makes it neither dead nor useless: it says so, and goes on with what it has.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import orjson

from mapshelf.api.catalogue import Catalogue
from mapshelf.api.http import Response, json_response
from mapshelf.errors import Ending, StoreError
from mapshelf.settings import Settings
from mapshelf.store import Store

ASKED_EVERY: Final = 1.0
"""Seconds between questions to the store, and for which an answer is waited for."""

_UNCACHED: Final = ((b"cache-control", b"no-store"),)


class Health:
    """What a node tells of itself; ``store`` gives the store once it is open."""

    def __init__(
        self, catalogue: Catalogue, settings: Settings, store: Callable[[], Store | None]
    ) -> None:
        self._catalogue = catalogue
        self._draining = settings.draining
        self._store = store
        self._thread = ThreadPoolExecutor(1, "health")
        self._asking: asyncio.Future[int] | None = None
        self._asked = -ASKED_EVERY
        self._revision: int | None = None
        self._current = time.monotonic()

    def alive(self) -> Response:
        """Say that the process answers."""
        return _answer({"status": "alive"})

    async def ready(self) -> Response:
        """Tell from which snapshot this node answers, and how it stands with the database.

        ``age`` are the seconds since the snapshot was last known to show everything.

        Raises:
            Ending: this node is about to end.
            SnapshotMissing: there is no snapshot yet.
        """
        if self._draining.exists():
            raise Ending("this node is ending")
        snapshot = self._catalogue.edition().snapshot
        revision = await self._revision_of_store()
        now = time.monotonic()
        if revision is not None and snapshot.revision >= revision:
            self._current = now
        return _answer(
            {
                "status": "ready",
                "snapshot": {
                    "revision": snapshot.revision,
                    "age": round(now - self._current, 1),
                },
                "database": {"reachable": revision is not None, "revision": revision},
            }
        )

    async def _revision_of_store(self) -> int | None:
        """Return the revision of the store, ``None`` if it cannot be had soon."""
        store = self._store()
        if store is None:
            return None
        if self._asking is None and time.monotonic() - self._asked > ASKED_EVERY:
            loop = asyncio.get_running_loop()
            self._asking = loop.run_in_executor(self._thread, store.revision)
        if self._asking is not None:
            done, _ = await asyncio.wait([self._asking], timeout=ASKED_EVERY)
            self._revision = self._told(self._asking) if done else None
        return self._revision

    def _told(self, asking: "asyncio.Future[int]") -> int | None:
        self._asking, self._asked = None, time.monotonic()
        try:
            return asking.result()
        except StoreError:
            return None


def _answer(told: dict[str, object]) -> Response:
    return json_response(200, orjson.dumps(told), _UNCACHED)
