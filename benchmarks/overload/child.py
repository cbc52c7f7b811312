"""Load generators in separate processes, so that attackers and clients do not slow each other down.

Attackers run at a low priority, because real ones have their own machines. Clients that measure run
at a high priority; otherwise, their own delays would add to the latency of the server.
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
"""Nice values. Only root can set the second."""

Work = Callable[..., Awaitable[dict[str, Any]]]
"""Takes arguments and an event that is set when it must end; returns figures."""

_context = multiprocessing.get_context("spawn")


class Child:
    """A process that runs ``work`` until it returns, or until the end of the context.

    The context begins when the process has started its work.
    """

    def __init__(self, work: Work, *arguments: Any, nice: int, core: int | None = None) -> None:
        """Prepare the process.

        Args:
            work: the function to run.
            arguments: its arguments.
            nice: the nice value.
            core: the core, ``None`` for all cores.
        """
        self._pipe, other = _context.Pipe()
        self._other = other
        self._process = _context.Process(
            target=_run, args=(other, nice, core, work, arguments), daemon=True
        )
        self._result: dict[str, Any] | None = None

    def __enter__(self) -> Self:
        self._process.start()
        self._other.close()  # so that reading from the pipe fails if the process dies
        self._pipe.recv()  # on a busy machine, the start takes seconds
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
        """Stop the work; return its figures."""
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
    pipe.send(uvloop.run(_until_ended(pipe, work, arguments)))


async def _until_ended(pipe: Connection, work: Work, arguments: tuple[Any, ...]) -> dict[str, Any]:
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
