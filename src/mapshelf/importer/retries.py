"""When to read files again whose reading was ended from outside.

A refused file is read again when it changes. But the system may have killed the process that read
it because memory was short, a file server may have hung, and a clock may have been corrected. None
of that is the file's fault, so it is read again later, ever less often: a file that always ends its
reader must not cost much.
"""

from collections.abc import Collection
from heapq import nsmallest
from time import monotonic
from typing import Final

DELAYS: Final = (300.0, 900.0, 3600.0, 21_600.0)
"""Seconds before the first, second, third and each later retry."""

MOST_AT_ONCE: Final = 10
"""Files that are read again at a time: each may take as long as the limit, and others wait."""


class Retries:
    """The files to read again, by path."""

    def __init__(self) -> None:
        self._attempts: dict[str, int] = {}
        self._due: dict[str, float] = {}

    def due(self) -> set[str]:
        """Return the paths of some files to read again now, those that are due longest."""
        now = monotonic()
        due = (path for path, at in self._due.items() if at <= now)
        return set(nsmallest(MOST_AT_ONCE, due, key=self._due.__getitem__))

    def note(self, read: Collection[str], interrupted: Collection[str]) -> None:
        """Note which files were read, and for which of them that was ended from outside."""
        now = monotonic()
        for path in interrupted:
            attempts = self._attempts.get(path, 0)
            self._attempts[path] = attempts + 1
            self._due[path] = now + DELAYS[min(attempts, len(DELAYS) - 1)]
        for path in set(read).difference(interrupted):
            self._attempts.pop(path, None)
            self._due.pop(path, None)

    def forget_missing(self, present: Collection[str]) -> None:
        """Forget files that are not there any more."""
        for path in [path for path in self._due if path not in present]:
            del self._attempts[path], self._due[path]
