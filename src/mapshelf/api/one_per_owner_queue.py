"""A work queue for tasks that wait for others, such as an OpenID provider, and may do so for long.

Threads that wait cost little, so there can be several. But nobody must occupy all of them, for
instance with codes for which the provider does not respond.
"""

from collections.abc import Hashable

from mapshelf.api.work_queue import WorkQueue


class OnePerOwnerQueue(WorkQueue):
    """Runs at most one task of each owner at a time, even if threads are free."""

    def _busy(self) -> set[Hashable]:
        return {job.turn_of() for job in self._running if job.turn_of is not None}
