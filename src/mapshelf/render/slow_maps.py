"""Track the rendering time of each map, so that one slow map cannot delay others.

A picture has limits of its own, but a map may have hundreds that stay just below them. So slow
pictures count for their map, and when they have taken so much time together, no further picture of
it is made for a while; those in the cache are shown. Ordinary pictures take some hundredths of a
second and never count.
"""

from threading import Lock
from typing import Final

SLOW: Final = 1.0
"""Seconds of processor time from which a picture counts: a busy machine makes none slow."""

MOST_SECONDS: Final = 6.0
"""For all slow pictures of a map together."""

FORGIVEN_AFTER: Final = 600.0
"""Seconds after the last slow picture of a map until more of its pictures are made."""

_MOST_MAPS: Final = 1000


class SlowMaps:
    """The maps with slow pictures. It may be used from several threads."""

    def __init__(self) -> None:
        self._spent: dict[int, tuple[float, float]] = {}  # seconds, and until when they count
        self._changing = Lock()

    def note(self, file_id: int, seconds: float, now: float) -> None:
        """Note that making a picture of a map took so many ``seconds`` of processor time."""
        if seconds < SLOW:
            return
        with self._changing:
            if len(self._spent) >= _MOST_MAPS:
                self._spent.clear()
            before, until = self._spent.get(file_id, (0.0, now))
            spent = seconds + (before if until > now else 0.0)
            self._spent[file_id] = spent, now + FORGIVEN_AFTER

    def has_spent_its_time(self, file_id: int, now: float) -> bool:
        """Return whether no further picture of a map is to be made now."""
        spent, until = self._spent.get(file_id, (0.0, now))
        return spent >= MOST_SECONDS and until > now
