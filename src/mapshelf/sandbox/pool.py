"""Child processes for untrusted input, with limits from the operating system.

Map files are read and drawn in child processes with limits on memory, processor time and clock
time, which cannot write files. An input that our own code does not handle costs one file or one
picture, never the service.

* Children are spawned, not forked: they have nothing of the parent's memory, and no descriptors but
  the pool's pipes. Each does many tasks, because starting one costs more than reading a hundred
  maps. So each task gets its own processor time. The limit is lifted before the result is sent, so
  that no child dies while sending.
* pebble runs them, because the pools of the standard library can neither end a task that takes too
  long nor survive the death of a worker.
* The memory limit counts from the child's size at its start: with the spawn method, Python imports
  the parent's main module into it, whatever that loads.
* Nothing that a child prints gets anywhere: what native code says when it fails is about itself,
  and the parent logs what could not be done.
* An interrupt from the keyboard reaches the whole process group. Children start with it blocked, so
  the parent decides what happens. If the parent dies, their pipe closes and they end.
"""

import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, InvalidStateError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import RLock
from typing import Any, Final, TypeVar

from pebble import ProcessExpired, ProcessPool

from mapshelf.errors import StoreUnavailable

T = TypeVar("T")

FAILURES: Final = (TimeoutError, ProcessExpired, BrokenProcessPool, MemoryError)
"""Raised when a child dies during a task, or exceeds a limit."""

_LOST_AFTER: Final = 1.0  # seconds after which a task is looked for that its pool may have lost
_STANDARD_ERROR: Final = 2  # a descriptor: native code knows no ``sys.stderr``
_NICENESS: Final = 10
"""Of a ``ConfinedChild``: tasks of seconds must not slow requests of microseconds."""


