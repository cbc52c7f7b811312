"""The present time as everything here writes it down, in one place."""

import time


def milliseconds() -> int:
    """Return the present time in milliseconds since 1970-01-01 UTC."""
    return time.time_ns() // 1_000_000
