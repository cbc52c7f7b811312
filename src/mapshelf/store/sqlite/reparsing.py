"""Outlines made anew in SQLite."""

from collections.abc import Sequence

import apsw

from mapshelf.model import OutdatedMap, ReparsedMap, format_tags
from mapshelf.store.columns import RENEWED_TAGS
from mapshelf.store.sqlite.batch_rows import SQLiteBatchRows
from mapshelf.store.sqlite.database import DatabaseUser
from mapshelf.store.sqlite.map_rows import next_revision


class SQLiteReparsableOutlines(DatabaseUser):
    """See ``contract.ReparsableOutlines``."""

    def outdated(self, after: int, limit: int) -> list[OutdatedMap]:
        """See ``Store``."""
        rows = self._database.rows(
            "SELECT o.file_id, coalesce((SELECT s.path FROM sources AS s JOIN files AS f"
            " ON f.file_id = s.file_id AND f.digest = s.digest WHERE s.file_id = o.file_id"
            " ORDER BY s.path LIMIT 1), x'') FROM outdated AS o WHERE o.file_id > ?"
            " ORDER BY o.file_id LIMIT ?",
            (after, limit),
        )
        return [OutdatedMap(*row) for row in rows]

    def replace_outlines(self, reparsed: Sequence[ReparsedMap]) -> int:
        """See ``Store``."""
        with self._database.writing() as database:
            return sum(_replace(database, one) for one in reparsed)


def _replace(database: apsw.Connection, new: ReparsedMap) -> bool:
    rows = SQLiteBatchRows(database)
    waiting = "SELECT 1 FROM outdated WHERE file_id = ?"
    if not database.execute(waiting, (new.file_id,)).fetchone():
        return False
    if new.outline is None:
        database.execute("DELETE FROM outdated WHERE file_id = ?", (new.file_id,))
        return False
    if not rows.has_content(new.file_id, new.digest):
        return False
    rows.write_outline(new.file_id, new.outline, new.links)
    rows.write_images(new.file_id, new.images)
    database.execute(
        f"UPDATE maps SET revision = ?, {RENEWED_TAGS} WHERE file_id = ?",
        (next_revision(database), format_tags(new.tags), new.file_id),
    )
    return True
