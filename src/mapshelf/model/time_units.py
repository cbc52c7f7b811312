"""Units of time: Mapshelf stores times in milliseconds, and measures some in nanoseconds."""

from typing import Final

SECOND: Final = 1000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
"""In milliseconds."""

CLOCK_TOLERANCE: Final = MINUTE
"""How far the clocks of nodes may differ. A time that is further in the future proves nothing."""

NANOSECONDS_PER_SECOND: Final = 1_000_000_000


def has_come(moment: int, now: int) -> bool:
    """Return whether a moment is not in the future, whichever node noted it (milliseconds).

    What a node noted while its clock was wrong may be far in the future. If that counted, limits
    would delay people, and what was given would last, for as long as the clock was ahead.
    """
    return moment <= now + CLOCK_TOLERANCE
