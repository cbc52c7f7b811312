"""Finding out whether the service answers yet, by a request of our own.

Workers answer late on a busy machine. So one request waits for its answer, however long that takes.
If each were given up after a moment for the next, the workers would later answer them all, and
count them as clients that disconnected.
"""

import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from multiprocessing.connection import wait
from typing import Final

WAIT: Final = 0.5
"""Seconds to wait for the answer before the supervisor checks its children again."""

PATIENCE: Final = 60.0
"""Seconds before a request is given up for another: its worker may hang."""


class Probe:
    """Requests ``/healthz`` at an address, with or without a snapshot to answer from."""

    def __init__(self, address: tuple[str, int]) -> None:
        """Probe the service at ``address``; nothing is sent yet."""
        self._address = address
        self._connection: HTTPConnection | None = None
        self._sent = 0.0

    def is_answered(self) -> bool:
        """Return whether a worker has answered; wait for that for a moment."""
        try:
            return self._ask()
        except (OSError, HTTPException):
            self.close()
            return False

    def close(self) -> None:
        """Give up the request that waits, if there is one."""
        if self._connection is not None:
            with suppress(OSError):
                self._connection.close()
            self._connection = None

    def _ask(self) -> bool:
        if self._connection is None:
            self._sent = time.monotonic()
            self._connection = HTTPConnection(*self._address, timeout=WAIT)
            self._connection.request("GET", "/healthz")
        if not wait([self._connection.sock], WAIT):
            if time.monotonic() - self._sent > PATIENCE:
                self.close()
            return False
        answered = self._connection.getresponse().status == 200
        self.close()
        return answered
