"""How a node hears that the feed has something new: PostgreSQL's LISTEN and NOTIFY.

What is heard is only ever a reason to look: notifications get lost with their connection, and
none come from a standby. So the feed is looked at now and then even in silence, and whenever
listening began anew.
"""

import logging
import threading
import time
from typing import Final

import psycopg

from mapshelf.errors import StoreError
from mapshelf.store.postgres.connections import Link, connect
from mapshelf.store.postgres.rows import CHANNEL

SILENCE: Final = 4.0
"""Seconds without a word after which the feed is looked at all the same."""

RENEWED_EVERY: Final = 60.0
"""Seconds after which a connection is replaced, lest a dead one be listened to for good."""

PAUSE: Final = 1.0
"""Seconds between looks, and tries to listen again, while nobody can be listened to."""

log = logging.getLogger(__name__)


class Listener:
    """Listens to the primary for revisions."""

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
            if self.announced > after:
                return True
            if self._link is None or time.monotonic() - self._since > RENEWED_EVERY:
                return self._begin(seconds)
            try:
                self._hear(self._link, seconds)
            except psycopg.Error as error:
                log.warning("listening to the database ended: %s", error)
                self._end()
                return True
            silent = time.monotonic() - self._looked > SILENCE
            return self._looking() if self.announced > after or silent else False

    def close(self) -> None:
        """End listening."""
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
        except (StoreError, psycopg.Error) as error:
            log.info("the database cannot be listened to: %s", error)
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
