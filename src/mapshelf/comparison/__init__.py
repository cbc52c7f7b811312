"""What two maps have in common, and what is different: decided from their outlines alone."""

from mapshelf.comparison.differences import Branch, Change, Comparison, Facts, Move, Spot, compare

__all__ = ["Branch", "Change", "Comparison", "Facts", "Move", "Spot", "compare"]
