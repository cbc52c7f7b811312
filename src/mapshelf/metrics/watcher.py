"""Caches the state of an installation for monitoring systems that poll often.

Slow parts are cached for a while, and a store that does not respond does not block: monitoring
must work above all when the service does not.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

from mapshelf.errors import MapshelfError
from mapshelf.metrics.overview import (
    DiskUse,
    Overview,
    StoreState,
    WatchedStore,
    ask,
    disk_use,
    look,
)

FRESH: Final = 1.0
"""Seconds for which an overview is cached."""

DISK_LOOKED_AT_EVERY: Final = 60.0
"""Seconds between measurements of the disk usage of the data folder."""

PATIENCE: Final = 3.0
"""Seconds to wait for the store: Prometheus waits at most ten."""


class Watcher:
    """Watches the installation in a data folder. It is thread-safe."""

    def __init__(self, data: Path, store: Callable[[], WatchedStore]) -> None:
        """Watch ``data``; ``store`` opens the store, and is called again after a failure."""
        self._data = data
        self._store = store
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, "watcher")
        self._asking: Future[StoreState | None] | None = None
        self._disk = DiskUse()
        self._disk_seen = self._seen = float("-inf")
        self._overview: Overview | None = None

    def overview(self) -> Overview:
        """Return the state of the installation."""
        with self._lock:
            if self._overview is None or time.monotonic() - self._seen > FRESH:
                self._overview = look(self._data, self._state(), self._disk_use())
                self._seen = time.monotonic()
            return self._overview

    def _disk_use(self) -> DiskUse:
        if time.monotonic() - self._disk_seen > DISK_LOOKED_AT_EVERY:
            self._disk = disk_use(self._data)
            self._disk_seen = time.monotonic()
        return self._disk

    def _state(self) -> StoreState | None:
        """Return the state of the store within ``PATIENCE``; a query may outlast it."""
        asking = self._asking or self._thread.submit(self._ask)
        try:
            state = asking.result(PATIENCE)
        except TimeoutError:
            self._asking = asking
            return None
        self._asking = None
        return state

    def _ask(self) -> StoreState | None:
        try:
            return ask(self._store())
        except MapshelfError:
            return None
