"""Statistics of a catalogue, for monitoring."""

from typing import Protocol

from mapshelf.model import Figures


class StoreFigures(Protocol):
    """Reads statistics."""

    def figures(self) -> Figures:
        """Return the current statistics.

        MUST take well under a second with a million maps, because monitoring systems poll every few
        seconds. The figures need not be from the same instant.
        """
