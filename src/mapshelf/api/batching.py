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
        self._asking: asyncio.Task[None] | None = None

    async def find(self, digest: bytes, version: Answer) -> Found:
        """Return the record of the token with this digest, as of ``version`` or later.

        Raises:
            StoreError: the query failed.
        """
        if version.asked > self._version.asked:
            self._version = version
        waiting = self._waiting.get(digest)
        if waiting is None:
            waiting = self._waiting[digest] = asyncio.get_running_loop().create_future()
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask_for_all())
        return await asyncio.shield(waiting)

    async def _ask_for_all(self) -> None:
        try:
            while self._waiting:
                await self._ask()
        finally:
            self._asking = None

    async def _ask(self) -> None:
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
