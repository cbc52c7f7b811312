"""Load shedding: refuse connections that would wait too long in the accept queue.

Workers accept connections up to their limit, and clients keep them alive for further requests.
Under overload, clients open more and more connections. Those that no worker can accept wait
unnoticed in the kernel until others are closed: for many seconds, although each request takes less
than a millisecond.

The supervisor, otherwise idle, monitors the length of the queue. If it is too long, or if
connections keep waiting while all workers are full, it accepts the oldest and answers 503 without
reading the request. The others then wait for a fraction of a second, and refused clients know at
once.

While no worker has settled, as after a start or when all have died, nothing is refused: connections
wait for the next worker (``listening.py``). Only Linux reports the queue length.
"""

import logging
import math
import select
import socket
import struct
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from typing import Final

from mapshelf.plurals import noun

LOOKED_EVERY: Final = 0.05
"""Seconds between two checks of the queue. While nobody connects, there is none."""

MOST_WAITING: Final = 512
"""Connections that may wait. A worker with free capacity accepts them in a few milliseconds."""

LONG: Final = 6
"""Consecutive checks with waiting connections before some are refused: the oldest have then waited
for a fraction of a second."""

KEPT_OPEN: Final = 256
"""Refused connections that are kept open for a while: a client that is still sending when its
connection is closed may never read the response."""

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
"""Offset of ``tcpi_unacked`` in Linux's ``struct tcp_info``: the queue length of a listener."""

log = logging.getLogger(__name__)


class AcceptQueue:
    """Monitors the accept queue of a socket."""

    def __init__(
        self,
        listener: socket.socket,
        have_workers: Callable[[], bool],
        are_full: Callable[[], bool],
        count_refused: Callable[[int], None],
    ) -> None:
        """Prepare; see ``watch``.

        Args:
            listener: the listening socket.
            have_workers: returns whether any workers accept connections.
            are_full: returns whether all of them have reached their limit.
            count_refused: called with the number of connections that were just refused.
        """
        self._listener = listener
        self._have_workers = have_workers
        self._are_full = are_full
        self._count_refused = count_refused
        self._ended = Event()
        self._end, self._begin_end = socket.socketpair()  # wakes up a thread that waits
        self._looks = 0  # consecutive checks that found connections waiting
        self._crowded = False
        self._thread = Thread(target=self._follow, name="accept queue", daemon=True)
        self._open: deque[tuple[float, socket.socket]] = deque()

    def watch(self) -> None:
        """Start monitoring in a separate thread, until ``end``."""
        if sys.platform == "linux":
            self._listener.setblocking(False)  # a worker may be faster
            self._thread.start()

    def end(self) -> None:
        """Stop monitoring."""
        self._ended.set()
        self._begin_end.shutdown(socket.SHUT_RDWR)  # closing would not do if a child had a copy
        self._begin_end.close()
        if self._thread.is_alive():
            self._thread.join()
        self._end.close()

    def _follow(self) -> None:
        while not self._ended.wait(LOOKED_EVERY):
            self._look()
            self._close_before(time.monotonic() - CLOSED_AFTER)
            if not self._looks and not self._open:
                self._wait_for_connections()
        self._close_before(math.inf)

    def _wait_for_connections(self) -> None:
        """Wait until a connection is in the queue, or ``end`` is called."""
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        poll.register(self._end, select.POLLIN)
        poll.poll()

    def _look(self) -> None:
        waiting = self._waiting()
        self._looks = self._looks + 1 if waiting else 0
        # Not at the first check: a backlog after a pause of the machine clears quickly.
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
            self._count_refused(refused)
            connections = noun(refused, "connection")
            log.warning("refused %d %s: the workers accept no more", refused, connections)

    def _waiting(self) -> int:
        try:
            told = self._listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 32)
        except OSError:
            return 0
        return int(_WAITING.unpack_from(told, _PLACE)[0]) if len(told) == 32 else 0

    def _refuse_until(self, most: int) -> int:
        """Refuse the oldest until at most ``most`` wait; return how many were refused."""
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
            connection.recv(READ_AT_MOST)  # closing with unread data would reset the connection
        connection.close()
