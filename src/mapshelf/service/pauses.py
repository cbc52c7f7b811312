"""Pauses in work that is not urgent, so that others get the disk and the database in between."""

import threading
import time


class Pauses:
    """Pauses that take as long as the work before them."""

    def __init__(self, stop: threading.Event, longest: float) -> None:
        """Begin the work.

        Args:
            stop: set when the service stops; it ends a pause.
            longest: seconds that a pause takes at most.
        """
        self._stop = stop
        self._longest = longest
        self._began = time.monotonic()

    def pause(self) -> bool:
        """Pause; return whether to stop."""
        stopped = self._stop.wait(min(time.monotonic() - self._began, self._longest))
        self._began = time.monotonic()
        return stopped
