"""Bounded queues for work that takes too long for the event loop: done in threads, each task once.

Every kind of work has its own queue (searches, pages, pictures, large documents), so that one kind
never waits for another. A full queue rejects work at once: being told to try again in a second is
better than waiting for a minute, and memory stays bounded. For the same reason, work that has
waited too long for its turn is given up: nobody can tell beforehand how long the work before it
takes.

Clients that request the same thing while it is being made wait for the same result. Work that has
not begun is dropped when its last waiting client disconnects. Work that has begun is finished,
because threads cannot be stopped, and the result is cached for the next client.

Where it is known whose work it is, those who ask for some take turns: what somebody asks for waits
for one task of each other user, not for all that one of them has asked for before.

A ``ThreadPoolExecutor`` alone has no limit, and keeps cancelled work until a thread is free.
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
"""Seconds that work waits to begin, unless its queue says otherwise."""

LONGEST_RETRY: Final = 60
"""Most seconds that a client is told to wait before it tries again."""

_LATEST_SHARE: Final = 0.25
"""How much the last task counts in what a task takes."""

MOST_OWNERS: Final = 1000
"""Owners of work whose last turn is remembered; when there are more, all are forgotten."""

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
    """The queue of one kind of work in one worker. For use in its event loop only.

    Attributes:
        counts: what was done and refused so far.
    """

    def __init__(
        self, name: str, threads: int, waiting: int, longest: float = LONGEST_WAIT
    ) -> None:
        """Create the queue.

        Args:
            name: the name of its threads.
            threads: how many tasks are done at a time.
            waiting: how many more may wait; further ones are rejected.
            longest: seconds that work waits to begin, before it is given up.
        """
        self._executor = ThreadPoolExecutor(threads, name)
        self._free = self._threads = threads
        self.counts = TaskCounts()
        self._usual = 0.0  # seconds that a task takes
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
        """How many tasks wait."""
        return len(self._queue)

    @property
    def running(self) -> int:
        """How many tasks are being done."""
        return len(self._running)

    async def result(
        self,
        key: Hashable,
        make: Callable[[], T],
        disconnection: Disconnection | None = None,
        owner: Hashable = None,
    ) -> T:
        """Return the result of ``make``, run in a thread, or of a run that others wait for.

        Args:
            key: equal for work that has the same result.
            make: called without arguments in a thread.
            disconnection: reports when the client disconnects, if known.
            owner: whose work it is; owners take turns. Work without an owner waits for no turn.

        Raises:
            Overloaded: the queue is full, or the work did not begin in time.
            Ending: the queue is closed.
            ClientDisconnected: the client hung up while the work waited for its turn, or while
                somebody else's was done.
        """
        joined = self._jobs.get(key)
        job = joined or self._add(key, make, owner)
        job.clients += 1
        try:
            # Clients that have hung up must not wait for the result of another request: when it
            # is made, all of them would be answered at once.
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
        """Refuse what would be refused anyway, before anything is done for it.

        Raises:
            Overloaded: the queue is full.
        """
        if not self._free and len(self._queue) >= self._waiting:
            self.counts.refused += 1
            raise Overloaded("there is more to do than can be done soon", self._retry_after())

    async def close(self) -> None:
        """Finish the work that has begun, drop the rest, and take no more."""
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
        """Begin waiting work while threads are free."""
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
        """Return the key of the work to begin: of who had the last turn longest ago."""
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
            job.result.exception()  # perhaps nobody waits any longer, which is not an error
        else:
            job.result.set_result(done.result())
        self._begin()

    def _drop(self, key: Hashable, job: _Job) -> None:
        if self._queue.get(key) is job:  # and no later one with this key
            del self._queue[key], self._jobs[key]
            _end_waiting(job)
            job.result.cancel()

    def _retry_after(self) -> int:
        """Return the seconds in which what waits now will have been done, as far as is known."""
        # What runs may take much longer than usual.
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
        job.result.exception()  # perhaps nobody waits any longer, which is not an error


def _end_waiting(job: _Job) -> None:
    if job.expiry is not None:
        job.expiry.cancel()


async def until_done(result: "asyncio.Future[Any]", disconnection: Disconnection) -> None:
    """Wait until there is a result, as long as the client that wants it is there.

    Raises:
        ClientDisconnected: the client disconnected before.
    """
    hung_up = asyncio.ensure_future(disconnection())
    try:
        await asyncio.wait({result, hung_up}, return_when=asyncio.FIRST_COMPLETED)
        if not result.done():
            raise ClientDisconnected("the client hung up")
    finally:
        hung_up.cancel()
