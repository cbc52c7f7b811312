"""The queues of work that parses files, in which files that take long do not delay the others.

Work begins in the quick queue. If its file takes long, it is done again, from the beginning, in
another queue, whose files wait only for each other. That a file takes long is known only after a
second, in which nobody else's file is parsed. So for a while, the further files of whoever sent it
are parsed in that other queue at once, even those that were waiting already.
"""

import threading
from collections.abc import Callable, Hashable
from functools import partial
from time import monotonic
from typing import Final, TypeVar

from mapshelf.api.upload_reader import QUICK_SECONDS, UploadReader
from mapshelf.api.work_queue import Disconnection, FindOwner, WorkQueue
from mapshelf.errors import TooSlow
from mapshelf.lru_cache import LRUCache
from mapshelf.model import UploadedFile
from mapshelf.readers.parsing.limits import Limits

T = TypeVar("T")

PATIENT_FOR: Final = 300.0
"""Seconds for which files of an owner count as such that take long, after one that did."""

MOST_OWNERS: Final = 4096
"""Maximum owners to remember."""


class TakesLong(Exception):
    """Work needs a file that takes long, and is to be done where such files are parsed."""


class UploadQueue(WorkQueue):
    """Runs work that parses files. If a file takes long, the work is done in another queue."""

    def __init__(self, name: str, threads: int, waiting: int, long_work: WorkQueue) -> None:
        """Create the queue; see ``WorkQueue``.

        Args:
            name: the name of its threads.
            threads: see ``WorkQueue``.
            waiting: likewise.
            long_work: where work is done whose file takes long.
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
        if not self._takes_long(whose):
            try:
                quickly = partial(self._quickly, make, whose)
                return await super().result(key, quickly, disconnection, owner)
            except TakesLong:
                pass
        patiently = partial(_patiently, make)
        return await self._long_work.result(key, patiently, disconnection, owner)

    def check_room(self, owner: FindOwner | None = None) -> None:
        """Reject work early, before its file is received; see ``WorkQueue``."""
        if owner and self._takes_long(owner()):
            self._long_work.check_room(owner)
        else:
            super().check_room(owner)

    def _quickly(self, make: Callable[[], T], owner: Hashable) -> T:
        if self._takes_long(owner):  # another file of this owner did, while this one waited
            raise TakesLong
        try:
            return make()
        except TakesLong:
            self._patient_until.put(owner, monotonic() + PATIENT_FOR)
            raise

    def _takes_long(self, owner: Hashable) -> bool:
        until = self._patient_until.get(owner)
        return until is not None and monotonic() < until


class PatientReader:
    """Parses two files at a time, for an ``UploadQueue``: one that takes long, and another one.

    Attributes:
        quick: parses files that do not take long.
        slow: parses the others.
    """

    def __init__(self) -> None:
        self.quick = UploadReader(Limits(cpu_seconds=QUICK_SECONDS))
        self.slow = UploadReader()

    def read(self, name: str, content: bytes) -> UploadedFile:
        """Parse a map file (see ``UploadReader.read``).

        Raises:
            TakesLong: it takes long, and this is not in the thread for such files.
            UnreadableFile: it is refused.
            StoreUnavailable: the service is shutting down.
        """
        if is_patient():
            return self.slow.read(name, content)
        try:
            return self.quick.read(name, content)
        except TooSlow:
            raise TakesLong from None

    def close(self) -> None:
        """Kill the children, even if they are parsing files."""
        self.quick.close()
        self.slow.close()


_THREAD: Final = threading.local()


def is_patient() -> bool:
    """Return whether this thread does work that needs a file that takes long."""
    return getattr(_THREAD, "is_patient", False)


def _patiently(make: Callable[[], T]) -> T:
    """Return the result of ``make``, in which ``read`` waits for files that take long."""
    _THREAD.is_patient = True
    try:
        return make()
    finally:
        _THREAD.is_patient = False
