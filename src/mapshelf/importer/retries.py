"""When to read files again whose reading was ended from outside.

A refused file is read again when it changes. But the system may have killed the process that read
it because memory was short, a file server may have hung, and a clock may have been corrected. None
of that is the file's fault, so it is read again later, ever less often: a file that always ends its
reader must not cost much.
"""

from collections.abc import Collection
from heapq import nsmallest
from time import monotonic
from typing import Final, NamedTuple

DELAYS: Final = (300.0, 900.0, 3600.0, 21_600.0)
"""Seconds before the first, second, third and each later retry."""

MOST_AT_ONCE: Final = 10
"""Files that are read again at a time: each may take as long as the limit, and others wait."""


class Retries:
    """The files to read again, by path."""

    def __init__(self) -> None:
        self._files: dict[str, _Retry] = {}

    def due(self) -> set[str]:
        """Return the paths of some files to read again now, those that are due longest."""
        now = monotonic()
        due = {path: file.due for path, file in self._files.items() if file.due <= now}
        return set(nsmallest(MOST_AT_ONCE, due, key=due.__getitem__))

    def note(self, read: Collection[str], interrupted: Collection[str]) -> None:
        """Note which files were read, and for which of them that was ended from outside."""
        now = monotonic()
        for path in interrupted:
            attempts = self._files[path].attempts if path in self._files else 0
            delay = DELAYS[min(attempts, len(DELAYS) - 1)]
            self._files[path] = _Retry(attempts + 1, now + delay)
        for path in set(read).difference(interrupted):
            self._files.pop(path, None)

    def forget_missing(self, present: Collection[str]) -> None:
        """Forget files that are not there any more."""
        self._files = {path: file for path, file in self._files.items() if path in present}


class _Retry(NamedTuple):
    """A file to read again: how often its reading was ended, and when to read it (monotonic)."""

    attempts: int
    due: float
