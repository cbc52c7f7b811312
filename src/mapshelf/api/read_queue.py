"""A work queue for tasks that read from the store.

A task that has begun may have read already. So a request joins none: it might not see a change that
was acknowledged before it came, for instance that a map is private now.
"""

from collections.abc import Hashable

from mapshelf.api.work_queue import Job, WorkQueue


class ReadQueue(WorkQueue):
    """Lets requests share a task only until it begins."""

    def _pending(self, key: Hashable) -> Job | None:
        job = super()._pending(key)
        return None if job and job.begun else job
