"""When to read files again whose reading was ended from outside.

A refused file is read again when it changes. But the system may have killed the process that read
it because memory was short, a file server may have hung, and a clock may have been corrected. None
of that is the file's fault, so it is read again later, ever less often: a file that always ends its
reader must not cost much.
"""

from collections.abc import Collection
from heapq import nsmallest
from math import inf
from time import monotonic
from typing import Final, NamedTuple

DELAYS: Final = (300.0, 900.0, 3600.0, 21_600.0)
"""Seconds before the first, second, third and each later retry."""

AWAITED_ATTEMPTS: Final = 2
"""Attempts after which the maps of missing files no longer wait for a file that may be one."""

AWAITED_FOR: Final = 3600.0
"""Seconds for which they wait at most. Many files are not all read again that soon."""

MOST_AT_ONCE: Final = 10
"""Files that are read again at a time: each may take as long as the limit, and others wait."""


class Retries:
    """The files to read again, by path."""

    def __init__(self) -> None:
        self._files: dict[str, _Retry] = {}
        self._awaited: set[str] = set()

    def due(self) -> set[str]:
        """Return the paths of some files to read again now, those that are due longest."""
        now = monotonic()
        due = {path: file.due for path, file in self._files.items() if file.due <= now}
        return set(nsmallest(MOST_AT_ONCE, due, key=due.__getitem__))

    def waiting_since(self) -> float:
        """Return when the first of the awaited files failed (monotonic)."""
        now = monotonic()
        awaited = (one for path, one in self._files.items() if path in self._awaited)
        since = (one.since for one in awaited if one.attempts <= AWAITED_ATTEMPTS)
        return min((one for one in since if now - one < AWAITED_FOR), default=inf)

    def note(
        self,
        read: Collection[str],
        interrupted: Collection[str],
        awaited: Collection[str] = (),
    ) -> None:
        """Note which files were read, and for which of them that was ended from outside.

        ``awaited`` are those of the latter that may be a missing file, moved.
        """
        now = monotonic()
        self._awaited = self._awaited.difference(read).union(awaited)
        for path in interrupted:
            before = self._files.get(path, _Retry(0, now, now))
            delay = DELAYS[min(before.attempts, len(DELAYS) - 1)]
            self._files[path] = _Retry(before.attempts + 1, before.since, now + delay)
        for path in set(read).difference(interrupted):
            self._files.pop(path, None)

    def paths(self) -> Collection[str]:
        """Return the paths of all files to read again."""
        return self._files.keys()

    def forget_missing(self, present: Collection[str]) -> None:
        """Forget files that are not there any more."""
        self._files = {path: file for path, file in self._files.items() if path in present}


class _Retry(NamedTuple):
    """A file to read again.

    Attributes:
        attempts: how often its reading was ended.
        since: when it was ended first (monotonic).
        due: when to read it again (monotonic).
    """

    attempts: int
    since: float
    due: float
