"""Maps in SQLite."""

from collections.abc import Iterable, Sequence
from typing import Final

import orjson

from mapshelf.model import KeptFile, Map, MapDraft, Named, OriginalFile, Outcome
from mapshelf.store.batch import Batch
from mapshelf.store.columns import FROM_MAPS, MAP, NAMED, OPEN_SINCE, map_of_row
from mapshelf.store.reserved_names import with_owners
from mapshelf.store.sqlite.batch_rows import SQLiteBatchRows
from mapshelf.store.sqlite.database import DatabaseUser
from mapshelf.store.sqlite.map_rows import delete_map

_FILE: Final = "FROM files AS f WHERE f.file_id = ?"
_NAME: Final = (
    "coalesce((SELECT s.name FROM sources AS s WHERE s.file_id = f.file_id"
    " ORDER BY s.digest <> f.digest, s.path LIMIT 1), (SELECT v.name FROM versions AS v"
    " WHERE v.file_id = f.file_id ORDER BY v.number DESC LIMIT 1), '')"
)
"""The name of a stored file: of the source that its content came from, or of the newest upload."""


class SQLiteMaps(DatabaseUser):
    """See ``contract.Maps`` and ``contract.MapWriter``."""

    def put_maps(self, drafts: Sequence[MapDraft]) -> list[Outcome]:
        """See ``Store``."""
        with self._database.writing() as database:
            known = with_owners(lambda sql, given: database.execute(sql, given).fetchall(), drafts)
            return Batch(SQLiteBatchRows(database, known), self._clock()).put(known)

    def delete_maps(self, ids: Iterable[str]) -> int:
        """See ``Store``."""
        with self._database.writing() as database:
            return sum(delete_map(database, public_id) for public_id in ids)

    def maps(self, after: int, limit: int) -> list[Map]:
        """See ``Store``."""
        rows = self._database.rows(
            f"SELECT {MAP} FROM {FROM_MAPS} WHERE m.file_id > ? AND m.visibility <> 'removed'"
            " ORDER BY m.file_id LIMIT ?",
            (after, limit),
        )
        return [map_of_row(row) for row in rows]

    def require_revision(self, revision: int) -> None:
        """See ``Store``. Everything is read as it is now."""

    def takeovers(self) -> int:
        """See ``Store``. There is no other server."""
        return 0

    def open_ids(self, public_ids: Sequence[str]) -> frozenset[str]:
        """See ``Store``."""
        rows = self._database.rows(
            "SELECT id FROM maps WHERE id IN (SELECT value FROM json_each(?))"
            " AND visibility IN ('published', 'unlisted')",
            (orjson.dumps(list(public_ids)).decode(),),
        )
        return frozenset(row[0] for row in rows)

    def open_since(self, public_id: str) -> int | None:
        """See ``Store``."""
        rows = self._database.rows(OPEN_SINCE.format("?"), (public_id,))
        return rows[0][0] if rows else None

    def outline(self, file_id: int) -> bytes | None:
        """See ``Store``."""
        rows = self._database.rows("SELECT outline FROM outlines WHERE file_id = ?", (file_id,))
        return rows[0][0] if rows else None

    def content(self, file_id: int) -> OriginalFile | None:
        """See ``Store``."""
        rows = self._database.rows(f"SELECT {_NAME}, f.digest, f.content {_FILE}", (file_id,))
        return OriginalFile(rows[0][0].rpartition("/")[2], *rows[0][1:]) if rows else None

    def kept_file(self, file_id: int) -> KeptFile | None:
        """See ``Store``."""
        sql = f"SELECT {_NAME}, f.digest, length(f.content) {_FILE}"
        rows = self._database.rows(sql, (file_id,))
        return KeptFile(rows[0][0].rpartition("/")[2], *rows[0][1:]) if rows else None

    def content_piece(self, file_id: int, digest: bytes, start: int, size: int) -> bytes:
        """See ``Store``."""
        with self._database.reading() as database:
            asked = (file_id, digest)
            sql = "SELECT 1 FROM files WHERE file_id = ? AND digest = ?"
            if not database.execute(sql, asked).fetchall():
                return b""
            # substr() would read the whole value.
            with database.blob_open("main", "files", "content", file_id, False) as content:
                content.seek(min(start, content.length()))
                piece: bytes = content.read(size)
        return piece

    def has_image(self, file_id: int, digest: str) -> bool:
        """See ``Store``."""
        query = "SELECT 1 FROM images WHERE file_id = ? AND digest = ?"
        return bool(self._database.rows(query, (file_id, bytes.fromhex(digest))))

    def image_digests(self, file_id: int) -> list[str]:
        """See ``Store``."""
        query = "SELECT digest FROM images WHERE file_id = ? ORDER BY digest"
        return [row[0].hex() for row in self._database.rows(query, (file_id,))]

    def image(self, file_id: int, digest: str) -> bytes | None:
        """See ``Store``."""
        query = "SELECT content FROM images WHERE file_id = ? AND digest = ?"
        rows = self._database.rows(query, (file_id, bytes.fromhex(digest)))
        return rows[0][0] if rows else None

    def categories(self) -> list[Named]:
        """See ``Store``."""
        return self._named("categories")

    def software(self) -> list[Named]:
        """See ``Store``."""
        return self._named("software")

    def licence_types(self) -> list[Named]:
        """See ``Store``."""
        return self._named("licence_types")

    def _named(self, table: str) -> list[Named]:
        rows = self._database.rows(f"SELECT {NAMED} FROM {table} ORDER BY id")
        return [Named(*row) for row in rows]
