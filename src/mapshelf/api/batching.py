"""Batched token look-ups: all waiting tokens are looked up in one query.

Tokens that arrive during a query wait, and are looked up together in the next one. So with a slow
store, or a flood of unknown tokens, a look-up takes at most as long as two queries.
"""

import asyncio
from concurrent.futures import Executor
from time import monotonic

from mapshelf.api.shared_answer import Answer
from mapshelf.metrics.counts import TaskCounts
from mapshelf.model import Credential
from mapshelf.store.contract import Credentials

Found = tuple[Credential | None, Answer]
"""The store's record of a token, and the tokens version from which on it is valid."""


class CredentialBatches:
    """Looks up tokens by digest, one batch after the other.

    Attributes:
        counts: the queries to the store so far.
    """

    def __init__(self, store: Credentials, threads: Executor) -> None:
        """Query ``store`` in one of ``threads``."""
        self.counts = TaskCounts()
        self._store = store
        self._threads = threads
        self._waiting: dict[bytes, asyncio.Future[Found]] = {}
        self._version = Answer("", float("-inf"))
        self._running: asyncio.Task[None] | None = None

    async def find(self, digest: bytes, version: Answer) -> Found:
        """Return the record of the token with this digest, as of ``version`` or later.

        Raises:
            StoreError: the query failed.
        """
        if version.queried_at > self._version.queried_at:
            self._version = version
        waiting = self._waiting.get(digest)
        if waiting is None:
            waiting = self._waiting[digest] = asyncio.get_running_loop().create_future()
        if self._running is None:
            self._running = asyncio.create_task(self._query_all())
        return await asyncio.shield(waiting)

    async def _query_all(self) -> None:
        """Query batch after batch until no token is waiting."""
        try:
            while self._waiting:
                await self._query_batch()
        finally:
            self._running = None

    async def _query_batch(self) -> None:
        batch, self._waiting = self._waiting, {}
        version = self._version
        loop = asyncio.get_running_loop()
        began = monotonic()
        try:
            found = await loop.run_in_executor(
                self._threads, self._store.find_credentials, list(batch), version.value
            )
        except Exception as error:
            # All waiting requests get the error, whatever it is; otherwise they would wait forever.
            for waiting in batch.values():
                waiting.set_exception(error)
            return
        finally:
            self.counts.done += 1
            self.counts.worked += monotonic() - began
        for digest, waiting in batch.items():
            waiting.set_result((found.get(digest), version))
