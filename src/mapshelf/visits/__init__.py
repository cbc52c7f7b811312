"""Counting who looks at maps and takes them along, without knowing who anybody is."""

from mapshelf.visits.counter import VisitCounter
from mapshelf.visits.people import Sender

__all__ = ["Sender", "VisitCounter"]
