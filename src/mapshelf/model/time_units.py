"""Units of time, in the milliseconds in which Mapshelf stores times."""

from typing import Final

SECOND: Final = 1000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
"""In milliseconds."""
