"""When to synchronize the catalogue with folders again.

Each synchronization looks at all files, which takes seconds for 100,000 files. So folders in which
something changes all the time, and large ones in which nothing does, must not take a processor.
"""

from typing import Final

from mapshelf.service.folder_changes import LONG_INTERVAL

SHORT_INTERVAL: Final = 1.0
"""Seconds between synchronizations while a file is being written."""

SHARE: Final = 20.0
LONGEST_INTERVAL: Final = 300.0
"""Without a notification, the time between synchronizations is ``LONG_INTERVAL`` or, if that is
longer, this multiple of what one takes, but at most so many seconds."""

LONGEST_PAUSE: Final = 5.0
"""Seconds to wait at most after a synchronization, which is for as long as it took."""


class SyncSchedule:
    """Decides when to synchronize. All times are in seconds of one clock."""

    def __init__(self) -> None:
        """Begin: the first time is at once."""
        self._changed = True
        self._due = 0.0
        self._soonest = 0.0

    def note_change(self) -> None:
        """Note that something may have changed in the folders."""
        self._changed = True

    def note_failure(self, ended: float, pause: float) -> None:
        """Note that synchronizing failed, and is to be tried again after ``pause`` seconds."""
        self._changed = False
        self._due = self._soonest = ended + pause

    def is_due(self, now: float) -> bool:
        """Return whether to synchronize now."""
        return now >= self._soonest and (self._changed or now >= self._due)

    def note_sync(self, began: float, ended: float, *, again_soon: bool) -> None:
        """Note a synchronization, and whether some files are to be looked at again soon."""
        self._changed = False
        took = ended - began
        interval = max(LONG_INTERVAL, min(SHARE * took, LONGEST_INTERVAL))
        self._due = ended + (SHORT_INTERVAL if again_soon else interval)
        self._soonest = ended + min(took, LONGEST_PAUSE)
