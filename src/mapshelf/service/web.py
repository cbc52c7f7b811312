"""The process that answers: Granian, set up to hold its ground, with our application inside."""

import logging
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings
from granian.net import SocketHolder  # type: ignore[attr-defined]  # stubs lag behind
from granian.server.mp import MPServer

from mapshelf.service.descriptors import connections
from mapshelf.service.listening import BACKLOG
from mapshelf.service.process import end_with_parent, set_up_logging
from mapshelf.settings import Settings

BACKPRESSURE: Final = 8192
"""Connections a worker holds at once, where there are descriptors for so many. Slow ones count, so
it is far above what is ever busy."""

HEADER_TIMEOUT: Final = 10_000
"""Milliseconds a client has to send the headers of a request."""

BUFFER_SIZE: Final = 65_536
"""Bytes that a connection holds at most of a request's headers, and likewise of an answer besides
its body: far above any request we understand, and little enough for thousands of connections."""

KILL_TIMEOUT: Final = 10
"""Seconds a worker has to finish its requests when the service ends."""

YOUNG: Final = 2.0
"""Seconds before which a worker that dies may never have answered: it did not come to that."""

FIRST_DELAY: Final = 0.1
LONGEST_DELAY: Final = 5.0
"""Seconds before a worker that died young is replaced: doubled each time, up to the longest."""

log = logging.getLogger(__name__)


def answer(settings: Settings, listener: socket.socket, workers: int) -> None:
    """Serve HTTP on ``listener`` with so many workers until asked to end."""
    set_up_logging()
    end_with_parent()
    _Server(
        listener,
        "mapshelf.api",
        interface=Interfaces.RSGI,
        workers=workers,
        loop=Loops.uvloop,
        http=HTTPModes.http1,
        websockets=False,
        backlog=BACKLOG,
        backpressure=connections(BACKPRESSURE),
        http1_settings=HTTP1Settings(
            header_read_timeout=HEADER_TIMEOUT, max_buffer_size=BUFFER_SIZE
        ),
        workers_kill_timeout=KILL_TIMEOUT,
        log_enabled=False,
    ).serve(target_loader=partial(_load, settings), wrap_loader=False)


def _load(settings: Settings, *_: Any, **__: Any) -> Any:
    """Make the application, in a worker; the process over the workers has no use for it."""
    from mapshelf.api import Application  # noqa: PLC0415
    from mapshelf.api.rsgi import RSGIApplication  # noqa: PLC0415
    from mapshelf.site import private_routes, site_routes  # noqa: PLC0415

    set_up_logging()
    end_with_parent()
    return RSGIApplication(
        Application(settings, private_routes if settings.private else site_routes)
    )


@dataclass(slots=True)
class _Place:
    """The place of a worker: when (``time.monotonic``) the next one is due, if one is wanted."""

    delay: float = 0.0
    due: float | None = None

    def note_death(self, lived: float) -> None:
        """Plan when another worker takes the place of one that lived for so many seconds."""
        young = lived < YOUNG
        self.delay = min(max(FIRST_DELAY, 2 * self.delay), LONGEST_DELAY) if young else 0.0
        self.due = time.monotonic() + self.delay


class _Server(MPServer):
    """Granian with one socket for all workers, each of which is replaced by itself when it dies.

    Granian gives each worker a socket of its own, and what waits there dies with the worker; and
    it ends all workers when one dies twice within seconds.
    """

    def __init__(self, listener: socket.socket, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._listener = listener
        self._places = [_Place() for _ in range(self.workers)]

    def _init_shared_socket(self) -> None:
        self._sso = self._listener
        self._shd = SocketHolder(self._listener.fileno(), False, self.backlog)  # type: ignore[assignment, call-arg]  # stubs lag behind

    def _serve_loop(
        self, spawn_target: Callable[..., None], target_loader: Callable[..., Any] | None
    ) -> None:
        while not self.interrupt_signal:
            self.main_loop_interrupt.wait(self._until_due())
            # Before looking, so that what happens meanwhile is looked at next time.
            self.main_loop_interrupt.clear()
            if not self.interrupt_signal:
                self._note_deaths()
                self._respawn_workers(self._taken_due(), spawn_target, target_loader)

    def _until_due(self) -> float | None:
        """Return the seconds until a worker is due, ``None`` if none is wanted."""
        due = [place.due for place in self._places if place.due is not None]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _note_deaths(self) -> None:
        while self.interrupt_children:
            index = self.interrupt_children.pop()
            worker = self.wrks[index]
            log.error("a worker ended with exit code %s; replacing it", worker.inner.exitcode)
            self._places[index].note_death(time.monotonic() - worker.birth)

    def _taken_due(self) -> list[int]:
        """Return the places that are due for another worker; it is wanted no more."""
        now = time.monotonic()
        places = enumerate(self._places)
        due = [index for index, place in places if place.due is not None and place.due <= now]
        for index in due:
            self._places[index].due = None
        return due
