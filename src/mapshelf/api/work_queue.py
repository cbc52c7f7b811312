"""Bounded queues for work that is too slow for the event loop: run in threads, each task once.

Every kind of work has its own queue (searches, pages, pictures, large documents), so that one kind
never waits for another. A full queue rejects work at once: an error that asks to retry in a second
is better than a wait of a minute, and memory stays bounded. For the same reason, work that has
waited too long for its turn is dropped: the duration of the work before it cannot be predicted.

Clients that request the same thing while it is being made share the result. Work that has not
started is dropped when its last waiting client disconnects. Work that has started is finished,
because threads cannot be stopped, and the result is cached for the next client.

If the owners of work are known, they take turns: each task waits for at most one task of each other
user, not for all that one user has requested before.

A ``ThreadPoolExecutor`` by itself has no limit, and holds cancelled work until a thread is free.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from time import monotonic
from typing import Any, Final, TypeVar

from mapshelf.errors import ClientDisconnected, Ending, Overloaded
from mapshelf.metrics.counts import TaskCounts

T = TypeVar("T")

LONGEST_WAIT: Final = 20.0
"""Default maximum seconds that work waits to start."""

LONGEST_RETRY: Final = 60
"""Maximum ``Retry-After`` in seconds."""

_LATEST_SHARE: Final = 0.25
"""The weight of the last task in the moving average of task durations."""

MOST_OWNERS: Final = 1000
"""Most owners whose last turn is remembered; at the limit, all are forgotten."""

Disconnection = Callable[[], Awaitable[None]]
"""Returns an awaitable that ends when the client of a request disconnects."""


@dataclass(slots=True, eq=False)
class _Job:
    make: Callable[[], Any]
    result: "asyncio.Future[Any]"
    owner: Hashable = None
    asked: float = field(default_factory=monotonic)
    begun: bool = False
    began: float = 0.0
    clients: int = 0
    expiry: asyncio.TimerHandle | None = None


class WorkQueue:
    """The queue of one kind of work in one worker. Use it in its event loop only.

    Attributes:
        counts: the counters of finished and refused tasks.
    """

    def __init__(
        self, name: str, threads: int, waiting: int, longest: float = LONGEST_WAIT
    ) -> None:
        """Create the queue.

        Args:
            name: the name of its threads.
            threads: how many tasks run at a time.
            waiting: how many more may wait; further ones are rejected.
            longest: maximum seconds that work waits to start before it is dropped.
        """
        self._executor = ThreadPoolExecutor(threads, name)
        self._free = self._threads = threads
        self.counts = TaskCounts()
        self._usual = 0.0  # average seconds of a task
        self._waiting = waiting
        self._longest = longest
        self._closed = False
        self._jobs: dict[Hashable, _Job] = {}
        self._queue: dict[Hashable, _Job] = {}
        self._running: set[_Job] = set()
        self._turns = itertools.count(1)
        self._last_turns: dict[Hashable, int] = {}

    @property
    def waiting(self) -> int:
        """The number of waiting tasks."""
        return len(self._queue)

    @property
    def running(self) -> int:
        """The number of running tasks."""
        return len(self._running)

    async def result(
        self,
        key: Hashable,
        make: Callable[[], T],
        disconnection: Disconnection | None = None,
        owner: Hashable = None,
    ) -> T:
        """Return the result of ``make``, run in a thread, or of an equal task that is pending.

        Args:
            key: equal for work that has the same result.
            make: called without arguments in a thread.
            disconnection: reports when the client disconnects, if known.
            owner: the owner of the work; owners take turns. Work without an owner takes no turns.

        Raises:
            Overloaded: the queue is full, or the work did not start in time.
            Ending: the queue is closed.
            ClientDisconnected: the client disconnected while it waited for its own task, or for an
                equal task of another client.
        """
        joined = self._jobs.get(key)
        job = joined or self._add(key, make, owner)
        job.clients += 1
        try:
            # Disconnected clients must not wait for the result of another request: when it is
            # ready, all of them would be answered at once.
            if (joined or not job.begun) and disconnection is not None:
                await until_done(job.result, disconnection)
            # Shielded: others may wait for the same result.
            result: T = await asyncio.shield(job.result)
            return result
        finally:
            job.clients -= 1
            if not job.clients and not job.begun:
                self._drop(key, job)

    def check_room(self) -> None:
        """Reject work early if the queue is full, before preparing anything for it.

        Raises:
            Overloaded: the queue is full.
        """
        if not self._free and len(self._queue) >= self._waiting:
            self.counts.refused += 1
            raise Overloaded("there is more to do than can be done soon", self._retry_after())

    async def close(self) -> None:
        """Finish running work, drop waiting work, and accept no more."""
        self._closed = True
        for key, job in list(self._queue.items()):
            self._drop(key, job)
        await asyncio.to_thread(self._executor.shutdown)

    def _add(self, key: Hashable, make: Callable[[], Any], owner: Hashable) -> _Job:
        if self._closed:
            raise Ending("the service is shutting down")
        self.check_room()
        job = _Job(make, asyncio.get_running_loop().create_future(), owner)
        self._jobs[key] = self._queue[key] = job
        self._begin()
        if not job.begun:
            later = asyncio.get_running_loop().call_later
            job.expiry = later(self._longest, self._give_up, key, job)
        return job

    def _begin(self) -> None:
        """Start waiting work while threads are free."""
        while self._free and self._queue:
            key = self._next()
            job = self._queue.pop(key)
            if job.owner is not None:
                self._note_turn(job.owner)
            job.begun, job.began = True, monotonic()
            _end_waiting(job)
            self._free -= 1
            self._running.add(job)
            working = asyncio.get_running_loop().run_in_executor(self._executor, job.make)
            working.add_done_callback(partial(self._end, key, job))

    def _next(self) -> Hashable:
        """Return the key of the next work: of the owner whose last turn was longest ago."""
        if not self._last_turns:
            return next(iter(self._queue))
        return min(self._queue, key=lambda key: self._last_turns.get(self._queue[key].owner, 0))

    def _note_turn(self, owner: Hashable) -> None:
        if len(self._last_turns) >= MOST_OWNERS:
            self._last_turns.clear()
        self._last_turns[owner] = next(self._turns)

    def _end(self, key: Hashable, job: _Job, done: "asyncio.Future[Any]") -> None:
        self._free += 1
        self._running.discard(job)
        took = monotonic() - job.began
        self.counts.done += 1
        self.counts.waited += job.began - job.asked
        self.counts.worked += took
        self._usual += _LATEST_SHARE * (took - self._usual) if self._usual else took
        del self._jobs[key]
        if done.cancelled():
            job.result.cancel()
        elif error := done.exception():
            job.result.set_exception(error)
            job.result.exception()  # retrieve it, since all clients may have gone
        else:
            job.result.set_result(done.result())
        self._begin()

    def _drop(self, key: Hashable, job: _Job) -> None:
        if self._queue.get(key) is job:  # not a later job with the same key
            del self._queue[key], self._jobs[key]
            _end_waiting(job)
            job.result.cancel()

    def _retry_after(self) -> int:
        """Return the estimated seconds until the waiting work is done."""
        # Running tasks may take much longer than usual.
        now = monotonic()
        running = [now - job.began for job in self._running]
        usual = max([self._usual, *running])
        waiting = len(self._queue) + len(running)
        return min(LONGEST_RETRY, max(1, ceil(waiting * usual / self._threads)))

    def _give_up(self, key: Hashable, job: _Job) -> None:
        del self._queue[key], self._jobs[key]
        self.counts.late += 1
        late = Overloaded("what is done before takes too long", self._retry_after())
        job.result.set_exception(late)
        job.result.exception()  # retrieve it, since all clients may have gone


def _end_waiting(job: _Job) -> None:
    if job.expiry is not None:
        job.expiry.cancel()


async def until_done(result: "asyncio.Future[Any]", disconnection: Disconnection) -> None:
    """Wait until there is a result, while the client is connected.

    Raises:
        ClientDisconnected: the client disconnected first.
    """
    hung_up = asyncio.ensure_future(disconnection())
    try:
        await asyncio.wait({result, hung_up}, return_when=asyncio.FIRST_COMPLETED)
        if not result.done():
            raise ClientDisconnected("the client hung up")
    finally:
        hung_up.cancel()
