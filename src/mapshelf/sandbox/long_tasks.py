"""Remembers which tasks took long, so that others do not wait while that is found out again.

That a task takes long is known only after seconds. So after one that did, all tasks of the same
group count as such for a while, for instance the drawings of all maps of one owner.
"""

from collections.abc import Callable, Hashable
from time import monotonic
from typing import Final

from mapshelf.lru_cache import LRUCache

REMEMBERED_FOR: Final = 300.0
"""Seconds for which all tasks of a group count as such that take long, after one that did."""

MOST_GROUPS: Final = 4096
"""Maximum groups to remember."""


class LongTasks:
    """The groups of tasks that take long, in one worker. It is thread-safe."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        """Remember nothing yet; ``now`` returns the time in seconds."""
        self._now = now
        self._until: LRUCache[Hashable, float] = LRUCache(MOST_GROUPS)

    def add(self, group: Hashable) -> None:
        """Remember that a task of this group took long."""
        self._until.put(group, self._now() + REMEMBERED_FOR)

    def __contains__(self, group: Hashable) -> bool:
        """Return whether a task of this group took long a short time ago."""
        until = self._until.get(group)
        return until is not None and self._now() < until
