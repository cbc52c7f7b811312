"""Decides whether a catalogue is still the one that a snapshot was built from.

After an older copy of a database is restored, its next changes get revisions that the lost changes
had. Who has seen those would take the new changes for known, such as that a map became private.
"""

from typing import Final, NamedTuple

MARKS_KEPT: Final = 100_000
"""Number of revisions for which the marks are kept (``migrations/sqlite_0016.sql``)."""


class Point(NamedTuple):
    """A revision of a catalogue, and a lineage (``contract.ChangeFeed.lineage``)."""

    revision: int
    lineage: str


def has_diverged(then: Point, now: Point, *, has_leapt: bool = False) -> bool:
    """Return whether changes of a catalogue may have revisions that were seen with other changes.

    It is not reported of revisions whose marks are no longer kept, because a long import would
    be mistaken for it.

    Args:
        then: what was seen: a revision, and the lineage as of it.
        now: the newest revision, and the lineage as of the one that was seen.
        has_leapt: whether all later changes get higher revisions than the one that was seen,
            because another server has taken over (``postgres/counters.py``).
    """
    if _identity(then) != _identity(now):
        return True
    if has_leapt:
        return False
    if now.revision < then.revision:
        return True
    return now.lineage != then.lineage and then.revision > now.revision - MARKS_KEPT


def _identity(point: Point) -> str:
    return point.lineage.partition(" ")[0]
