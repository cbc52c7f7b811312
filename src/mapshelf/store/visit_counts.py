"""What counting visits takes in every store, apart from how it keeps rows."""

import secrets
from collections.abc import Iterable
from typing import Final

from mapshelf.model import DAY, HOUR, LARGEST_COUNT, Visit, VisitKind

MAPS_AT_ONCE: Final = 500
"""Maps that take up their counts in one transaction: others want to write, too."""

SALT_LENGTH: Final = 32
"""Bytes of a salt: nobody can try them all."""


def new_salt() -> bytes:
    """Return a random salt."""
    return secrets.token_bytes(SALT_LENGTH)


def remembered_hours(now: int) -> tuple[int, int]:
    """Return the first and the last hour of which visits are remembered.

    The hour before is one of them, since visits come a little late; the one after, since clocks
    differ.
    """
    return now // HOUR - 1, now // HOUR + 1


def first_salted_day(now: int) -> int:
    """Return the first day whose salt is kept."""
    return now // DAY


def counts_by_map(visits: Iterable[Visit]) -> dict[int, tuple[int, int]]:
    """Return views and downloads by ``file_id``, in ascending order of it."""
    counts: dict[int, list[int]] = {}
    for visit in visits:
        counts.setdefault(visit.file_id, [0, 0])[visit.kind is VisitKind.DOWNLOAD] += 1
    return {file_id: (views, downloads) for file_id, (views, downloads) in sorted(counts.items())}


def added(count: int, more: int) -> int:
    """Return the sum of two counts, as far as counts go."""
    return min(LARGEST_COUNT, count + more)
