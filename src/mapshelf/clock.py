"""The current time, in milliseconds."""

import time


def milliseconds() -> int:
    """Return the current time in milliseconds since 1970-01-01 UTC."""
    return time.time_ns() // 1_000_000
