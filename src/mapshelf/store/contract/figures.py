"""Figures: how much there is of what operators watch."""

from typing import Protocol

from mapshelf.model import Figures


class StoreFigures(Protocol):
    """Counts what is there."""

    def figures(self) -> Figures:
        """Return how much there is.

        MUST take well below a second with a million maps: a monitoring system asks every few
        seconds. The figures need not be of exactly the same moment.
        """
