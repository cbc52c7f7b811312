"""Statistics of a catalogue, for monitoring."""

from typing import Protocol

from mapshelf.model import Figures


class StoreFigures(Protocol):
    """Reads statistics."""

    def clock_difference(self) -> float:
        """Return by how many seconds our clock is ahead of the database's.

        It is exact to the time that the query takes, and 0 if the database has no clock of its own.
        """

    def figures(self) -> Figures:
        """Return the current statistics.

        MUST take well under a second with a million maps, because monitoring systems poll every few
        seconds. The figures need not be from the same instant.
        """
