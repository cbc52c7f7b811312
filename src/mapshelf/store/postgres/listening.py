"""Listen for new changes with PostgreSQL's LISTEN and NOTIFY.

A notification only triggers a read of the feed. Notifications are lost with their connection, and a
standby sends none, so the feed is also polled at intervals, and whenever listening restarts.
"""

import logging
import threading
import time
from typing import Final

import psycopg

from mapshelf.errors import StoreError
from mapshelf.store.postgres.counters import CHANNEL, begin_takeover
from mapshelf.store.postgres.link import Link, connect

SILENCE: Final = 4.0
"""Seconds without a notification after which the feed is polled."""

RENEWED_EVERY: Final = 60.0
"""Seconds after which a connection is replaced, because it may have died silently."""

PAUSE: Final = 1.0
"""Seconds between polls of the feed, and between connection attempts, while disconnected."""

log = logging.getLogger(__name__)


class Listener:
    """Listens for revisions that the primary announces.

    Attributes:
        announced: the last revision announced, 0 before the first.
        heard: the time of that announcement (``time.monotonic``).
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._link: Link | None = None
        self._since = 0.0
        self._looked = 0.0
        self.announced = 0
        self.heard = 0.0

    def wait(self, after: int, seconds: float) -> bool:
        """See ``Store.wait``."""
        with self._lock:
            # First, because what was announced before may be lost if another server took over.
            if self._link is None or time.monotonic() - self._since > RENEWED_EVERY:
                return self._begin(seconds)
            if self.announced > after:
                return True
            try:
                self._hear(self._link, seconds)
            except psycopg.Error as error:
                log.warning("lost the connection that listens for changes: %s", error)
                self._end()
                return True
            silent = time.monotonic() - self._looked > SILENCE
            return self._looking() if self.announced > after or silent else False

    def close(self) -> None:
        """Stop listening."""
        self._closed.set()
        with self._lock:
            self._end()

    def _begin(self, seconds: float) -> bool:
        self._end()
        try:
            if self._closed.is_set():
                raise StoreError("the store is closed")
            self._link = connect(self._url, "read-write")
            self._link.execute(f"LISTEN {CHANNEL}")
            begin_takeover(self._link)
            # A standby may never show what was announced before, if it follows a former primary.
            ((self.announced,),) = self._link.required_rows("SELECT revision FROM sequence")
            self.heard = time.monotonic()
        except (StoreError, psycopg.Error) as error:
            log.info("cannot listen for changes in the database: %s", error)
            self._end()
            self._closed.wait(min(seconds, PAUSE))
        self._since = time.monotonic()
        return self._looking()

    def _hear(self, link: Link, seconds: float) -> None:
        for word in link.notifies(timeout=seconds, stop_after=1):
            if word.payload.isdecimal():
                self.announced, self.heard = int(word.payload), time.monotonic()

    def _looking(self) -> bool:
        self._looked = time.monotonic()
        return True

    def _end(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None
