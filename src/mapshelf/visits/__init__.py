"""Count views and downloads of maps without identifying visitors."""

from mapshelf.visits.counter import VisitCounter

__all__ = ["VisitCounter"]
