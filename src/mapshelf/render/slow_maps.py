"""Track the rendering time of each map, so that one slow map cannot delay others.

Each image has limits of its own, but a map may have hundreds of images that stay just below them.
The CPU time of slow images is therefore added up per map. When the total reaches ``MOST_SECONDS``,
no further image of that map is rendered for a while; images in the cache are still shown. Ordinary
images take some hundredths of a second and are never counted.
"""

from threading import Lock
from typing import Final

SLOW: Final = 1.0
"""Seconds of CPU time from which an image counts. CPU time does not grow on a busy machine."""

MOST_SECONDS: Final = 6.0
"""Maximum CPU seconds for all slow images of a map."""

FORGIVEN_AFTER: Final = 600.0
"""Seconds after the last slow image of a map until its total is reset."""

_MOST_MAPS: Final = 1000


class SlowMaps:
    """The maps with slow images. It is thread-safe."""

    def __init__(self) -> None:
        self._spent: dict[int, tuple[float, float]] = {}  # seconds, and when they expire
        self._changing = Lock()

    def note(self, file_id: int, seconds: float, now: float) -> None:
        """Record that an image of a map took this many ``seconds`` of CPU time."""
        if seconds < SLOW:
            return
        with self._changing:
            if len(self._spent) >= _MOST_MAPS:
                self._spent.clear()
            before, until = self._spent.get(file_id, (0.0, now))
            spent = seconds + (before if until > now else 0.0)
            self._spent[file_id] = spent, now + FORGIVEN_AFTER

    def has_spent_its_time(self, file_id: int, now: float) -> bool:
        """Return whether no further image of a map should be rendered now."""
        spent, until = self._spent.get(file_id, (0.0, now))
        return spent >= MOST_SECONDS and until > now
