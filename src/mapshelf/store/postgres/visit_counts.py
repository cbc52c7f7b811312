"""Visit counts in PostgreSQL."""

from collections.abc import Sequence
from typing import Final

from mapshelf.model import LARGEST_COUNT, Visit
from mapshelf.store.postgres.counters import LockedCounters
from mapshelf.store.postgres.database import DatabaseUser
from mapshelf.store.postgres.link import Link
from mapshelf.store.visit_counts import (
    MAPS_AT_ONCE,
    counts_by_map,
    first_salted_day,
    new_salt,
    remembered_hours,
)

VISITS_LOCK: Final = 0x4D61_7056_6973_6974
"""The advisory lock that serializes counting transactions ("MapVisit")."""

APPLY_COUNTS: Final = (
    f"UPDATE maps SET views = views + least(%s, {LARGEST_COUNT} - views),"
    f" downloads = downloads + least(%s, {LARGEST_COUNT} - downloads), revision = %s"
    " WHERE file_id = %s"
)


class PostgresVisitCounts(DatabaseUser):
    """See ``contract.VisitCounts``. Pending counts are in the table ``tallies``."""

    def visitor_salt(self, day: int) -> bytes:
        """See ``Store``."""
        query = "SELECT salt FROM salts WHERE day = %s"
        rows = self._rows(query, (day,))
        if not rows:
            with self._connections.writing() as link:
                link.execute(
                    "INSERT INTO salts VALUES (%s, %s) ON CONFLICT DO NOTHING", (day, new_salt())
                )
                rows = link.rows(query, (day,))
        salt: bytes = rows[0][0]
        return salt

    def count_visits(self, visits: Sequence[Visit], now: int, most: int) -> int:
        """See ``Store``. Counting transactions are serialized, which prevents deadlocks.

        They use a separate lock, not the counters, so no import waits for them.
        """
        first, last = remembered_hours(now)
        with self._connections.writing() as link:
            link.execute("SELECT pg_advisory_xact_lock(%s)", (VISITS_LOCK,))
            link.execute("DELETE FROM salts WHERE day < %s", (first_salted_day(now),))
            link.execute("DELETE FROM visits WHERE hour < %s OR hour > %s", (first, last))
            room = max(0, most - int(link.rows("SELECT count(*) FROM visits")[0][0]))
            timely = [visit for visit in visits if first <= visit.hour <= last]
            _add_pending(link, _new_among(link, timely[:room]), now)
            return len(timely) - min(len(timely), room)

    def apply_visit_counts(self, before: int) -> int:
        """See ``Store``."""
        applied = 0
        if self._rows("SELECT 1 FROM tallies WHERE since < %s LIMIT 1", (before,)):
            while some := self._apply_some():
                applied += some
        return applied

    def _apply_some(self) -> int:
        with self._connections.writing() as link, link.cursor() as cursor:
            counters = LockedCounters(link)
            link.execute("SELECT pg_advisory_xact_lock(%s)", (VISITS_LOCK,))
            rows = link.rows(
                "DELETE FROM tallies WHERE file_id IN"
                " (SELECT file_id FROM tallies ORDER BY since, file_id LIMIT %s)"
                " RETURNING file_id, views, downloads",
                (MAPS_AT_ONCE,),
            )
            wanted = [row[0] for row in rows]
            there = set(link.rows("SELECT file_id FROM maps WHERE file_id = ANY(%s)", (wanted,)))
            cursor.executemany(
                APPLY_COUNTS,
                [
                    (views, downloads, counters.next_revision(), file_id)
                    for file_id, views, downloads in sorted(rows)
                    if (file_id,) in there
                ],
            )
            counters.write()
            return len(rows)


def _new_among(link: Link, visits: Sequence[Visit]) -> list[Visit]:
    """Record visits; return those that count: new ones of existing maps."""
    given = {(visit.hour, visit.key): visit for visit in visits}
    rows = link.rows(
        "INSERT INTO visits SELECT one.hour, one.key"
        " FROM unnest(%s::bigint[], %s::bytea[], %s::bigint[]) AS one (hour, key, file_id)"
        " JOIN maps AS m ON m.file_id = one.file_id ON CONFLICT DO NOTHING RETURNING hour, key",
        (
            [visit.hour for visit in given.values()],
            [visit.key for visit in given.values()],
            [visit.file_id for visit in given.values()],
        ),
    )
    return [given[hour, bytes(key)] for hour, key in rows]


def _add_pending(link: Link, visits: Sequence[Visit], now: int) -> None:
    """Add visits to the pending counts."""
    with link.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO tallies VALUES (%s, %s, %s, %s) ON CONFLICT (file_id) DO UPDATE"
            " SET views = tallies.views + excluded.views,"
            " downloads = tallies.downloads + excluded.downloads",
            [(file_id, *counts, now) for file_id, counts in counts_by_map(visits).items()],
        )
