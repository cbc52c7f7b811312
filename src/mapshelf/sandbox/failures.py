"""Remembers which tasks failed in a child process, so that they are not repeated at once.

A map that exceeds a limit costs a child as much time as the limit allows, and the same bytes cost
it again. Only where the machine may be the reason (``pool.is_temporary``) is a task worth another
attempt, after a while.
"""

from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Final, NamedTuple

from mapshelf.sandbox.pool import is_temporary

MOST_FAILURES: Final = 1000
"""Maximum failures to remember; one more, and all others are forgotten."""


class TaskFailure(NamedTuple):
    """A task that failed.

    Attributes:
        reason: why, in one line.
        retry_after: seconds until it may be tried again, infinite if it would fail again.
    """

    reason: str
    retry_after: float

    @property
    def is_temporary(self) -> bool:
        """Whether it may be tried again later."""
        return self.retry_after < inf


class TaskFailures:
    """The failed tasks of one worker, by key. It is thread-safe."""

    def __init__(self, retry_after: float, now: Callable[[], float] = monotonic) -> None:
        """Remember nothing yet.

        Args:
            retry_after: seconds until a task is tried again that failed because of the machine.
            now: returns the time in seconds.
        """
        self._retry_after = retry_after
        self._now = now
        self._known: dict[str, tuple[str, float]] = {}  # why, and the time of the next attempt

    def add(self, key: str, error: BaseException) -> TaskFailure:
        """Remember that the task with this key failed, and return the failure."""
        failure = TaskFailure(cause_of(error), self._retry_after if is_temporary(error) else inf)
        if len(self._known) >= MOST_FAILURES:
            self._known.clear()
        self._known[key] = failure.reason, self._now() + failure.retry_after
        return failure

    def get(self, key: str) -> TaskFailure | None:
        """Return the failure of a task, ``None`` if it has not failed or may be tried again."""
        reason, until = self._known.get(key, ("", -inf))
        left = until - self._now()
        return TaskFailure(reason, left) if left > 0 else None


def cause_of(error: BaseException) -> str:
    """Return why a task failed, in one line; errors of pools and of memory have no message."""
    return str(error) or type(error).__name__
