"""A feedback queue with two levels: work that takes long does not delay other work.

Work begins in the quick queue. If it takes long, it is done again, from the beginning, in another
queue, whose work waits only for its own kind. That work takes long is known only after seconds, in
which the work of others waits. So it is remembered (``sandbox.long_tasks``). Documents that take
very long are held against the owner of the map (``documents``); uploads, former versions and
comparisons that take long, against the user who sent or requested them.
"""

import threading
from collections.abc import Callable, Hashable
from functools import partial
from typing import Final, TypeVar

from mapshelf.api.work_queue import Disconnection, FindOwner, WorkQueue
from mapshelf.sandbox.long_tasks import LongTasks

T = TypeVar("T")


class TakesLong(Exception):
    """Work takes long, and is to be done where other work does not wait for it."""


class WouldTakeLong(TakesLong):
    """Work like this took long; it has not been tried."""


class _OwnerTakesLong(TakesLong):
    """Other work of the owner took long; this has not been tried."""


class FeedbackQueue(WorkQueue):
    """Runs work. If it takes long, it is done in another queue."""

    def __init__(self, name: str, threads: int, waiting: int, long_work: WorkQueue) -> None:
        """Create the queue; see ``WorkQueue``.

        Args:
            name: the name of its threads.
            threads: see ``WorkQueue``.
            waiting: likewise.
            long_work: where work is done that takes long.
        """
        super().__init__(name, threads, waiting)
        self._long_work = long_work

    async def result(
        self,
        key: Hashable,
        make: Callable[[], T],
        disconnection: Disconnection | None = None,
        owner: FindOwner | None = None,
    ) -> T:
        """Return the result of ``make``; see ``WorkQueue``.

        If ``make`` raises ``TakesLong``, it is called again from the beginning.
        """
        try:
            return await super().result(key, partial(_quickly, make), disconnection, owner)
        except TakesLong:
            return await self._long_work.result(key, make, disconnection, owner)


class OwnerFeedbackQueue(FeedbackQueue):
    """Runs work. If some takes long, all further work of its owner is done in another queue.

    That includes work that was waiting already.
    """

    def __init__(self, name: str, threads: int, waiting: int, long_work: WorkQueue) -> None:
        """Create the queue; see ``FeedbackQueue``."""
        super().__init__(name, threads, waiting, long_work)
        self._take_long = LongTasks()

    async def result(
        self,
        key: Hashable,
        make: Callable[[], T],
        disconnection: Disconnection | None = None,
        owner: FindOwner | None = None,
    ) -> T:
        """Return the result of ``make``; see ``FeedbackQueue``."""
        whose = owner() if owner else None
        while whose not in self._take_long:
            try:
                one_of_owner = partial(self._one_of_owner, make, whose)
                return await WorkQueue.result(self, key, one_of_owner, disconnection, owner)
            except _OwnerTakesLong:
                pass  # perhaps not this one, but whoever requested the same before
            except TakesLong:
                break
        return await self._long_work.result(key, make, disconnection, owner)

    def check_room(self, owner: FindOwner | None = None) -> None:
        """Reject work early, before anything is prepared for it; see ``WorkQueue``."""
        if owner and owner() in self._take_long:
            self._long_work.check_room(owner)
        else:
            super().check_room(owner)

    def _one_of_owner(self, make: Callable[[], T], owner: Hashable) -> T:
        if owner in self._take_long:  # other work of this owner did, while this waited
            raise _OwnerTakesLong
        try:
            return _quickly(make)
        except WouldTakeLong:
            raise
        except TakesLong:
            self._take_long.add(owner)
            raise


_THREAD: Final = threading.local()


def _quickly(make: Callable[[], T]) -> T:
    _THREAD.is_quick = True
    try:
        return make()
    finally:
        _THREAD.is_quick = False


def must_be_quick() -> bool:
    """Return whether this thread does work that is to raise ``TakesLong`` if it takes long."""
    return getattr(_THREAD, "is_quick", False)
