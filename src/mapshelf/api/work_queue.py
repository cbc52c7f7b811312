"""Work that takes too long for the event loop: in threads, bounded, and each piece done once.

Every kind of work has a queue of its own (searches, pages, pictures, large documents), so that one
kind never waits for another. A queue that is full turns work away at once: a client that is told
to come back in a second is better off than one that waits for a minute, and what waits is bounded.

Clients that ask for the same while it is being made wait for the same result. Work that has not
begun is dropped when the last client that waits for it hangs up; work that has begun is finished,
because threads cannot be stopped and the result is kept for the next client.

A ``ThreadPoolExecutor`` alone has no bound, and holds what was cancelled until a thread is free.
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
"""Called, gives what ends when the client of a request hangs up."""


@dataclass(slots=True)
class _Job:
    make: Callable[[], Any]
    result: "asyncio.Future[Any]"
    begun: bool = False
    clients: int = 0


class WorkQueue:
    """The queue of one kind of work in one worker. For use in its event loop alone."""

    def __init__(self, name: str, threads: int, waiting: int) -> None:
        """Prepare the queue.

        Args:
            name: what to call its threads.
            threads: how many pieces of work are done at a time.
            waiting: how many more may wait; further ones are turned away.
        """
        self._executor = ThreadPoolExecutor(threads, name)
        self._free = threads
        self._waiting = waiting
        self._jobs: dict[Hashable, _Job] = {}
        self._queue: dict[Hashable, _Job] = {}

    async def result(
        self, key: Hashable, make: Callable[[], T], disconnection: Disconnection | None = None
    ) -> T:
        """Return what ``make`` makes in a thread, or has begun to make for somebody else.

        Args:
            key: equal for work that has the same result.
            make: called without arguments in a thread.
            disconnection: tells when the client hangs up, if that can be told.

        Raises:
            Overloaded: the queue is full.
            ClientDisconnected: the client hung up while the work waited for its turn, or while
                somebody else's was done.
        """
        joined = self._jobs.get(key)
        job = joined or self._add(key, make)
        job.clients += 1
        try:
            # Of many who ask for the same and hang up, none may be left when it is made: all of
            # them would be answered at once.
            if (joined or not job.begun) and disconnection is not None:
                await _until_done(job.result, disconnection)
            # Shielded: others may wait for the same.
            result: T = await asyncio.shield(job.result)
            return result
        finally:
            job.clients -= 1
            if not job.clients and not job.begun:
                self._drop(key, job)

    async def close(self) -> None:
        """Wait for what has begun; do nothing more."""
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
        """Begin what waits, as far as threads are free."""
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
            job.result.exception()  # nobody may be waiting any more, which is no fault
        else:
            job.result.set_result(done.result())
        self._begin()

    def _drop(self, key: Hashable, job: _Job) -> None:
        if self._queue.pop(key, None) is not None:
            del self._jobs[key]
            job.result.cancel()


async def _until_done(result: "asyncio.Future[Any]", disconnection: Disconnection) -> None:
    """Wait until there is a result.

    Raises:
        ClientDisconnected: the client hung up before.
    """
    hung_up = asyncio.ensure_future(disconnection())
    try:
        await asyncio.wait({result, hung_up}, return_when=asyncio.FIRST_COMPLETED)
        if not result.done():
            raise ClientDisconnected("the client hung up")
    finally:
        hung_up.cancel()
