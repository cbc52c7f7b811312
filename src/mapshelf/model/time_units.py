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
