"""Health checks of this node for load balancers, which query them often, without a token.

A node is alive while it responds, and ready once it has a snapshot to answer from. If the database
is unreachable, the node reports that and continues to serve the snapshot.
"""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import orjson

from mapshelf.api.current_snapshot import CurrentSnapshot
from mapshelf.api.http import NO_STORE, Response, json_response
from mapshelf.api.store_connection import StoreConnection
from mapshelf.errors import Ending, StoreError
from mapshelf.settings import Settings
from mapshelf.store.contract import ChangeFeed

ASKED_EVERY: Final = 1.0
"""Seconds between queries to the store."""

PATIENCE: Final = 1.0
"""Seconds to wait for the answer to a query."""


class NodeHealth:
    """The health of a node."""

    def __init__(
        self,
        snapshot: CurrentSnapshot,
        settings: Settings,
        store: StoreConnection,
        *,
        asked_every: float = ASKED_EVERY,
        patience: float = PATIENCE,
    ) -> None:
        """Report the health of a node.

        Args:
            snapshot: the snapshot that the node answers from.
            settings: the settings of the node.
            store: the connection to the database.
            asked_every: see ``ASKED_EVERY``.
            patience: see ``PATIENCE``.
        """
        self._asked_every = asked_every
        self._patience = patience
        self._snapshot = snapshot
        self._draining = settings.draining
        self._store = store
        self._thread = ThreadPoolExecutor(1, "health")
        self._query: asyncio.Future[int | None] | None = None
        self._queried_at = -asked_every
        self._revision: int | None = None
        self._current = time.monotonic()

    def alive(self) -> Response:
        """Report that the process responds."""
        return _answer({"status": "alive"})

    async def ready(self) -> Response:
        """Report the snapshot that this node answers from, and the state of the database.

        ``age`` is the number of seconds since the snapshot was last known to be current.

        Raises:
            Ending: this node is shutting down.
            SnapshotMissing: there is no snapshot yet.
        """
        if self._draining.exists():
            raise Ending("this node is ending")
        snapshot = self._snapshot.get().snapshot
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
        """Return the revision of the store, ``None`` if it cannot be read soon."""
        store = self._store.opened()
        if store is None:
            return None
        now = time.monotonic()
        if self._query is None and now - self._queried_at > self._asked_every:
            loop = asyncio.get_running_loop()
            self._queried_at = now
            self._query = loop.run_in_executor(self._thread, _revision, store)
            self._query.add_done_callback(self._keep_revision)
        # Other requests may wait for the same query: all get its result.
        query = self._query
        if query is None:
            return self._revision
        patience = max(0.0, self._queried_at + self._patience - now)
        done, _ = await asyncio.wait([query], timeout=patience)
        return query.result() if done else None

    def _keep_revision(self, query: "asyncio.Future[int | None]") -> None:
        """Cache the result for requests within the next moment."""
        self._query, self._queried_at, self._revision = None, time.monotonic(), None
        if not query.cancelled() and query.exception() is None:
            self._revision = query.result()


def _revision(store: ChangeFeed) -> int | None:
    """Return the revision of ``store``, ``None`` if it cannot be read."""
    try:
        return store.revision()
    except StoreError:
        return None


def _answer(told: dict[str, object]) -> Response:
    return json_response(200, orjson.dumps(told), NO_STORE)
