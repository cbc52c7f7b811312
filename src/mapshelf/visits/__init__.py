"""Count views and downloads of maps without identifying anybody."""

from mapshelf.visits.counter import VisitCounter

__all__ = ["VisitCounter"]
