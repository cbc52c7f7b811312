"""Visit counts: which visits count, and when a map shows them."""

from collections.abc import Sequence
from typing import Protocol

from mapshelf.model import Visit


class VisitCounts(Protocol):
    """Counts views and downloads. Counts are pending until ``apply_visit_counts``."""

    def visitor_salt(self, day: int) -> bytes:
        """Return the secret with which the keys of visitors on ``day`` are made.

        ``day`` counts from 1970-01-01 UTC. The salt is random, made at the first call, and MUST be
        the same for all callers until ``count_visits`` forgets it.
        """

    def count_visits(self, visits: Sequence[Visit], now: int, most: int) -> int:
        """Count visits, all in one transaction; return how many there was no room for.

        Visits with the same key and hour MUST count once, no matter who sends them and how often.
        Visits of maps that do not exist, and of hours before the last one, do not count. Counts
        are pending until ``apply_visit_counts`` adds them to the maps; counting MUST NOT make a
        change in the feed.

        Keys of hours before the last one, and salts of days before that of ``now``, MUST be
        forgotten. Up to ``most`` keys are remembered; visits beyond that do not count. A crash of
        the database may lose keys and salts, but MUST NOT lose counts.
        """

    def apply_visit_counts(self, before: int) -> int:
        """Add all pending counts to their maps if any was counted before ``before``.

        Return the number of maps that had pending counts. Each map MUST make one change in the
        feed, however many visits it had. A counter at its limit stays there.
        """
