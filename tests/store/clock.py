"""A clock that tests set, so that they know the times in the store."""

from dataclasses import dataclass


@dataclass(slots=True)
class Clock:
    """Returns ``now``, in milliseconds since 1970-01-01 UTC, until a test changes it."""

    now: int = 1_700_000_000_123

    def __call__(self) -> int:
        return self.now
