"""Load that runs in a process of its own, so that attackers and clients do not slow each other.

Attackers yield to all others on the processor: real ones have machines of their own. Clients that
measure come first: what they note late is not the server's delay.
"""

import asyncio
import multiprocessing
import os
import resource
from collections.abc import Awaitable, Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Final, Self

import uvloop

ATTACKING: Final = 10
MEASURING: Final = -10
"""Nice values; only root gets the second."""

Work = Callable[..., Awaitable[dict[str, Any]]]
"""Takes arguments and an event that tells it to end; returns figures."""

_context = multiprocessing.get_context("spawn")


class Child:
    """A process that runs ``work`` until it returns, told to end when the context ends.

    The context begins when the process does its work.
    """

    def __init__(self, work: Work, *arguments: Any, nice: int, core: int | None = None) -> None:
        """Prepare.

        Args:
            work: what to do.
            arguments: those of ``work``.
            nice: the nice value.
            core: the core, ``None`` for all of them.
        """
        self._pipe, other = _context.Pipe()
        self._other = other
        self._process = _context.Process(
            target=_run, args=(other, nice, core, work, arguments), daemon=True
        )
        self._result: dict[str, Any] | None = None

    def __enter__(self) -> Self:
        self._process.start()
        self._other.close()  # a process that dies is noticed at the pipe
        self._pipe.recv()  # on a busy machine it takes seconds to begin
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.end()
        else:
            self._process.kill()
        self._process.join()

    def end(self) -> dict[str, Any]:
        """Tell the work to end; return its figures."""
        with suppress(OSError):
            self._pipe.send("end")
        return self.result()

    def result(self) -> dict[str, Any]:
        """Wait until the work has ended; return its figures."""
        if self._result is None:
            result: dict[str, Any] = self._pipe.recv()
            self._result = result
        return self._result


def _run(
    pipe: Connection, nice: int, core: int | None, work: Work, arguments: tuple[Any, ...]
) -> None:
    if core is not None:
        os.sched_setaffinity(0, {core})
    with suppress(PermissionError):
        os.nice(nice)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    pipe.send("begun")
    pipe.send(uvloop.run(_until_told(pipe, work, arguments)))


async def _until_told(pipe: Connection, work: Work, arguments: tuple[Any, ...]) -> dict[str, Any]:
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.set_exception_handler(lambda *_: None)  # connections break all the time
    loop.add_reader(pipe.fileno(), ended.set)
    before = _cpu_seconds()
    try:
        figures = await work(*arguments, ended)
    finally:
        loop.remove_reader(pipe.fileno())
    return {**figures, "own cpu seconds": round(_cpu_seconds() - before, 2)}


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
