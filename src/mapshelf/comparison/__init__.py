"""Compare two maps by their outlines: match topics and list the differences."""

from mapshelf.comparison.differences import Branch, Change, Comparison, Facts, Move, Spot, compare

__all__ = ["Branch", "Change", "Comparison", "Facts", "Move", "Spot", "compare"]
