"""How well a map is liked, from its votes, so that few votes cannot outrank many.

Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
Journal of the American Statistical Association 22 (1927).
"""

from math import sqrt
from typing import Final

Z: Final = 1.959963984540054
"""The 97.5 % point of the normal distribution, for an interval of 95 %."""


def rating(thumbs_up: int, thumbs_down: int) -> float:
    """Return the lower end of the interval for the share of votes that are up, from 0 to 1."""
    if thumbs_up == 0:
        # Exactly zero, where rounding would leave a trace that breaks ties with "no votes".
        return 0.0
    votes = thumbs_up + thumbs_down
    share = thumbs_up / votes
    spread = Z * sqrt((share * (1 - share) + Z * Z / (4 * votes)) / votes)
    return (share + Z * Z / (2 * votes) - spread) / (1 + Z * Z / votes)
