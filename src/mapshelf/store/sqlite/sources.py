"""Sources in SQLite."""

from collections.abc import Collection, Sequence

import apsw

from mapshelf.model import GONE, Source
from mapshelf.store.columns import KEEP_MISSING, SOURCE, UNPUBLISHED
from mapshelf.store.former_places import note_former_place
from mapshelf.store.inherited_visibility import hide_uncertain
from mapshelf.store.lost_files import LOST_WITHIN
from mapshelf.store.missing_maps import path_without_file
from mapshelf.store.sqlite.database import DatabaseUser
from mapshelf.store.sqlite.links import FILE_NAME
from mapshelf.store.sqlite.map_rows import next_revision
from mapshelf.store.tables import Row


class SQLiteSources(DatabaseUser):
    """See ``contract.Sources``."""

    def sources(self, paths: Sequence[bytes]) -> dict[bytes, Source]:
        """See ``Store``."""
        query = f"SELECT {SOURCE} FROM sources WHERE path = ?"
        with self._database.reading() as database:
            found = (database.execute(query, (path,)).fetchone() for path in paths)
            return {row[0]: Source(*row) for row in found if row is not None}

    def sources_below(
        self, folder: bytes, after: bytes, limit: int, *, missing: bool = False
    ) -> list[Source]:
        """See ``Store``."""
        # "0" is the character after the slash: all paths below the folder lie in between.
        rows = self._database.rows(
            f"SELECT {SOURCE} FROM sources WHERE path > ? AND path < ?"
            f" AND (modified <> {GONE} OR ?) ORDER BY path LIMIT ?",
            (max(folder + b"/", after), folder + b"0", missing, limit),
        )
        return [Source(*row) for row in rows]

    def sources_of(self, digest: bytes) -> list[Source]:
        """See ``Store``."""
        rows = self._database.rows(
            f"SELECT {SOURCE} FROM sources WHERE digest = ? ORDER BY path", (digest,)
        )
        return [Source(*row) for row in rows]

    def unpublished_sources(self, paths: Sequence[bytes], *, missing: bool = False) -> set[bytes]:
        """See ``Store``."""
        query = f"{UNPUBLISHED.format(missing='?')} AND s.path = ?"
        with self._database.reading() as database:
            rows = (row for path in paths for row in database.execute(query, (missing, path)))
            return {path for path, *_ in rows}

    def unpublished_named(self, names: Collection[str], limit: int) -> list[Source]:
        """See ``Store``."""
        query = f"{UNPUBLISHED.format(missing='g.since > ?')} AND {FILE_NAME} = ? LIMIT ?"
        since = self._clock() - LOST_WITHIN
        with self._database.reading() as database:
            rows = (row for name in names for row in database.execute(query, (since, name, limit)))
            return [Source(*row) for row in rows]

    def move_source(self, old: bytes, new: Source, *, uncertain: bool = False) -> bool:
        """See ``Store``."""
        with self._database.writing() as database:
            query = "SELECT modified, file_id FROM sources WHERE path = ?"

            def read(sql: str, values: Row) -> list[Row]:
                return database.execute(sql, values).fetchall()

            def found(path: bytes) -> list[Row]:
                return read(query, (path,))

            taken = found(new.path) if new.path != old else []
            if not found(old) or (taken and taken[0][0] != GONE):
                return False
            for _, file_id in taken:
                given = path_without_file(new.path, found)
                database.execute("UPDATE sources SET path = ? WHERE path = ?", (given, new.path))
                note_former_place(read, file_id, new.path, self._clock())
            moved = read(
                "UPDATE sources SET path = ?, name = ?, size = ?, modified = ?, digest = ?"
                " WHERE path = ? RETURNING file_id",
                (new.path, new.name, new.size, new.modified, new.digest, old),
            )
            for (file_id,) in moved:
                note_former_place(read, file_id, old, self._clock())
                if uncertain:
                    hide_uncertain(read, file_id, new.digest)
                database.execute(
                    "UPDATE maps SET revision = ? WHERE file_id = ?",
                    (next_revision(database), file_id),
                )
            return bool(moved)

    def remove_sources(self, paths: Sequence[bytes]) -> int:
        """See ``Store``."""
        query = (
            f"UPDATE sources SET modified = {GONE} WHERE path = ? AND modified <> {GONE}"
            " RETURNING file_id"
        )
        with self._database.writing() as database:
            found = [row[0] for path in paths for row in database.execute(query, (path,))]
            now = self._clock()
            return sum(miss(database, file_id, now) for file_id in dict.fromkeys(found))


def miss(database: apsw.Connection, file_id: int, now: int) -> bool:
    """Remove a map until its file is back, unless it has another file; return whether."""
    if database.execute(
        f"SELECT 1 FROM sources WHERE file_id = ? AND modified <> {GONE}", (file_id,)
    ).fetchall():
        return False
    database.execute(KEEP_MISSING.format(now="?", maps="= ?"), (now, file_id))
    database.execute(
        "UPDATE maps SET visibility = 'removed', revision = ? WHERE file_id = ?",
        (next_revision(database), file_id),
    )
    return True
