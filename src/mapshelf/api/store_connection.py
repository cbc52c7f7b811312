"""Opens the store of a worker in the background, so that the service can start without it."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from mapshelf.errors import StoreDamaged, StoreMissing, StoreUnavailable
from mapshelf.store import Store, open_store

OPENED_AGAIN_AFTER: Final = 1.0
"""Seconds between attempts to open a store that is unreachable."""

AWAITED_AT_START: Final = 0.5
"""Seconds to wait for the store at startup before the service starts without it."""

AWAITED_BY_REQUESTS: Final = 3.0
"""Seconds that a request waits for the first attempt to open the store."""

Opened = Callable[[Store], Awaitable[None]]
"""Called once the store is open."""

log = logging.getLogger(__name__)


class StoreConnection:
    """The store at ``url``, once it has been opened."""

    def __init__(self, url: str, least_revision: Callable[[], int]) -> None:
        """Set up.

        Args:
            url: the URL of the store.
            least_revision: what is read of maps must not be older than this revision, the one of
                the snapshot.
        """
        self._url = url
        self._least_revision = least_revision
        self._store: Store | None = None
        self._tried = asyncio.Event()
        self._error = ""

    def get(self) -> Store:
        """Return the store.

        Raises:
            StoreUnavailable: it has not been opened yet.
        """
        if self._store is None:
            raise StoreUnavailable("the store has not been opened yet")
        self._store.require_revision(self._least_revision())
        return self._store

    def opened(self) -> Store | None:
        """Return the store, ``None`` if it has not been opened yet."""
        return self._store

    async def start(self, opened: Opened) -> "asyncio.Task[None]":
        """Start to open the store, and wait for a moment; return the task that opens it.

        Raises:
            InvalidSetting: the URL is not a valid store URL.
        """
        opening = asyncio.create_task(self._open(opened))
        await self.wait(AWAITED_AT_START)
        if opening.done():
            opening.result()
        else:
            opening.add_done_callback(_log_failure)
        return opening

    async def wait(self, seconds: float = AWAITED_BY_REQUESTS) -> None:
        """Wait until the store is open, or the first attempt has failed."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._tried.wait(), seconds)

    def close(self) -> None:
        """Close the store."""
        if self._store:
            self._store.close()

    async def _open(self, opened: Opened) -> None:
        """Open the store; retry until it succeeds."""
        while not await self._opens(opened):
            await asyncio.sleep(OPENED_AGAIN_AFTER)

    async def _opens(self, opened: Opened) -> bool:
        try:
            self._store = await asyncio.to_thread(open_store, self._url, create=False)
            await opened(self._store)
        except (StoreUnavailable, StoreMissing, StoreDamaged) as error:
            if str(error) != self._error:
                log.warning("the store is opened when it can be: %s", error)
            self._error = str(error)
        finally:
            self._tried.set()
        return self._store is not None


def _log_failure(opening: "asyncio.Task[None]") -> None:
    """Log why the store cannot be used, if opening it fails after startup."""
    if not opening.cancelled() and (error := opening.exception()):
        log.error("the store cannot be used until the service is started again: %s", error)
