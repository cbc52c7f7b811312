"""Bounded queues for work that takes too long for the event loop: done in threads, each task once.

Every kind of work has its own queue (searches, pages, pictures, large documents), so that one kind
never waits for another. A full queue rejects work at once: being told to try again in a second is
better than waiting for a minute, and memory stays bounded.

Clients that request the same thing while it is being made wait for the same result. Work that has
not begun is dropped when its last waiting client disconnects. Work that has begun is finished,
because threads cannot be stopped, and the result is cached for the next client.

A ``ThreadPoolExecutor`` alone has no limit, and keeps cancelled work until a thread is free.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from mapshelf.errors import ClientDisconnected, Overloaded

T = TypeVar("T")

Disconnection = Callable[[], Awaitable[None]]
"""Returns an awaitable that ends when the client of a request disconnects."""


@dataclass(slots=True)
class _Job:
    make: Callable[[], Any]
    result: "asyncio.Future[Any]"
    begun: bool = False
    clients: int = 0


class WorkQueue:
    """The queue of one kind of work in one worker. For use in its event loop only."""

    def __init__(self, name: str, threads: int, waiting: int) -> None:
        """Create the queue.

        Args:
            name: the name of its threads.
            threads: how many tasks are done at a time.
            waiting: how many more may wait; further ones are rejected.
        """
        self._executor = ThreadPoolExecutor(threads, name)
        self._free = threads
        self._waiting = waiting
        self._jobs: dict[Hashable, _Job] = {}
        self._queue: dict[Hashable, _Job] = {}

    async def result(
        self, key: Hashable, make: Callable[[], T], disconnection: Disconnection | None = None
    ) -> T:
        """Return the result of ``make``, run in a thread, or of a run that others wait for.

        Args:
            key: equal for work that has the same result.
            make: called without arguments in a thread.
            disconnection: reports when the client disconnects, if known.

        Raises:
            Overloaded: the queue is full.
            ClientDisconnected: the client hung up while the work waited for its turn, or while
                somebody else's was done.
        """
        joined = self._jobs.get(key)
        job = joined or self._add(key, make)
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

    async def close(self) -> None:
        """Finish the work that has begun, and drop the rest."""
        for key, job in list(self._queue.items()):
            self._drop(key, job)
        await asyncio.to_thread(self._executor.shutdown)

    def _add(self, key: Hashable, make: Callable[[], Any]) -> _Job:
        if not self._free and len(self._queue) >= self._waiting:
            raise Overloaded("there is more to do than can be done soon")
        job = _Job(make, asyncio.get_running_loop().create_future())
        self._jobs[key] = self._queue[key] = job
        self._begin()
        return job

    def _begin(self) -> None:
        """Begin waiting work while threads are free."""
        while self._free and self._queue:
            key = next(iter(self._queue))
            job = self._queue.pop(key)
            job.begun = True
            self._free -= 1
            working = asyncio.get_running_loop().run_in_executor(self._executor, job.make)
            working.add_done_callback(partial(self._end, key, job))

    def _end(self, key: Hashable, job: _Job, done: "asyncio.Future[Any]") -> None:
        self._free += 1
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
        if self._queue.pop(key, None) is not None:
            del self._jobs[key]
            job.result.cancel()


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
