"""Posting lists: for each filter value the ranks, in one order, of the maps that have it.

Short lists are stored as plain numbers, long ones as roaring bitmaps. All lists of an order are in
one file. A worker reads a list when a request first needs it, and caches the recent ones.

Source: S. Chambi, D. Lemire et al., "Better bitmap performance with Roaring bitmaps" (2016).
"""

from typing import Final

LISTS: Final = "sets.bin"
"""The file of all posting lists of an order; beside it are arrays of their keys and sizes."""

ARRAY_LIMIT: Final = 1024
"""Most ranks of a list that is stored as plain numbers; longer lists are stored as bitmaps."""
