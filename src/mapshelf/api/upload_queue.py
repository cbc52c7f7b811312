"""The queue of uploads, in which files that take long do not delay the others."""

from collections.abc import Callable, Hashable
from functools import partial
from typing import TypeVar

from mapshelf.api.upload_reader import TakesLong
from mapshelf.api.work_queue import Disconnection, FindOwner, WorkQueue

T = TypeVar("T")


class UploadQueue(WorkQueue):
    """Runs work that parses files. If a file takes long, the work is done in another queue."""

    def __init__(self, name: str, threads: int, waiting: int, long_uploads: WorkQueue) -> None:
        """Create the queue; see ``WorkQueue``."""
        super().__init__(name, threads, waiting)
        self._long_uploads = long_uploads

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
            return await super().result(key, make, disconnection, owner)
        except TakesLong as found:
            again = partial(found.reader.patiently, make)
        return await self._long_uploads.result(key, again, disconnection, owner)
