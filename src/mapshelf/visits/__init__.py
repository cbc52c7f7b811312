"""Count views and downloads of maps without identifying anybody."""

from mapshelf.visits.bot_filter import Sender
from mapshelf.visits.counter import VisitCounter

__all__ = ["Sender", "VisitCounter"]
