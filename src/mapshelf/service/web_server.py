"""Granian with one listening socket for all workers, and a respawn back-off for each of them.

Granian itself gives each worker a socket of its own, and connections that wait there are lost when
the worker dies. It also stops all workers if one dies twice within seconds. There is no setting for
either, so ``_Server`` overrides private parts of Granian. This is all of Granian that is not its
public interface:

* ``OVERRIDDEN_METHODS``: ``_init_shared_socket`` makes the shared socket, ``_serve_loop`` waits for
  workers that died;
* ``CALLED_METHODS``: ``_respawn_workers`` replaces the workers with these indices;
* ``USED_ATTRIBUTES`` of the server: the shared socket as Python (``_sso``) and Rust (``_shd``) have
  it, the workers (``wrks``), how many connections each may have (``backpressure``), the indices of
  those that died (``interrupt_children``), the request to stop (``interrupt_signal``), and the
  event that is set for both (``main_loop_interrupt``);
* ``USED_WORKER_ATTRIBUTES``: when it was started (``birth``) and its process (``inner``).

``tests/service/test_web_server.py`` checks that the installed version has them. To upgrade Granian,
compare these parts, then change ``GRANIAN_VERSION`` here and the pin in ``pyproject.toml``.
"""

import logging
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings
from granian.net import SocketHolder  # type: ignore[attr-defined]  # stubs lag behind
from granian.server.mp import MPServer

from mapshelf.service.accept_queue import AcceptQueue
from mapshelf.service.backoff import Backoff
from mapshelf.service.descriptors import connection_limit
from mapshelf.service.listening import BACKLOG

GRANIAN_VERSION: Final = "2.8"
OVERRIDDEN_METHODS: Final = {
    "_init_shared_socket": ("self",),
    "_serve_loop": ("self", "spawn_target", "target_loader"),
}
CALLED_METHODS: Final = {"_respawn_workers": ("self", "workers", "spawn_target", "target_loader")}
USED_ATTRIBUTES: Final = (
    "_sso",
    "_shd",
    "wrks",
    "backpressure",
    "interrupt_children",
    "interrupt_signal",
    "main_loop_interrupt",
)
USED_WORKER_ATTRIBUTES: Final = ("birth", "inner")

MAX_CONNECTIONS: Final = 8192
"""Connections that a worker holds at once, if there are enough descriptors. Slow ones count, so it
is far above what is ever busy."""

HEADER_TIMEOUT: Final = 10_000
"""Milliseconds a client has to send the headers of a request."""

BUFFER_SIZE: Final = 65_536
"""Bytes that a connection buffers at most of a request's headers, and of a response besides its
body: far above any request we understand, and little enough for thousands of connections."""

KILL_TIMEOUT: Final = 10
"""Seconds a worker has to finish its requests when the service stops."""

MIN_LIFETIME: Final = 2.0
"""Seconds after which a worker counts as healthy. One that dies earlier may never have answered."""

SETTLED_AFTER: Final = 10.0
"""Seconds after which a worker surely accepts connections, if it can."""

FIRST_RESPAWN_DELAY: Final = 0.1
LONGEST_RESPAWN_DELAY: Final = 5.0
"""Seconds before a worker that died early is respawned. A healthy one is respawned at once."""

log = logging.getLogger(__name__)


def serve_http(
    listener: socket.socket,
    workers: int,
    load_application: Callable[..., Any],
    count_refused: Callable[[int], None],
) -> None:
    """Serve HTTP/1.1 on ``listener`` until asked to stop.

    Args:
        listener: a socket that listens.
        workers: how many processes answer.
        load_application: called in each of them for the RSGI application; it can be pickled.
        count_refused: called with the number of connections that were just refused.
    """
    _Server(
        listener,
        count_refused,
        "mapshelf.api",
        interface=Interfaces.RSGI,
        workers=workers,
        loop=Loops.uvloop,
        http=HTTPModes.http1,
        websockets=False,
        backlog=BACKLOG,
        backpressure=connection_limit(MAX_CONNECTIONS),
        http1_settings=HTTP1Settings(
            header_read_timeout=HEADER_TIMEOUT, max_buffer_size=BUFFER_SIZE
        ),
        workers_kill_timeout=KILL_TIMEOUT,
        log_enabled=False,
    ).serve(target_loader=load_application, wrap_loader=False)


@dataclass(slots=True)
class _RespawnSchedule:
    """When (``time.monotonic``) the worker of one index is respawned, ``None`` while it lives."""

    due: float | None = None
    backoff: Backoff = field(
        default_factory=lambda: Backoff(FIRST_RESPAWN_DELAY, LONGEST_RESPAWN_DELAY)
    )

    def schedule(self, lifetime: float) -> None:
        """Schedule the respawn of a worker that lived for ``lifetime`` seconds."""
        if lifetime < MIN_LIFETIME:
            delay = self.backoff.next_delay()
        else:
            self.backoff.reset()
            delay = 0.0
        self.due = time.monotonic() + delay


class _Server(MPServer):
    """The server; the module docstring says what it overrides."""

    def __init__(
        self,
        listener: socket.socket,
        count_refused: Callable[[int], None],
        *arguments: Any,
        **named: Any,
    ) -> None:
        super().__init__(*arguments, **named)
        self._listener = listener
        self._count_refused = count_refused
        self._respawns = [_RespawnSchedule() for _ in range(self.workers)]

    def _init_shared_socket(self) -> None:
        self._sso = self._listener
        self._shd = SocketHolder(self._listener.fileno(), False, self.backlog)  # type: ignore[assignment, call-arg]  # stubs lag behind

    def _serve_loop(
        self, spawn_target: Callable[..., None], target_loader: Callable[..., Any] | None
    ) -> None:
        queue = AcceptQueue(self._listener, self._have_settled, self._are_full, self._count_refused)
        queue.watch()
        while not self.interrupt_signal:
            self.main_loop_interrupt.wait(self._seconds_until_due())
            # Cleared before looking, so that the next iteration sees what happens meanwhile.
            self.main_loop_interrupt.clear()
            if not self.interrupt_signal:
                self._schedule_respawns()
                self._respawn_workers(self._take_due(), spawn_target, target_loader)
        queue.end()

    def _have_settled(self) -> bool:
        """Return whether there are workers that would accept connections if they had room."""
        settled = time.monotonic() - SETTLED_AFTER
        both = zip(self.wrks, self._respawns, strict=False)  # while stopping, there are fewer
        return any(worker.birth < settled and respawn.due is None for worker, respawn in both)

    def _are_full(self) -> bool:
        """Return whether all workers are at their connection limit, if Linux reports that."""
        try:
            return all(
                len(os.listdir(f"/proc/{worker.inner.pid}/fd")) >= self.backpressure
                for worker in self.wrks
            )
        except OSError:  # one of them has ended
            return False

    def _seconds_until_due(self) -> float | None:
        """Return the seconds until a respawn is due, ``None`` if none is scheduled."""
        due = [respawn.due for respawn in self._respawns if respawn.due is not None]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _schedule_respawns(self) -> None:
        while self.interrupt_children:
            index = self.interrupt_children.pop()
            worker = self.wrks[index]
            log.error("a worker exited with code %s; respawning it", worker.inner.exitcode)
            self._respawns[index].schedule(time.monotonic() - worker.birth)

    def _take_due(self) -> list[int]:
        """Return the indices whose respawn is due, and remove them from the schedule."""
        now = time.monotonic()
        due = [
            index
            for index, respawn in enumerate(self._respawns)
            if respawn.due is not None and respawn.due <= now
        ]
        for index in due:
            self._respawns[index].due = None
        return due
