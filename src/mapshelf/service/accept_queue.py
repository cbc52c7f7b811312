"""Refuses connections that no worker accepts soon.

Workers take as many connections as they may, and clients keep them for further requests. When
requests come faster than they are answered, clients open more and more connections. Those that no
worker accepts any more wait in the kernel, where nobody sees them, for as long as others are kept:
for many seconds, although each request takes less than a millisecond.

The web process, which has nothing else to do, looks how many wait. If too many do, or if some do
for long while workers have no room, it takes the oldest of them and answers with 503, before the
request is even read. So the others wait for a fraction of a second, and whoever is refused knows at
once.

While no worker has been there for long, as after a start or when all have died, nobody is refused:
then connections wait for the next worker (``listening.py``). Only Linux tells how many wait.
"""

import logging
import math
import socket
import struct
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from typing import Final

LOOKED_EVERY: Final = 0.05
"""Seconds between two looks."""

MOST_WAITING: Final = 512
"""Connections that may wait. A worker accepts as many in some milliseconds, if it can."""

LONG: Final = 6
"""Looks in a row that find connections waiting: those that were there at the first have waited for
a fraction of a second, unless workers accept others before them."""

KEPT_OPEN: Final = 256
"""Refused connections that are not closed at once: whoever is still sending a request when its
connection is closed may not get to read the answer."""

CLOSED_AFTER: Final = 0.5
"""Seconds until these are closed, too."""

BODY: Final = (
    b'{"code":503,"error":"temporarily_unavailable",'
    b'"error_description":"The service has too much to do. Please try again in a moment."}'
)
REFUSAL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"
    b"content-length: %d\r\nretry-after: 1\r\ncache-control: no-store\r\n"
    b"x-content-type-options: nosniff\r\nconnection: close\r\n\r\n%s" % (len(BODY), BODY)
)
READ_AT_MOST: Final = 65_536

_WAITING: Final = struct.Struct("=I")
_PLACE: Final = 24
"""Of ``tcpi_unacked`` in ``struct tcp_info`` of Linux: how many wait, for a socket that listens."""

log = logging.getLogger(__name__)


class AcceptQueue:
    """Watches over the connections that wait on a socket."""

    def __init__(
        self,
        listener: socket.socket,
        have_workers: Callable[[], bool],
        are_full: Callable[[], bool],
    ) -> None:
        """Prepare; see ``watch``.

        Args:
            listener: the socket.
            have_workers: tells whether there are workers that accept connections if they can.
            are_full: tells whether each of them has as many as it may have.
        """
        self._listener = listener
        self._have_workers = have_workers
        self._are_full = are_full
        self._ended = Event()
        self._looks = 0  # in a row that found somebody waiting
        self._crowded = False
        self._thread = Thread(target=self._follow, name="accept queue", daemon=True)
        self._open: deque[tuple[float, socket.socket]] = deque()

    def watch(self) -> None:
        """Begin to look, in a thread of its own, until ``end``."""
        if sys.platform == "linux":
            self._listener.setblocking(False)  # a worker may be faster
            self._thread.start()

    def end(self) -> None:
        """Look no more."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _follow(self) -> None:
        while not self._ended.wait(LOOKED_EVERY):
            self._look()
            self._close_before(time.monotonic() - CLOSED_AFTER)
        self._close_before(math.inf)

    def _look(self) -> None:
        waiting = self._waiting()
        self._looks = self._looks + 1 if waiting else 0
        # At the second look only: what a pause of the machine has left is soon accepted.
        was, self._crowded = self._crowded, waiting > MOST_WAITING
        too_many, long = was and self._crowded, self._looks >= LONG
        if not (too_many or long) or not self._have_workers():
            return
        refused = 0
        if too_many:
            refused = self._refuse_until(MOST_WAITING // 2)
        elif self._are_full():
            refused = self._refuse_until(0)
        if refused:
            self._looks = 0
            log.warning("%d connections were refused: workers take no more", refused)

    def _waiting(self) -> int:
        try:
            told = self._listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 32)
        except OSError:
            return 0
        return int(_WAITING.unpack_from(told, _PLACE)[0]) if len(told) == 32 else 0

    def _refuse_until(self, most: int) -> int:
        """Refuse the oldest until at most so many wait; return how many were refused."""
        refused = 0
        while (too_many := self._waiting() - most) > 0:
            for _ in range(too_many):
                try:
                    connection, _ = self._listener.accept()
                except OSError:  # a worker took the last one, or there are no descriptors
                    return refused
                self._refuse(connection)
                refused += 1
        return refused

    def _refuse(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        with suppress(OSError):
            connection.recv(READ_AT_MOST)
        with suppress(OSError):
            connection.send(REFUSAL)
            connection.shutdown(socket.SHUT_WR)
        self._open.append((time.monotonic(), connection))
        if len(self._open) > KEPT_OPEN:
            self._close_oldest()

    def _close_before(self, moment: float) -> None:
        while self._open and self._open[0][0] < moment:
            self._close_oldest()

    def _close_oldest(self) -> None:
        _, connection = self._open.popleft()
        with suppress(OSError):
            connection.recv(READ_AT_MOST)  # what is unread would take the answer away
        connection.close()
