"""Maps in PostgreSQL."""

from collections.abc import Iterable, Sequence
from typing import Final

from mapshelf.model import KeptFile, Map, MapDraft, Named, OriginalFile, Outcome
from mapshelf.store.batch import Batch
from mapshelf.store.columns import FROM_MAPS, MAP, NAMED, OPEN_SINCE, map_of_row
from mapshelf.store.postgres.batch_rows import PostgresBatchRows
from mapshelf.store.postgres.counters import LockedCounters, write_deletions
from mapshelf.store.postgres.database import DatabaseUser
from mapshelf.store.reserved_names import with_owners

_FILE: Final = "FROM files AS f WHERE f.file_id = %s"
_NAME: Final = (
    "coalesce((SELECT s.name FROM sources AS s WHERE s.file_id = f.file_id"
    " ORDER BY s.digest <> f.digest, s.path LIMIT 1), (SELECT v.name FROM versions AS v"
    " WHERE v.file_id = f.file_id ORDER BY v.number DESC LIMIT 1), '')"
)
"""The name of a stored file: of the source that its content came from, or of the newest upload."""


class PostgresMaps(DatabaseUser):
    """See ``contract.Maps`` and ``contract.MapWriter``."""

    def put_maps(self, drafts: Sequence[MapDraft]) -> list[Outcome]:
        """See ``Store``."""
        with self._connections.writing() as link:
            counters = LockedCounters(link)
            known = with_owners(link.shared_rows, drafts)
            rows = PostgresBatchRows(link, counters, known)
            outcomes = Batch(rows, self._clock()).put(known)
            rows.write()
            counters.write()
            return outcomes

    def delete_maps(self, ids: Iterable[str]) -> int:
        """See ``Store``."""
        wanted = list(dict.fromkeys(ids))
        with self._connections.writing() as link:
            counters = LockedCounters(link)
            rows = link.rows("SELECT id, file_id FROM maps WHERE id = ANY(%s)", (wanted,))
            found: dict[str, int] = dict(rows)
            return write_deletions(
                link, counters, {one: found[one] for one in wanted if one in found}
            )

    def maps(self, after: int, limit: int) -> list[Map]:
        """See ``Store``."""
        rows = self._rows(
            f"SELECT {MAP} FROM {FROM_MAPS} WHERE m.file_id > %s AND m.visibility <> 'removed'"
            " ORDER BY m.file_id LIMIT %s",
            (after, limit),
        )
        return [map_of_row(row) for row in rows]

    def open_ids(self, public_ids: Sequence[str]) -> frozenset[str]:
        """See ``Store``. Read like outlines and files, so never from an earlier state."""
        rows = self._rows_nearby(
            "SELECT id FROM maps WHERE id = ANY(%s) AND visibility IN ('published', 'unlisted')",
            (list(public_ids),),
        )
        return frozenset(row[0] for row in rows)

    def open_since(self, public_id: str) -> int | None:
        """See ``Store``."""
        rows = self._rows_nearby(OPEN_SINCE.format("%s"), (public_id,))
        return rows[0][0] if rows else None

    def outline(self, file_id: int) -> bytes | None:
        """See ``Store``."""
        rows = self._rows_nearby("SELECT outline FROM outlines WHERE file_id = %s", (file_id,))
        return rows[0][0] if rows else None

    def content(self, file_id: int) -> OriginalFile | None:
        """See ``Store``."""
        rows = self._rows_nearby(f"SELECT {_NAME}, f.digest, f.content {_FILE}", (file_id,))
        return OriginalFile(rows[0][0].rpartition("/")[2], *rows[0][1:]) if rows else None

    def kept_file(self, file_id: int) -> KeptFile | None:
        """See ``Store``."""
        sql = f"SELECT {_NAME}, f.digest, octet_length(f.content) {_FILE}"
        rows = self._rows_nearby(sql, (file_id,))
        return KeptFile(rows[0][0].rpartition("/")[2], *rows[0][1:]) if rows else None

    def content_piece(self, file_id: int, digest: bytes, start: int, size: int) -> bytes:
        """See ``Store``."""
        # The database stores this column uncompressed, so it reads only this part.
        sql = (
            "SELECT substring(content FROM %s FOR %s) FROM files WHERE file_id = %s AND digest = %s"
        )
        rows = self._rows_nearby(sql, (start + 1, size, file_id, digest))
        return rows[0][0] if rows else b""

    def has_image(self, file_id: int, digest: str) -> bool:
        """See ``Store``."""
        query = "SELECT 1 FROM images WHERE file_id = %s AND digest = %s"
        return bool(self._rows_nearby(query, (file_id, bytes.fromhex(digest))))

    def image_digests(self, file_id: int) -> list[str]:
        """See ``Store``."""
        query = "SELECT digest FROM images WHERE file_id = %s ORDER BY digest"
        return [row[0].hex() for row in self._rows_nearby(query, (file_id,))]

    def image(self, file_id: int, digest: str) -> bytes | None:
        """See ``Store``."""
        query = "SELECT content FROM images WHERE file_id = %s AND digest = %s"
        rows = self._rows_nearby(query, (file_id, bytes.fromhex(digest)))
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
        rows = self._newest(f"SELECT {NAMED} FROM {table} ORDER BY id", ())
        return [Named(*row) for row in rows]
