"""A pool of sandboxed child processes for untrusted input, limited by the operating system.

Map files are parsed and drawn in child processes that have limits on memory, CPU time and
wall-clock time and cannot write files. Input that our code does not handle costs one file or one
image, never the service.

* Children are spawned, not forked: they share no memory with the parent and inherit only the pool's
  pipes. Each child runs many tasks, because starting one costs more than parsing a hundred maps, so
  the CPU limit applies to each task. The limit is lifted before the result is sent, so that no
  child dies while sending.
* The pools are pebble's, because those of the standard library can neither cancel a task after a
  timeout nor survive the death of a worker.
* The memory limit is relative to the child's size at startup: with the spawn method, the child
  imports the parent's main module, whatever that loads.
* The output of children is discarded: messages of failing native code describe its own internals,
  and the parent logs what failed.
* A keyboard interrupt reaches the whole process group. Children start with SIGINT blocked, so the
  parent decides how to shut down. If the parent dies, the pipe closes and the children exit.
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
from threading import RLock, Timer
from time import monotonic
from typing import Any, Final, TypeVar

from pebble import ProcessExpired, ProcessPool

from mapshelf.errors import StoreUnavailable

T = TypeVar("T")

FAILURES: Final = (TimeoutError, ProcessExpired, BrokenProcessPool, MemoryError)
"""Exceptions raised when a child dies during a task or exceeds a limit."""

IDLE_SECONDS: Final = 300.0
"""Seconds after the last task after which children end. Each takes up to 60 MB of memory, and their
pool wakes up twenty times a second. Starting a child again takes half a second."""

_DEATHS: Final = (TimeoutError, ProcessExpired, BrokenProcessPool)
"""Those of ``FAILURES`` after which the child is replaced."""

_ANSWERS_WITHIN: Final = 30.0  # seconds
_LOST_AFTER: Final = 1.0  # seconds after which a task is looked for that its pool may have lost
_STANDARD_ERROR: Final = 2  # a descriptor: native code knows no ``sys.stderr``
_NICENESS: Final = 10
"""Niceness of a ``ConfinedChild``: tasks of seconds must not slow requests of microseconds."""


def is_temporary(error: BaseException) -> bool:
    """Return whether the machine, and not the task, may be why a child failed.

    The child took too long by the clock, or was killed from outside, for instance because the
    machine ran out of memory. A child that exceeds a limit of its own dies of another signal.
    """
    return _was_killed(error) or isinstance(error, TimeoutError | BrokenProcessPool)


def _was_killed(error: BaseException | None) -> bool:
    """Return whether a child was killed from outside."""
    return isinstance(error, ProcessExpired) and error.exitcode == -signal.SIGKILL


def is_out_of_time(error: BaseException) -> bool:
    """Return whether a child was killed because it exceeded its ``processor_time``."""
    return isinstance(error, ProcessExpired) and error.exitcode == -signal.SIGPROF


class ConfinedPool:
    """Child processes for one kind of task.

    They start on the first task, and end when there has been none for a while.
    """

    def __init__(
        self, workers: int, memory: int, descriptors: int, niceness: int = 0, file_size: int = 0
    ) -> None:
        """Prepare the pool.

        Args:
            workers: number of children.
            memory: bytes that each child may allocate beyond its size at startup.
            descriptors: maximum number of open file descriptors per child.
            niceness: niceness of each child.
            file_size: maximum size in bytes of a file that a child may write.
        """
        self._workers = self._most_workers = workers
        self._niceness = niceness
        self._limits = (memory, descriptors, file_size)
        self._pool: ProcessPool | None = None
        self._children = _Children(niceness)
        self._unfinished: set[Future[Any]] = set()
        self._changing = RLock()
        self._closed = False
        self._is_damaged = False
        self._used = 0.0
        self._idle_check: Timer | None = None

    @property
    def closed(self) -> bool:
        """Whether the pool has been closed."""
        return self._closed

    def submit(
        self, function: Callable[..., T], arguments: tuple[object, ...], seconds: float
    ) -> "Future[T]":
        """Call ``function`` in a child, which is killed after ``seconds``.

        ``result`` waits for the return value.

        Raises:
            StoreUnavailable: the system lacks what a child needs, such as room in ``/dev/shm``.
        """
        with self._changing:
            try:
                future: Future[T] = self._ready().schedule(
                    function, args=arguments, timeout=seconds
                )
            except (RuntimeError, BrokenProcessPool) as error:  # broken since the check
                future = Future()
                future.set_exception(BrokenProcessPool(str(error)))
                return future
            self._unfinished.add(future)
        future.add_done_callback(self._note_finished)
        return future

    def result(self, future: "Future[T]") -> T:
        """Wait for the result of a submitted task.

        Raises:
            TimeoutError: the task took too long.
            ProcessExpired: the child died.
            BrokenProcessPool: a child died for an unknown reason, or the pool was closed.
            Exception: what the function raised.
        """
        while True:
            try:
                return future.result(_LOST_AFTER)
            except TimeoutError:  # timeout of the task, or only of this wait
                if future.done():
                    return future.result()
                self._give_up_lost_tasks()

    def expect(self, tasks: int) -> None:
        """Limit the children to this number of tasks, until ``expect`` is called again."""
        wanted = max(1, min(self._most_workers, tasks))
        with self._changing:
            if wanted > self._workers and not self._unfinished:
                self._stop()
            if self._pool is None:
                self._workers = wanted

    def require_children(self) -> None:
        """Check that a child can do a task.

        Raises:
            StoreUnavailable: no child can be started.
        """
        try:
            self.result(self.submit(os.getpid, (), _ANSWERS_WITHIN))
        except FAILURES as error:
            raise StoreUnavailable("no child process can be started") from error

    def restart(self) -> None:
        """Kill the children without finishing their tasks; the next task starts others."""
        self._stop()

    def close(self) -> None:
        """Kill the children without finishing their tasks, and reject further tasks."""
        self._closed = True
        self._stop()

    def _note_finished(self, future: "Future[Any]") -> None:
        self._unfinished.discard(future)
        self._used = monotonic()
        # Who is killed while it sends a result leaves part of it, and a lock that others wait for.
        if not future.cancelled() and _was_killed(future.exception()):
            self._is_damaged = True

    def _check_for_idleness(self, seconds: float) -> None:
        """Look again after ``seconds`` whether the children are idle."""
        self._idle_check = Timer(seconds, self._stop_if_idle)
        self._idle_check.daemon = True
        self._idle_check.start()

    def _stop_if_idle(self) -> None:
        with self._changing:
            if self._pool is None or self._closed:
                return
            idle = 0.0 if self._unfinished else monotonic() - self._used
            if idle < IDLE_SECONDS:
                self._check_for_idleness(IDLE_SECONDS - idle)
            else:
                self._stop()

    def _give_up_lost_tasks(self) -> None:
        with self._changing:
            if self._pool is not None and not self._is_usable():
                self._stop()

    def _is_usable(self) -> bool:
        return self._pool is not None and self._pool.active and not self._is_damaged

    def _stop(self) -> None:
        with self._changing:
            pool, self._pool = self._pool, None
            if self._idle_check is not None:
                self._idle_check.cancel()
            if pool is not None:
                self._end(pool)
            # pebble leaves the tasks of a stopping pool pending, so callers would wait for ever.
            for future in tuple(self._unfinished):
                with suppress(InvalidStateError):
                    future.set_exception(BrokenProcessPool("the pool has been stopped"))

    def _end(self, pool: ProcessPool) -> None:
        pool.stop()  # type: ignore[no-untyped-call]
        self._children.end()
        pool.join()

    def _ready(self) -> ProcessPool:
        if self._closed:
            raise BrokenProcessPool("the pool has been closed")
        if self._pool is None or not self._is_usable():
            self._stop()
            try:
                self._pool = self._start()
            except OSError as error:
                reason = f"no child process can be started: {error.strerror or error}"
                raise StoreUnavailable(f"{reason} (is /dev/shm full or read-only?)") from error
        return self._pool

    def _start(self) -> ProcessPool:
        self._children = _Children(self._niceness)
        self._is_damaged = False  # its predecessor may have reported the children that it killed
        pool = ProcessPool(
            max_workers=self._workers,
            initializer=_confine,
            initargs=self._limits,
            context=self._children,
        )
        # Threads and processes inherit the signal mask, including children that replace others
        # later. The resource tracker would unblock the signal if it were not already running.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            _ = pool.active  # the first access starts it
            self._used = monotonic()
            self._check_for_idleness(IDLE_SECONDS)
        except BaseException:  # some children and threads may have been started
            self._end(pool)
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return pool


class ConfinedChild:
    """A single child whose callers block until the result. Thread-safe."""

    def __init__(self, memory: int, descriptors: int, file_size: int = 0) -> None:
        """Prepare the child; see ``ConfinedPool`` for the limits."""
        self._pool = ConfinedPool(1, memory, descriptors, _NICENESS, file_size)
        self._has_run_a_task = False

    def call(self, function: Callable[..., T], arguments: tuple[object, ...], seconds: float) -> T:
        """Call ``function`` in the child and return its result.

        Raises:
            StoreUnavailable: the child has been closed.
            Exception: one of ``FAILURES``, or what the function raised.
        """
        others_before = self._has_run_a_task
        try:
            try:
                return self._called(function, arguments, seconds)
            except BrokenProcessPool:  # the child may have died before it got the task
                pass
            except (MemoryError, ProcessExpired) as error:
                if not (others_before and _lacked_memory(error)):
                    raise
                # They may have used it.
                self._pool.restart()
            return self._called(function, arguments, seconds)
        except Exception as error:
            if self._pool.closed:
                raise StoreUnavailable("the service is stopping") from error
            raise

    def close(self) -> None:
        """Kill the child without finishing its task, and reject further tasks."""
        self._pool.close()

    def _called(
        self, function: Callable[..., T], arguments: tuple[object, ...], seconds: float
    ) -> T:
        future = self._pool.submit(function, arguments, seconds)
        try:
            return self._pool.result(future)
        finally:
            died = future.done() and isinstance(future.exception(), _DEATHS)
            self._has_run_a_task = not died


def _lacked_memory(error: MemoryError | ProcessExpired) -> bool:
    """Return whether a task may have lacked memory, without which native code aborts."""
    return isinstance(error, MemoryError) or error.exitcode == -signal.SIGABRT


class _Children(SpawnContext):
    """Starts the children of one pool, and can kill them immediately.

    The pool by itself would remove the locks of children that are still starting, which would then
    print a traceback.
    """

    def __init__(self, niceness: int) -> None:
        super().__init__()
        self._niceness = niceness
        self._made: list[SpawnProcess] = []
        self._ended = False

    def Process(self, *arguments: Any, **named: Any) -> SpawnProcess:  # type: ignore[override]  # noqa: N802
        """Create a child; part of the context interface that the pool expects."""
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
    """A child with raised niceness from the start, because its imports take time, too."""

    def __init__(self, niceness: int, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._niceness = niceness

    def start(self) -> None:
        """Start it."""
        super().start()
        assert self.pid is not None
        with suppress(ProcessLookupError):  # it is already dead
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
    if sys.platform == "linux":  # other systems do not limit address space, or do not report it
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
    """Kill this process with ``SIGPROF`` if the block uses more CPU time than ``seconds``.

    This uses a timer because ``RLIMIT_CPU`` counts from the start of the process, in kernel ticks
    that no call reports. On a busy machine the ticks drift from the reported time, and a
    long-running child would be killed for time that others used.
    """
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
