"""The rules of counting visits that both databases share."""

import secrets
from collections.abc import Iterable
from typing import Final

from mapshelf.model import DAY, HOUR, LARGEST_COUNT, Visit, VisitKind

MAPS_AT_ONCE: Final = 500
"""Maps whose counts are applied in one transaction, so that other writers get their turn."""

SALT_LENGTH: Final = 32
"""Bytes of a salt: too many to try them all."""


def new_salt() -> bytes:
    """Return a random salt."""
    return secrets.token_bytes(SALT_LENGTH)


def remembered_hours(now: int) -> tuple[int, int]:
    """Return the first and the last hour whose visits are remembered.

    The hour before ``now`` is included because visits arrive a little late, the hour after because
    clocks differ.
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


def capped_sum(count: int, more: int) -> int:
    """Return the sum of two counts, at most ``LARGEST_COUNT``."""
    return min(LARGEST_COUNT, count + more)
