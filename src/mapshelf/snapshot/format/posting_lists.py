"""Define the file format of posting lists.

A posting list holds, for one filter value, the ranks in one order of the maps that have the value.
Short lists are stored as plain numbers, long ones as roaring bitmaps. All lists of an order are in
one file. A worker reads a list when a request first needs it, and caches the recent ones.

Source: S. Chambi, D. Lemire et al., "Better bitmap performance with Roaring bitmaps" (2016).
"""

from typing import Final

LISTS: Final = "sets.bin"
"""The file of all posting lists of an order.

Next to it are arrays with their filter keys (``keys``), numbers of ranks (``counts``) and offsets
(``ends``), and with the range of lists of each filter (``filters``).
"""

ARRAY_LIMIT: Final = 1024
"""Maximum length of a list that is stored as plain numbers; longer ones are stored as bitmaps."""
