"""Visit counts in SQLite."""

from collections.abc import Sequence

import apsw

from mapshelf.model import Visit
from mapshelf.store.sqlite.database import DatabaseUser
from mapshelf.store.sqlite.map_rows import next_revision
from mapshelf.store.tables import Row
from mapshelf.store.visit_counts import (
    MAPS_AT_ONCE,
    capped_sum,
    counts_by_map,
    first_salted_day,
    new_salt,
    remembered_hours,
)


class SQLiteVisitCounts(DatabaseUser):
    """See ``contract.VisitCounts``. Pending counts are in the table ``tallies``."""

    def visitor_salt(self, day: int) -> bytes:
        """See ``Store``."""
        query = "SELECT salt FROM salts WHERE day = ?"
        rows = self._database.rows(query, (day,))
        if not rows:
            with self._database.writing() as database:
                database.execute("INSERT OR IGNORE INTO salts VALUES (?, ?)", (day, new_salt()))
                rows = database.execute(query, (day,)).fetchall()
        salt: bytes = rows[0][0]
        return salt

    def count_visits(self, visits: Sequence[Visit], now: int, most: int) -> int:
        """See ``Store``."""
        first, last = remembered_hours(now)
        with self._database.writing() as database:
            database.execute("DELETE FROM salts WHERE day < ?", (first_salted_day(now),))
            database.execute("DELETE FROM visits WHERE hour < ? OR hour > ?", (first, last))
            counted: list[Row] = database.execute("SELECT count(*) FROM visits").fetchall()
            room = max(0, most - int(counted[0][0]))
            timely = [visit for visit in visits if first <= visit.hour <= last]
            fresh = [visit for visit in timely[:room] if _is_new(database, visit)]
            database.executemany(
                "INSERT INTO tallies VALUES (?, ?, ?, ?) ON CONFLICT (file_id) DO UPDATE"
                " SET views = views + excluded.views, downloads = downloads + excluded.downloads",
                [(file_id, *counts, now) for file_id, counts in counts_by_map(fresh).items()],
            )
            return len(timely) - min(len(timely), room)

    def apply_visit_counts(self, before: int) -> int:
        """See ``Store``."""
        applied = 0
        if self._database.rows("SELECT 1 FROM tallies WHERE since < ? LIMIT 1", (before,)):
            while some := self._apply_some():
                applied += some
        return applied

    def _apply_some(self) -> int:
        with self._database.writing() as database:
            rows: list[Row] = database.execute(
                "SELECT t.file_id, t.views, t.downloads, m.views, m.downloads FROM tallies AS t"
                " LEFT JOIN maps AS m USING (file_id) ORDER BY t.since, t.file_id LIMIT ?",
                (MAPS_AT_ONCE,),
            ).fetchall()
            database.executemany(
                "DELETE FROM tallies WHERE file_id = ?", [(row[0],) for row in rows]
            )
            for file_id, views, downloads, had_views, had_downloads in rows:
                if had_views is not None:
                    database.execute(
                        "UPDATE maps SET views = ?, downloads = ?, revision = ? WHERE file_id = ?",
                        (
                            capped_sum(had_views, views),
                            capped_sum(had_downloads, downloads),
                            next_revision(database),
                            file_id,
                        ),
                    )
            return len(rows)


def _is_new(database: apsw.Connection, visit: Visit) -> bool:
    """Record a visit; return whether it counts: it is new, and its map exists."""
    database.execute(
        "INSERT OR IGNORE INTO visits SELECT ?, ? FROM maps WHERE file_id = ?",
        (visit.hour, visit.key, visit.file_id),
    )
    return database.changes() == 1
