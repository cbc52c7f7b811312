"""The rating of a map, in which few votes cannot outrank many, and its popularity.

Popularity breaks ties between maps that match a search equally well.

Source of the rating: E. B. Wilson, "Probable inference, the law of succession, and statistical
inference", Journal of the American Statistical Association 22 (1927).
"""

from math import log2, sqrt
from typing import Final

from mapshelf.model import Map

Z: Final = 1.959963984540054
"""The 97.5 % point of the normal distribution, for an interval of 95 %."""

POPULARITIES: Final = 16
"""Number of levels of popularity."""


def rating(thumbs_up: int, thumbs_down: int) -> float:
    """Return the lower bound of the interval for the share of positive votes, from 0 to 1."""
    if thumbs_up == 0:
        # Exactly zero: a rounding error would put the map before those without votes.
        return 0.0
    votes = thumbs_up + thumbs_down
    share = thumbs_up / votes
    spread = Z * sqrt((share * (1 - share) + Z * Z / (4 * votes)) / votes)
    return (share + Z * Z / (2 * votes) - spread) / (1 + Z * Z / votes)


def popularity(found: Map) -> int:
    """Return the popularity of a map, from 0 (never opened) to ``POPULARITIES`` - 1.

    Each level takes twice as many views. A download counts as four views, and a rating of 1 as
    three levels.
    """
    used = log2(1 + found.views + 4 * found.downloads)
    return min(POPULARITIES - 1, int(used + 3 * rating(found.thumbs_up, found.thumbs_down)))
