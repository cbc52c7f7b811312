"""Bounded queues for work that is too slow for the event loop: run in threads, each task once.

Every kind of work has its own queue (searches, pages, pictures, large documents), so that one kind
never waits for another. A full queue rejects work at once: an error that asks to retry in a second
is better than a wait of a minute, and memory stays bounded. For the same reason, work that has
waited too long for its turn is dropped: the duration of the work before it cannot be predicted.

Clients that request the same thing while it is being made share the result. Work that has not
started is dropped when its last waiting client disconnects. Work that has started is finished,
because threads cannot be stopped, and the result is cached for the next client.

Whoever requests most must not crowd out the others. So the owners of waiting work take turns
(``turns.py``), fewer after work that took long. New work is accepted by a full queue if its owner
has less waiting than another: then the newest work of the other is refused instead.

A ``ThreadPoolExecutor`` by itself has no limit, and holds cancelled work until a thread is free.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from time import monotonic
from typing import Any, Final, TypeVar

from mapshelf.api.turns import SHORT, Turns
from mapshelf.api.waiting_requests import WaitingLimit, overloaded
from mapshelf.errors import ClientDisconnected, Ending, Overloaded
from mapshelf.metrics.counts import TaskCounts

T = TypeVar("T")

LONGEST_WAIT: Final = 20.0
"""Default maximum seconds that work waits to start."""

LONGEST_RETRY: Final = 60
"""Maximum ``Retry-After`` in seconds."""

_LATEST_SHARE: Final = 0.25
"""The weight of the last task in the moving average of task durations."""

Disconnection = Callable[[], Awaitable[None]]
"""Returns an awaitable that ends when the client of a request disconnects."""


Around = Callable[[], AbstractContextManager[None]]
"""Returns a context manager for a task to run in."""

FindOwner = Callable[[], Hashable]
"""Returns the owner of work. It is called only if the work has to wait."""


@dataclass(slots=True, eq=False)
class Job:
    """Work to do once, for all who wait for it."""

    key: Hashable
    make: Callable[[], Any]
    claims: "dict[Hashable, _Claim]" = field(default_factory=dict)
    asked: float = field(default_factory=monotonic)
    begun: bool = False
    is_refused: bool = False
    began: float = 0.0
    turn_of: FindOwner | None = None


@dataclass(slots=True, eq=False)
class _Claim:
    """The clients of one owner that wait for the same job."""

    job: Job
    owner: Hashable
    result: "asyncio.Future[Any]"
    clients: int = 0
    expiry: asyncio.TimerHandle | None = None

    def is_waiting(self) -> bool:
        """Return whether the job has not begun, and this owner still wants it."""
        return not self.job.begun and self.job.claims.get(self.owner) is self

    def end_waiting(self) -> None:
        """Stop the time limit for waiting."""
        if self.expiry is not None:
            self.expiry.cancel()


class WorkQueue:
    """The queue of one kind of work in one worker. Use it in its event loop only.

    Attributes:
        counts: the counters of finished and refused tasks.
        limit: bounds how many requests wait, those for work that has begun included.
    """

    def __init__(
        self,
        name: str,
        threads: int,
        waiting: int,
        longest: float = LONGEST_WAIT,
        around: Around = nullcontext,
    ) -> None:
        """Create the queue.

        Args:
            name: the name of its threads.
            threads: how many tasks run at a time.
            waiting: how many more may wait; further ones are rejected.
            longest: maximum seconds that work waits to start before it is dropped.
            around: makes a context manager for each task to run in.
        """
        self._around = around
        self._executor = ThreadPoolExecutor(threads, name)
        self._free = self._threads = threads
        self.counts = TaskCounts()
        self.limit = WaitingLimit()
        self._usual = 0.0  # average seconds of a task
        self._waiting = waiting
        self._longest = longest
        self._closed = False
        self._jobs: dict[Hashable, Job] = {}
        self._turns: Turns[Job] = Turns()
        self._running: set[Job] = set()
        self._began_at_once: FindOwner | None = None

    @property
    def waiting(self) -> int:
        """The number of waiting tasks."""
        return len(self._turns)

    @property
    def running(self) -> int:
        """The number of running tasks."""
        return len(self._running)

    async def result(
        self,
        key: Hashable,
        make: Callable[[], T],
        disconnection: Disconnection | None = None,
        owner: FindOwner | None = None,
    ) -> T:
        """Return the result of ``make``, run in a thread, or of an equal task that is pending.

        Args:
            key: equal for work that has the same result.
            make: called without arguments in a thread.
            disconnection: reports when the client disconnects, if known.
            owner: returns whose work it is; without it, it is that of the service itself.

        Raises:
            Overloaded: the queue is full, others have less waiting in it, the work did not start
                in time, or too many requests wait (``limit``).
            Ending: the queue is closed.
            ClientDisconnected: the client disconnected while it waited for its own task, or for an
                equal task of another client.
        """
        joined = self._pending(key)
        if disconnection is not None and (joined or not self._free):
            self._check_limit(owner)
        claim = self._join(joined, owner) if joined else self._add(key, make, owner)
        claim.clients += 1
        try:
            # Disconnected clients must not wait for the result of another request: when it is
            # ready, all of them would be answered at once.
            if (joined or not claim.job.begun) and disconnection is not None:
                with self.limit.waiting(owner() if owner else None) as turn:
                    await until_done(claim.result, disconnection, turn)
            # Shielded: others may wait for the same result.
            result: T = await asyncio.shield(claim.result)
            return result
        finally:
            claim.clients -= 1
            if not claim.clients and claim.is_waiting():
                self._withdraw(claim)
            # An error refers to this frame, and a claim to the error. In a cycle, they would stay
            # in memory until the next full garbage collection, with all data of the work.
            del claim, joined

    def check_room(self, owner: FindOwner | None = None) -> None:
        """Reject work early if it cannot wait, before preparing anything for it.

        Raises:
            Overloaded: the queue is full, and no other owner has more waiting in it.
        """
        if not self._free and self._is_full():
            self._displaced_by(owner() if owner else None)

    async def close(self) -> None:
        """Finish running work, drop waiting work, and accept no more."""
        self._closed = True
        waiting = [job for job in self._jobs.values() if not job.begun]
        for claim in [claim for job in waiting for claim in job.claims.values()]:
            self._withdraw(claim)
            claim.result.cancel()
        await asyncio.to_thread(self._executor.shutdown)

    def _pending(self, key: Hashable) -> Job | None:
        """Return the pending work that equal work may join."""
        return self._jobs.get(key)

    def _check_limit(self, owner: FindOwner | None) -> None:
        try:
            self.limit.check_room(owner() if owner else None)
        except Overloaded:
            self.counts.refused += 1
            raise

    def _is_full(self) -> bool:
        return len(self._turns) >= self._waiting

    def _displaced_by(self, owner: Hashable) -> Job:
        """Return the waiting work that is to make room for new work of an owner.

        Raises:
            Overloaded: no other owner has more waiting.
        """
        displaced = self._turns.displaced_by(owner)
        if displaced is None:
            raise self._refusal()
        return displaced

    def _refusal(self) -> Overloaded:
        self.counts.refused += 1
        return Overloaded("there is more to do than can be done soon", self._retry_after())

    def _add(self, key: Hashable, make: Callable[[], Any], owner: FindOwner | None) -> _Claim:
        """Begin work, or let it wait.

        Raises:
            Overloaded: the queue is full, and no other owner has more waiting.
            Ending: the queue is closed.
        """
        if self._closed:
            raise Ending("the service is shutting down")
        job, busy = Job(key, make), self._busy()
        if self._free and not (busy and owner and owner() in busy):
            self._jobs[key] = job
            claim = _claim(job, None)
            self._begin(job, owner)
            self._began_at_once = owner
            return claim
        whose = owner() if owner else None
        if self._is_full():
            displaced = self._displaced_by(whose)
            for claim in list(displaced.claims.values()):
                self._refuse(claim, self._refusal())
        self._jobs[key] = job
        return self._wait(job, whose)

    def _join(self, job: Job, owner: FindOwner | None) -> _Claim:
        """Let a further client wait for pending work."""
        # Once it runs, it makes no difference who waits for it.
        whose = None if job.begun or owner is None else owner()
        if job.begun or whose in job.claims:
            return _claim(job, whose)
        return self._wait(job, whose)

    def _wait(self, job: Job, owner: Hashable) -> _Claim:
        """Let an owner wait for work that has not begun."""
        claim = _claim(job, owner)
        if self._began_at_once is not None:  # who had that turn matters only now
            self._turns.note_turn(self._began_at_once())
            self._began_at_once = None
        self._turns.add(owner, job)
        later = asyncio.get_running_loop().call_later
        claim.expiry = later(self._longest, self._give_up, claim)
        return claim

    def _begin(self, job: Job, turn_of: FindOwner | None) -> None:
        """Start work in a free thread, at the turn of an owner."""
        job.begun, job.began, job.turn_of = True, monotonic(), turn_of
        self._free -= 1
        self._running.add(job)
        for claim in job.claims.values():
            claim.end_waiting()
        loop = asyncio.get_running_loop()
        try:
            working = loop.run_in_executor(self._executor, self._do, job)
        except RuntimeError:  # the system does not permit another thread
            job.is_refused = True  # for the executor keeps it for its next thread
            working = loop.create_future()
            working.set_exception(Overloaded("no thread can be started"))
        working.add_done_callback(partial(self._end, job))

    def _busy(self) -> set[Hashable]:
        """Return the owners whose work must wait although a thread is free."""
        return set()

    def _do(self, job: Job) -> Any:
        """Do work, unless its clients were told that it would not be done."""
        if job.is_refused:
            return None
        with self._around():
            return job.make()

    def _end(self, job: Job, done: "asyncio.Future[Any]") -> None:
        self._free += 1
        self._running.discard(job)
        took = monotonic() - job.began
        self.counts.done += 1
        self.counts.waited += job.began - job.asked
        self.counts.worked += took
        self._usual += _LATEST_SHARE * (took - self._usual) if self._usual else took
        if self._jobs.get(job.key) is job:
            del self._jobs[job.key]
        for claim in job.claims.values():
            _pass_on(done, claim.result)
        job.claims.clear()  # see ``result``
        if took >= SHORT and job.turn_of is not None:
            self._turns.note_length(job.turn_of(), took)
        while self._free and (following := self._turns.take(self._busy())):
            self._begin(following, partial(_known, self._turns.last))

    def _withdraw(self, claim: _Claim) -> None:
        """Let an owner no longer wait for work that has not begun."""
        job = claim.job
        claim.end_waiting()
        self._turns.remove(claim.owner, job)
        del job.claims[claim.owner]
        if not job.claims:
            del self._jobs[job.key]

    def _refuse(self, claim: _Claim, error: Overloaded) -> None:
        """Tell the clients of an owner that their work will not be done."""
        self._withdraw(claim)
        claim.result.set_exception(error)
        claim.result.exception()  # retrieve it, since all clients may have gone

    def _give_up(self, claim: _Claim) -> None:
        self.counts.late += 1
        late = Overloaded("what is done before takes too long", self._retry_after())
        self._refuse(claim, late)

    def _retry_after(self) -> int:
        """Return the estimated seconds until the waiting work is done."""
        # Running tasks may take much longer than usual.
        now = monotonic()
        running = [now - job.began for job in self._running]
        usual = max([self._usual, *running])
        waiting = len(self._turns) + len(running)
        return min(LONGEST_RETRY, max(1, ceil(waiting * usual / self._threads)))


def _known(owner: Hashable) -> Hashable:
    """Return an owner who is known already, as a ``FindOwner``."""
    return owner


def _claim(job: Job, owner: Hashable) -> _Claim:
    """Return the claim of an owner to work, a new one if there is none."""
    claim = job.claims.get(owner)
    if claim is None:
        result = asyncio.get_running_loop().create_future()
        claim = job.claims[owner] = _Claim(job, owner, result)
    return claim


def _pass_on(done: "asyncio.Future[Any]", result: "asyncio.Future[Any]") -> None:
    """Let a future have the result of another, which is done."""
    if done.cancelled():
        result.cancel()
    elif error := done.exception():
        result.set_exception(error)
        result.exception()  # retrieve it, since all clients may have gone
    else:
        result.set_result(done.result())


async def until_done(
    result: "asyncio.Future[Any]",
    disconnection: Disconnection,
    turn: "asyncio.Future[bool] | None" = None,
) -> None:
    """Wait until there is a result, while the client is connected.

    Args:
        result: the result.
        disconnection: reports when the client disconnects.
        turn: done first if the client has to make room (``WaitingRequests``).

    Raises:
        ClientDisconnected: the client disconnected first.
        Overloaded: it has to make room.
    """
    hung_up = asyncio.ensure_future(disconnection())
    ends = {result, hung_up, turn} if turn else {result, hung_up}
    try:
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if result.done():
            return
        if turn and turn.done():
            raise overloaded()
        raise ClientDisconnected("the client hung up")
    finally:
        hung_up.cancel()
