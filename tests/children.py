"""Reuse child processes: the service of a test takes over those of earlier services.

Starting a child and importing our modules in it takes a third of a second of processor time, more
than most tasks of tests. The reused pools are real ones. A pool that is still working when its test
ends is not reused.

Limits on elapsed time are raised, because a test must not fail when the machine is busy. Limits on
processor time stay as they are.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from threading import Lock
from typing import Any, ClassVar, Final, TypeVar

import pytest

from mapshelf.api import documents, drawings, map_detail, thumbnails
from mapshelf.readers import sandboxed_reader
from mapshelf.render import formula_worker, image_worker, render_worker
from mapshelf.sandbox import pool
from mapshelf.sandbox.pool import ConfinedPool

T = TypeVar("T")

PATIENCE: Final = 300.0
"""Elapsed seconds allowed for a task, and for all pictures of a map."""

Kind = tuple[int, int, int, int, int]
"""The arguments that a pool was created with."""


Idle = defaultdict[Kind, list[ConfinedPool]]
"""The unused pools, by the arguments that they were created with."""


@contextmanager
def idle_children() -> Iterator[type["LentPool"]]:
    """Yield a class of pools that reuse each other's children inside the ``with`` block."""

    class Lent(LentPool):
        idle: ClassVar[Idle] = defaultdict(list)

    yield Lent
    Lent.over = True
    for pools in Lent.idle.values():
        for one in pools:
            one.close()


@contextmanager
def lent_children(lent: type["LentPool"]) -> Iterator[None]:
    """Make services reuse the children of earlier ones inside the ``with`` block."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (pool, sandboxed_reader):
            patch.setattr(module, "ConfinedPool", lent)
        for module in (documents, formula_worker, image_worker, render_worker):
            patch.setattr(module, "WALL_SECONDS", PATIENCE)
        for module in (drawings, map_detail, thumbnails):
            patch.setattr(module, "PICTURE_SECONDS", PATIENCE)
        yield


class LentPool:
    """Works like ``ConfinedPool``, with a pool that another service used before."""

    idle: ClassVar[Idle]
    allowed = True
    """Whether the current test may start processes: it may if ``make test-fast`` leaves it out."""
    over = False
    """Whether the tests have ended, so that pools are closed instead of reused."""

    def __init__(
        self, workers: int, memory: int, descriptors: int, niceness: int = 0, file_size: int = 0
    ) -> None:
        self._kind: Kind = (workers, memory, descriptors, niceness, file_size)
        self._lent: ConfinedPool | None = None
        self._unfinished: list[Future[Any]] = []
        self._changing = Lock()
        self.closed = False

    def submit(
        self, function: Callable[..., T], arguments: tuple[object, ...], seconds: float
    ) -> "Future[T]":
        assert self.allowed, "mark a test that starts child processes: @pytest.mark.process"
        with self._changing:
            if self.closed:
                future: Future[T] = Future()
                future.set_exception(BrokenProcessPool("the pool has been closed"))
                return future
            if self._lent is None:
                pools = self.idle[self._kind]
                self._lent = pools.pop() if pools else ConfinedPool(*self._kind)
            future = self._lent.submit(function, arguments, seconds)
            self._unfinished = [one for one in self._unfinished if not one.done()] + [future]
            return future

    def result(self, future: "Future[T]") -> T:
        lent = self._lent
        return future.result() if lent is None else lent.result(future)

    def expect(self, tasks: int) -> None:
        workers, *limits = self._kind
        if self._lent is None:
            self._kind = (max(1, min(workers, tasks)), *limits)  # type: ignore[assignment]

    def require_children(self) -> None:
        if self._lent is not None:
            self._lent.require_children()

    def restart(self) -> None:
        if self._lent is not None:
            self._lent.restart()

    def close(self) -> None:
        with self._changing:
            self.closed = True
            lent, self._lent = self._lent, None
        if lent is None:
            return
        if not self.over and all(one.done() for one in self._unfinished):
            self.idle[self._kind].append(lent)
        else:
            lent.close()
