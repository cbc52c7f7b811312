"""The supervisor: start the other processes, restart those that die, and stop them all.

It also holds the resources that must outlive its children: the listening socket and the lock on the
data folder. It does nothing else, so little in it can fail.
"""

import logging
import math
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final

from mapshelf.service.backoff import Backoff
from mapshelf.service.descendants import kill_with_descendants

FIRST_RESTART_DELAY: Final = 0.2
LONGEST_RESTART_DELAY: Final = 10.0
"""Seconds before a child is restarted."""

MIN_LIFETIME: Final = 30.0
"""Seconds after which most children count as healthy, and their back-off is reset."""

STOP_TIMEOUT: Final = 15.0
"""Seconds the children have to stop when asked to."""

CHECK_INTERVAL: Final = 5.0
"""Seconds between checks for ended processes that are not children of our own."""

FIRST_PROCESS: Final = 1
"""The number of the first process of a system, or of a container."""

log = logging.getLogger(__name__)
_context = multiprocessing.get_context("spawn")


@dataclass(slots=True)
class Child:
    """A process to keep running.

    Attributes:
        name: its name in the log.
        run: the function it runs, as ``module:function``: the supervisor need not import what
            its children do.
        arguments: those of the function.
        due: when (``time.monotonic``) to start it, unless the service is ready earlier.
        rest: seconds between service readiness and its start.
        ends: whether exit code 0 means that it is done and must not be restarted.
        renews: whether exit code 0 means that it wants to be started again, to free memory.
        backoff: the delays before it is restarted.
        min_lifetime: seconds after which it counts as healthy, and its back-off is reset.
    """

    name: str
    run: str
    arguments: tuple[Any, ...]
    process: SpawnProcess | None = None
    started: float = 0.0
    due: float = field(default_factory=time.monotonic)
    rest: float = 0.0
    ends: bool = False
    renews: bool = False
    backoff: Backoff = field(
        default_factory=lambda: Backoff(FIRST_RESTART_DELAY, LONGEST_RESTART_DELAY)
    )
    min_lifetime: float = MIN_LIFETIME

    def start(self) -> None:
        """Start the process."""
        self.process = _context.Process(
            target=_run, args=(self.name, self.run, self.arguments), name=self.name
        )
        self.process.start()
        self.started = time.monotonic()

    def schedule_restart(self) -> None:
        """Schedule the restart of a process that died, unless it is done."""
        assert self.process is not None
        if self.ends and self.process.exitcode == 0:
            self.process, self.due = None, math.inf
            return
        now = time.monotonic()
        if now - self.started > self.min_lifetime:
            self.backoff.reset()
        if self.renews and self.process.exitcode == 0:
            self.process, self.due = None, now
            return
        log.error("%s exited with code %s; restarting it", self.name, self.process.exitcode)
        self.process = None
        self.due = now + self.backoff.next_delay()


def _run(name: str, function: str, arguments: tuple[Any, ...]) -> None:
    with suppress(OSError):  # there is such a file on Linux only
        Path("/proc/self/comm").write_text(name, "ascii")  # what ``top`` and ``pgrep`` show
    resolve_name(function)(*arguments)


class Supervisor:
    """Keeps children running until the process is asked to stop."""

    def __init__(
        self,
        children: list[Child],
        *,
        drain_seconds: float = 0,
        on_drain: Callable[[], None] | None = None,
        on_stop: Callable[[], None] | None = None,
        stop_timeout: float = STOP_TIMEOUT,
    ) -> None:
        """Set up to run ``children``.

        Args:
            children: the processes.
            drain_seconds: how long they keep running after a stop request, so that load balancers
                can switch to other nodes first.
            on_drain: called when this period begins.
            on_stop: called before the children are asked to stop, to release their resources.
            stop_timeout: seconds they have to stop before they are killed.
        """
        self._children = children
        self._drain_seconds = drain_seconds
        self._on_drain = on_drain
        self._on_stop = on_stop
        self._stop_timeout = stop_timeout
        self._stopping = False
        # The signal handler writes into the pipe, which wakes up ``_wait``.
        self._wake_up, self._signalled = os.pipe()

    def run(self, is_ready: Callable[[], bool]) -> None:
        """Start and supervise the children.

        ``is_ready`` is polled until it returns ``True``. Then the remaining children are started,
        even if they are not due yet.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._request_stop)
        # Sent when the terminal closes; ``nohup`` lets a service continue then.
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            signal.signal(signal.SIGHUP, self._request_stop)
        ready = False
        try:
            while not self._stopping:
                self._start_due()
                if not ready and is_ready():
                    ready = True
                    self._start_deferred()
                self._wait(0.05 if not ready else CHECK_INTERVAL)
                self._reap()
            self._drain()
        finally:
            self._stop_all()

    def _request_stop(self, *_: object) -> None:
        self._stopping = True
        os.write(self._signalled, b"!")

    def _drain(self) -> None:
        """Continue for a while; stop at once when asked a second time."""
        if not self._drain_seconds:
            return
        if self._on_drain:
            self._on_drain()
        os.read(self._wake_up, 64)
        self._stopping = False
        deadline = time.monotonic() + self._drain_seconds
        while not self._stopping and time.monotonic() < deadline:
            self._start_due()
            self._wait(min(1.0, max(0.0, deadline - time.monotonic())))
            self._reap()
        self._stopping = True

    def _start_due(self) -> None:
        for child in self._children:
            if child.process is None and time.monotonic() >= child.due:
                try:
                    child.start()
                except OSError as error:  # too many processes, or too little memory
                    log.error("cannot start %s now: %s", child.name, error)
                    child.process, child.due = None, time.monotonic() + LONGEST_RESTART_DELAY

    def _start_deferred(self) -> None:
        """Start the children that were never started because others should be first."""
        for child in self._children:
            if not child.started:
                child.due = time.monotonic() + child.rest
        self._start_due()

    def _wait(self, seconds: float) -> None:
        """Wait until a child dies, one is due, or a signal arrives, at most ``seconds``."""
        sentinels = [child.process.sentinel for child in self._children if child.process]
        pending = [child.due for child in self._children if child.process is None]
        if pending:
            seconds = max(0.0, min(seconds, min(pending) - time.monotonic()))
        wait([self._wake_up, *sentinels], seconds)

    def _reap(self) -> None:
        """Schedule the restart of children that died."""
        for child in self._children:
            if child.process is not None and not child.process.is_alive() and not self._stopping:
                child.schedule_restart()
        if os.getpid() == FIRST_PROCESS:
            self._reap_orphans()

    def _reap_orphans(self) -> None:
        """Collect processes that ended after their parent.

        In a container they become children of its first process, which must reap them.
        """
        own = {child.process.pid for child in self._children if child.process is not None}
        with suppress(ChildProcessError):  # there is none at all
            while dead := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                if dead.si_pid in own:  # it is for its own object to collect, next time
                    return
                os.waitpid(dead.si_pid, 0)

    def _stop_all(self) -> None:
        if self._on_stop:
            self._on_stop()
        alive = [child.process for child in self._children if child.process is not None]
        for process in alive:
            process.terminate()
        deadline = time.monotonic() + self._stop_timeout
        for process in alive:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.pid is not None and process.is_alive():
                log.error("%s did not stop in time; killing it", process.name)
                kill_with_descendants(process.pid)
                process.join()
