"""Counting who looks at maps and takes them along, without knowing who anybody is."""

from mapshelf.visits.bot_filter import Sender
from mapshelf.visits.counter import VisitCounter

__all__ = ["Sender", "VisitCounter"]
