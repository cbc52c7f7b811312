"""A feedback queue with two levels: work that takes long does not delay other work.

Work begins in the quick queue. If it takes long, it is done again, from the beginning, in another
queue, whose work waits only for its own kind. That work takes long is known only after seconds, in
which the work of others waits. So for a while, all further work of the same owner is done in that
other queue at once, even if it was waiting already.
"""

import threading
from collections.abc import Callable, Hashable
from functools import partial
from time import monotonic
from typing import Final, TypeVar

from mapshelf.api.work_queue import Disconnection, FindOwner, WorkQueue
from mapshelf.lru_cache import LRUCache

T = TypeVar("T")

PATIENT_FOR: Final = 300.0
"""Seconds for which work of an owner counts as such that takes long, after some that did."""

MOST_OWNERS: Final = 4096
"""Maximum owners to remember."""


class TakesLong(Exception):
    """Work takes long, and is to be done where other work does not wait for it."""


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
        self._patient_until: LRUCache[Hashable, float] = LRUCache(MOST_OWNERS)

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
        whose = owner() if owner else None
        while not self._takes_long(whose):
            try:
                quickly = partial(self._quickly, make, whose)
                return await super().result(key, quickly, disconnection, owner)
            except _OwnerTakesLong:
                pass  # perhaps not this one, but whoever requested the same before
            except TakesLong:
                break
        return await self._long_work.result(key, make, disconnection, owner)

    def check_room(self, owner: FindOwner | None = None) -> None:
        """Reject work early, before anything is prepared for it; see ``WorkQueue``."""
        if owner and self._takes_long(owner()):
            self._long_work.check_room(owner)
        else:
            super().check_room(owner)

    def _quickly(self, make: Callable[[], T], owner: Hashable) -> T:
        if self._takes_long(owner):  # other work of this owner did, while this waited
            raise _OwnerTakesLong
        _THREAD.is_quick = True
        try:
            return make()
        except TakesLong:
            self._patient_until.put(owner, monotonic() + PATIENT_FOR)
            raise
        finally:
            _THREAD.is_quick = False

    def _takes_long(self, owner: Hashable) -> bool:
        until = self._patient_until.get(owner)
        return until is not None and monotonic() < until


_THREAD: Final = threading.local()


def must_be_quick() -> bool:
    """Return whether this thread does work that is to raise ``TakesLong`` if it takes long."""
    return getattr(_THREAD, "is_quick", False)