class ConfinedPool:
    """Child processes for one kind of task. They start with the first one."""

    def __init__(
        self, workers: int, memory: int, descriptors: int, niceness: int = 0, file_size: int = 0
    ) -> None:
        """Prepare the pool.

        Args:
            workers: number of children.
            memory: bytes that each may add to its size at the start.
            descriptors: files and pipes that each may have open.
            niceness: of each.
            file_size: bytes of the largest file that each may write.
        """
        self._workers = workers
        self._niceness = niceness
        self._limits = (memory, descriptors, file_size)
        self._pool: ProcessPool | None = None
        self._children = _Children(niceness)
        self._unfinished: set[Future[Any]] = set()
        self._changing = RLock()
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether it has been closed."""
        return self._closed

    def submit(
        self, function: Callable[..., T], arguments: tuple[object, ...], seconds: float
    ) -> "Future[T]":
        """Have a child call ``function``; it is killed if that takes more than ``seconds``.

        ``result`` waits for what it returns.
        """
        with self._changing:
            try:
                future: Future[T] = self._ready().schedule(
                    function, args=arguments, timeout=seconds
                )
            except (RuntimeError, BrokenProcessPool) as error:  # it broke since we looked
                future = Future()
                future.set_exception(BrokenProcessPool(str(error)))
                return future
            self._unfinished.add(future)
        future.add_done_callback(self._unfinished.discard)
        return future

    def result(self, future: "Future[T]") -> T:
        """Wait for the result of a task that was submitted here.

        Raises:
            TimeoutError: it took too long.
            ProcessExpired: the child died.
            BrokenProcessPool: the child died so that nobody knows over what, or the pool was
                closed.
            Exception: what the function raised.
        """
        while True:
            try:
                return future.result(_LOST_AFTER)
            except TimeoutError:  # of the task, or just of this wait
                if future.done():
                    return future.result()
                self._give_up_lost_tasks()

    def expect(self, tasks: int) -> None:
        """Start no more children than this number of tasks, unless they have been started."""
        if self._pool is None:
            self._workers = max(1, min(self._workers, tasks))

    def close(self) -> None:
        """End the children. What they are doing is not finished, and nothing more is begun."""
        self._closed = True
        self._stop()

    def _give_up_lost_tasks(self) -> None:
        with self._changing:
            if self._pool is not None and not self._pool.active:
                self._stop()

    def _stop(self) -> None:
        with self._changing:
            pool, self._pool = self._pool, None
            if pool is not None:
                pool.stop()  # type: ignore[no-untyped-call]
                self._children.end()
                pool.join()
            # pebble leaves the tasks of a pool that stops as they are: who waits for one would
            # wait for ever.
            for future in tuple(self._unfinished):
                with suppress(InvalidStateError):
                    future.set_exception(BrokenProcessPool("the pool has been stopped"))

    def _ready(self) -> ProcessPool:
        if self._closed:
            raise BrokenProcessPool("the pool has been closed")
        if self._pool is None or not self._pool.active:
            self._stop()
            self._pool = self._start()
        return self._pool

    def _start(self) -> ProcessPool:
        self._children = _Children(self._niceness)
        pool = ProcessPool(
            max_workers=self._workers,
            initializer=_confine,
            initargs=self._limits,
            context=self._children,
        )
        # Threads and processes inherit what is blocked where they are started; so do children
        # that replace others later. The tracker would unblock it, were it not running already.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            _ = pool.active  # asking starts it
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return pool


class ConfinedChild:
    """One child, whose callers wait for the result. It may be used from several threads."""

    def __init__(self, memory: int, descriptors: int, file_size: int = 0) -> None:
        """Prepare the child; the limits are those of ``ConfinedPool``."""
        self._pool = ConfinedPool(1, memory, descriptors, _NICENESS, file_size)

    def call(self, function: Callable[..., T], arguments: tuple[object, ...], seconds: float) -> T:
        """Return what ``function`` returns in the child.

        Raises:
            StoreUnavailable: the child has been closed.
            Exception: one of ``FAILURES``, or what the function raised.
        """
        try:
            with suppress(BrokenProcessPool):  # perhaps it died before it was asked
                return self._called(function, arguments, seconds)
            return self._called(function, arguments, seconds)
        except Exception as error:
            if self._pool.closed:
                raise StoreUnavailable("the service ends") from error
            raise

    def close(self) -> None:
        """End the child; what it was doing is not finished, and nothing more is begun."""
        self._pool.close()

    def _called(
        self, function: Callable[..., T], arguments: tuple[object, ...], seconds: float
    ) -> T:
        return self._pool.result(self._pool.submit(function, arguments, seconds))


class _Children(SpawnContext):
    """Starts the children of one pool, and can end them at once.

    A pool alone would take away the locks from children that are still starting, which print a
    traceback of that.
    """

    def __init__(self, niceness: int) -> None:
        super().__init__()
        self._niceness = niceness
        self._made: list[SpawnProcess] = []
        self._ended = False

    def Process(self, *arguments: Any, **named: Any) -> SpawnProcess:  # type: ignore[override]  # noqa: N802
        """Make a child, as the pool expects of its context."""
        if self._ended:
            raise BrokenPipeError("the pool has been stopped")
        self._made = [child for child in self._made if child.exitcode is None]
        self._made.append(_Child(self._niceness, *arguments, **named))
        return self._made[-1]

    def end(self) -> None:
        """Kill the children, and start no more."""
        self._ended = True
        for child in self._made:
            if child.pid is not None:
                child.kill()


class _Child(SpawnProcess):
    """A child that gives way to others from its start on: what it imports takes a while, too."""

    def __init__(self, niceness: int, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._niceness = niceness

    def start(self) -> None:
        """Start it."""
        super().start()
        assert self.pid is not None
        with suppress(ProcessLookupError):  # it has died already
            os.setpriority(
                os.PRIO_PROCESS, self.pid, os.getpriority(os.PRIO_PROCESS, 0) + self._niceness
            )


def _confine(memory: int, descriptors: int, file_size: int) -> None:
    """Set the permanent limits of this child process."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, _STANDARD_ERROR)
    os.close(nowhere)
    _forbid_more(resource.RLIMIT_CORE, 0)
    _forbid_more(resource.RLIMIT_FSIZE, file_size)
    _forbid_more(resource.RLIMIT_NOFILE, descriptors)
    if sys.platform == "linux":  # elsewhere address space is not limited, or not to be told
        _forbid_more(resource.RLIMIT_AS, _address_space() + memory)


def _forbid_more(what: int, amount: int) -> None:
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY:
        amount = min(amount, hard)
    resource.setrlimit(what, (amount, amount))


def _address_space() -> int:
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


@contextmanager
def processor_time(seconds: int) -> Iterator[None]:
    """End this process with ``SIGPROF`` when it uses more processor time in the context.

    A timer and not ``RLIMIT_CPU``: that counts from the start of the process, in the kernel's own
    ticks, which no call tells. On a busy machine they drift from the time that calls tell, and
    an old child would be ended by what others used.
    """
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
