"""The current time, in milliseconds: that of this machine, or of the database that nodes share.

Nodes compare times that others have stored, such as when a session began or a sign-in failed last.
If their clocks differed, each would judge these by another time. So a process that uses PostgreSQL
follows the clock of the database: every check of a connection reads it (``store/postgres``).
Between two checks, the time since then is measured by a clock that nobody can set.
"""

import time
from typing import Final

_STEADY: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""The clock that nobody can set; on Linux, one that also counts while the machine is suspended."""


class Followed:
    """The clock that this process follows.

    Attributes:
        at_zero: what it showed when the steady clock was at 0, in microseconds since 1970;
            ``None`` for the clock of this machine.
    """

    at_zero: int | None = None


_followed: Final = Followed()


def milliseconds() -> int:
    """Return the current time in milliseconds since 1970-01-01 UTC.

    It is that of the clock that ``follow`` was last called for, if any.
    """
    at_zero = _followed.at_zero
    return milliseconds_here() if at_zero is None else (at_zero + steady()) // 1000


def milliseconds_here() -> int:
    """Return the time of the clock of this machine, whatever clock this process follows."""
    return time.time_ns() // 1_000_000


def steady() -> int:
    """Return microseconds since some moment in the past."""
    return time.clock_gettime_ns(_STEADY) // 1000


def is_following() -> bool:
    """Return whether this process follows another clock than that of the machine."""
    return _followed.at_zero is not None


def follow(theirs: int, asked: int) -> None:
    """Follow a clock that has just been read.

    It was read at some moment between the question and now. What is known of it changes only if it
    cannot be true, so a slow answer makes it no less accurate.

    Args:
        theirs: what it showed, in microseconds since 1970-01-01 UTC.
        asked: ``steady()`` before it was asked.
    """
    earliest, latest = theirs - steady(), theirs - asked
    known = _followed.at_zero
    guess = (earliest + latest) // 2 if known is None else known
    _followed.at_zero = min(max(guess, earliest), latest)
