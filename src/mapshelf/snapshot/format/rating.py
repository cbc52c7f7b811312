"""How well a map is liked, from its votes, so that few votes cannot outrank many.

And how popular it is, to choose between maps that answer a search equally well.

Source of the rating: E. B. Wilson, "Probable inference, the law of succession, and statistical
inference", Journal of the American Statistical Association 22 (1927).
"""

from math import log2, sqrt
from typing import Final

from mapshelf.model import Map

Z: Final = 1.959963984540054
"""The 97.5 % point of the normal distribution, for an interval of 95 %."""

POPULARITIES: Final = 16
"""How many degrees of popularity there are."""


def rating(thumbs_up: int, thumbs_down: int) -> float:
    """Return the lower end of the interval for the share of votes that are up, from 0 to 1."""
    if thumbs_up == 0:
        # Exactly zero, where rounding would leave a trace that breaks ties with "no votes".
        return 0.0
    votes = thumbs_up + thumbs_down
    share = thumbs_up / votes
    spread = Z * sqrt((share * (1 - share) + Z * Z / (4 * votes)) / votes)
    return (share + Z * Z / (2 * votes) - spread) / (1 + Z * Z / votes)


def popularity(found: Map) -> int:
    """Return how popular a map is, from 0 (nobody has looked at it) to ``POPULARITIES`` - 1.

    Each degree stands for twice as many views; a download says as much as four of them, and a
    rating of 1 as much as three degrees.
    """
    used = log2(1 + found.views + 4 * found.downloads)
    return min(POPULARITIES - 1, int(used + 3 * rating(found.thumbs_up, found.thumbs_down)))
