"""Finding out whether the service answers yet, by a request of our own.

Workers answer late on a busy machine. So one request waits for its answer, however long that takes.
If each were given up after a moment for the next, the workers would later answer them all, and
count them as clients that disconnected.
"""

import socket
import time
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Final

WAIT: Final = 0.5
"""Seconds to wait for the answer before the supervisor checks its children again."""

_REQUEST: Final = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
_ANSWER: Final = b"HTTP/1.1 200 "
"""An HTTP library would take a megabyte of memory for as long as the service runs."""

PATIENCE: Final = 60.0
"""Seconds before a request is given up for another: its worker may hang."""


class Probe:
    """Requests ``/healthz`` at an address, with or without a snapshot to answer from."""

    def __init__(self, address: tuple[str, int]) -> None:
        """Probe the service at ``address``; nothing is sent yet."""
        self._address = address
        self._connection: socket.socket | None = None
        self._sent = 0.0

    def is_answered(self) -> bool:
        """Return whether a worker has answered; wait for that for a moment."""
        try:
            return self._ask()
        except OSError:
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
            self._connection = socket.create_connection(self._address, WAIT)
            self._connection.sendall(_REQUEST)
        if not wait([self._connection], WAIT):
            if time.monotonic() - self._sent > PATIENCE:
                self.close()
            return False
        answered = self._connection.recv(len(_ANSWER)) == _ANSWER
        self.close()
        return answered
