"""The process over the others: starts them, starts them again when they die, ends them together.

It does nothing else but to hold what must outlive its children (the listening socket, the right to
the data folder), so there is little in it that could fail.
"""

import logging
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from pkgutil import resolve_name
from typing import Any, Final

FIRST_DELAY: Final = 0.2
LONGEST_DELAY: Final = 10.0
"""Seconds before a child is started again: doubled each time, up to the longest."""

SETTLED: Final = 30.0
"""Seconds after which a child counts as sound, and the delay begins anew."""

PATIENCE: Final = 15.0
"""Seconds the children have to end when asked to."""

log = logging.getLogger(__name__)
_context = multiprocessing.get_context("spawn")


@dataclass(slots=True)
class Child:
    """A process to keep running.

    Attributes:
        name: what to call it.
        run: the function it runs, as ``module:function``: the supervisor need not import what
            its children do.
        arguments: those of the function.
        due: when (``time.monotonic``) to start it, unless the others are ready before.
    """

    name: str
    run: str
    arguments: tuple[Any, ...]
    process: SpawnProcess | None = None
    started: float = 0.0
    delay: float = FIRST_DELAY
    due: float = field(default_factory=time.monotonic)

    def start(self) -> None:
        """Start the process."""
        self.process = _context.Process(
            target=_run, args=(self.run, self.arguments), name=self.name
        )
        self.process.start()
        self.started = time.monotonic()

    def note_death(self) -> None:
        """Plan when to start again."""
        assert self.process is not None
        now = time.monotonic()
        self.delay = (
            FIRST_DELAY if now - self.started > SETTLED else min(2 * self.delay, LONGEST_DELAY)
        )
        log.error("%s ended with exit code %s; starting it again", self.name, self.process.exitcode)
        self.process = None
        self.due = now + self.delay


def _run(function: str, arguments: tuple[Any, ...]) -> None:
    resolve_name(function)(*arguments)


class Supervisor:
    """Keeps children running until the process is asked to end."""

    def __init__(
        self,
        children: list[Child],
        drain: float = 0,
        tell: Callable[[], None] | None = None,
        let_go: Callable[[], None] | None = None,
    ) -> None:
        """Prepare to run ``children``.

        Args:
            children: the processes.
            drain: seconds for which they go on once the end is asked for, so that whoever shares
                out requests can turn to others first.
            tell: called when that time begins.
            let_go: called before the children are asked to end, to let go of what is held for them.
        """
        self._children = children
        self._drain = drain
        self._tell = tell
        self._let_go = let_go
        self._ending = False
        # A signal writes into the pipe, which wakes whoever waits on it.
        self._wake_up, self._signalled = os.pipe()

    def run(self, ready: Callable[[], bool]) -> None:
        """Start the children and see to them; ``ready`` is called now and then until true."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        told = False
        try:
            while not self._ending:
                self._start_due()
                if not told and ready():
                    told = True
                    self._start_rest()
                self._sleep(0.05 if not told else 1.0)
                self._bury()
            self._let_drain()
        finally:
            self._stop_all()

    def _end(self, *_: object) -> None:
        self._ending = True
        os.write(self._signalled, b"!")

    def _let_drain(self) -> None:
        """Go on for a while; asked a second time, end at once."""
        if not self._drain:
            return
        if self._tell:
            self._tell()
        os.read(self._wake_up, 64)
        self._ending = False
        deadline = time.monotonic() + self._drain
        while not self._ending and time.monotonic() < deadline:
            self._start_due()
            self._sleep(min(1.0, max(0.0, deadline - time.monotonic())))
            self._bury()
        self._ending = True

    def _start_due(self) -> None:
        for child in self._children:
            if child.process is None and time.monotonic() >= child.due:
                try:
                    child.start()
                except OSError as error:  # too many processes, or too little memory
                    log.error("%s cannot be started now: %s", child.name, error)
                    child.process, child.due = None, time.monotonic() + LONGEST_DELAY

    def _start_rest(self) -> None:
        """Start what has been put off for others to come first."""
        for child in self._children:
            if not child.started:
                child.due = time.monotonic()
        self._start_due()

    def _sleep(self, seconds: float) -> None:
        """Sleep until a child dies, one is due, or a signal comes, but no longer than this."""
        sentinels = [child.process.sentinel for child in self._children if child.process]
        waiting = [child.due for child in self._children if child.process is None]
        if waiting:
            seconds = max(0.0, min(seconds, min(waiting) - time.monotonic()))
        wait([self._wake_up, *sentinels], seconds)

    def _bury(self) -> None:
        for child in self._children:
            if child.process is not None and not child.process.is_alive() and not self._ending:
                child.note_death()

    def _stop_all(self) -> None:
        if self._let_go:
            self._let_go()
        alive = [child.process for child in self._children if child.process is not None]
        for process in alive:
            process.terminate()
        deadline = time.monotonic() + PATIENCE
        for process in alive:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                log.error("%s did not end in time and is killed", process.name)
                process.kill()
                process.join()
