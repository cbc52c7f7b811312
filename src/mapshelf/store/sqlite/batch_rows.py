"""The rows that a batch of drafts reads and writes in SQLite."""

from collections.abc import Mapping, Sequence
from typing import Final

import apsw

from mapshelf.model import Map, MapDraft, MapLink, Source, User, Votes, composed_name
from mapshelf.store.columns import (
    COUNT_VOTES,
    FROM_MAPS,
    MAP,
    link_rows,
    map_of_row,
    map_row,
    source_row,
)
from mapshelf.store.inherited_visibility import Inheritance
from mapshelf.store.merge import new_id
from mapshelf.store.reserved_names import owner_in_place_of
from mapshelf.store.sqlite.inheritance import SQLiteInheritance
from mapshelf.store.sqlite.map_rows import next_revision
from mapshelf.store.sqlite.user_rows import find_user, insert_user
from mapshelf.store.tables import FILES, IMAGES, LINKS, MAPS, OUTLINES, SOURCES, Row

WRITE_MAP: Final = MAPS.upsert("?", fixed=("id",))
WRITE_OUTLINE: Final = OUTLINES.upsert("?")
WRITE_CONTENT: Final = FILES.upsert("?")
WRITE_IMAGE: Final = IMAGES.upsert("?")
WRITE_LINK: Final = LINKS.upsert("?")
WRITE_SOURCE: Final = SOURCES.upsert("?", fixed=("name",))


class SQLiteBatchRows:
    """See ``batch.BatchRows``."""

    def __init__(self, database: apsw.Connection, drafts: Sequence[MapDraft] = ()) -> None:
        self._database = database
        self.inheritance: Inheritance = SQLiteInheritance(database, drafts)

    def read(self, sql: str, values: Row) -> list[Row]:
        """See ``BatchRows``."""
        return self._database.execute(sql, values).fetchall()

    def map_with_id(self, public_id: str) -> Map | None:
        """See ``BatchRows``."""
        return self._map("m.id = ?", public_id)

    def map_from(self, path: bytes) -> Map | None:
        """See ``BatchRows``."""
        return self._map("m.file_id = (SELECT file_id FROM sources WHERE path = ?)", path)

    def _map(self, condition: str, key: str | bytes) -> Map | None:
        row = self._database.execute(
            f"SELECT {MAP} FROM {FROM_MAPS} WHERE {condition}", (key,)
        ).fetchone()
        return map_of_row(row) if row else None

    def deleted_file_id(self, public_id: str) -> int | None:
        """See ``BatchRows``."""
        row = self._database.execute(
            "SELECT file_id FROM deleted WHERE id = ?", (public_id,)
        ).fetchone()
        return row[0] if row else None

    def unused_id(self) -> str:
        """See ``BatchRows``."""
        while True:
            candidate = new_id()
            taken = self._database.execute(
                "SELECT 1 FROM maps WHERE id = ?1 UNION SELECT 1 FROM deleted WHERE id = ?1",
                (candidate,),
            ).fetchone()
            if not taken:
                return candidate

    def forget_deletion(self, public_id: str) -> None:
        """See ``BatchRows``."""
        self._database.execute("DELETE FROM deleted WHERE id = ?", (public_id,))

    def id_with_file_id(self, file_id: int, other_than: str) -> str | None:
        """See ``BatchRows``."""
        row = self._database.execute(
            "SELECT id FROM maps WHERE file_id = ?1 UNION SELECT id FROM deleted"
            " WHERE file_id = ?1 AND id <> ?2",
            (file_id, other_than),
        ).fetchone()
        return row[0] if row else None

    def last_file_id(self) -> int:
        """See ``BatchRows``."""
        rows: list[Row] = self._database.execute("SELECT file_id FROM sequence").fetchall()
        return int(rows[0][0])

    def use_file_id(self, file_id: int) -> None:
        """See ``BatchRows``."""
        self._database.execute("UPDATE sequence SET file_id = max(file_id, ?)", (file_id,))

    def user(self, name: str, now: int) -> User:
        """See ``BatchRows``."""
        return (
            find_user(self._database, name)
            or find_user(self._database, owner_in_place_of(self.read, name))
            or insert_user(self._database, composed_name(name), now)
        )

    def has_outline(self, file_id: int, outline: bytes) -> bool:
        """See ``BatchRows``."""
        row = self._database.execute(
            "SELECT outline FROM outlines WHERE file_id = ?", (file_id,)
        ).fetchone()
        return row is not None and row[0] == outline

    def has_content(self, file_id: int, digest: bytes) -> bool:
        """See ``BatchRows``."""
        row = self._database.execute(
            "SELECT digest FROM files WHERE file_id = ?", (file_id,)
        ).fetchone()
        return row is not None and row[0] == digest

    def image_digests(self, file_id: int) -> set[str]:
        """See ``BatchRows``."""
        rows = self._database.execute("SELECT digest FROM images WHERE file_id = ?", (file_id,))
        return {digest.hex() for (digest,) in rows}

    def votes(self, file_id: int) -> Votes:
        """See ``BatchRows``."""
        rows: list[Row] = self._database.execute(COUNT_VOTES.format("= ?"), (file_id,)).fetchall()
        return Votes(*rows[0][1:]) if rows else Votes()

    def write_map(self, new: Map, owner: User) -> None:
        """See ``BatchRows``."""
        row = map_row(new, owner.id, next_revision(self._database))
        self._database.execute(WRITE_MAP, row)

    def write_outline(self, file_id: int, outline: bytes, links: Sequence[MapLink]) -> None:
        """See ``BatchRows``."""
        self._database.execute(WRITE_OUTLINE, (file_id, outline))
        self._database.execute("DELETE FROM links WHERE file_id = ?", (file_id,))
        self._database.executemany(WRITE_LINK, link_rows(file_id, links))
        self._database.execute("DELETE FROM outdated WHERE file_id = ?", (file_id,))

    def write_content(self, file_id: int, digest: bytes, content: bytes) -> None:
        """See ``BatchRows``."""
        self._database.execute(WRITE_CONTENT, (file_id, digest, content))

    def write_images(self, file_id: int, images: Mapping[str, bytes]) -> None:
        """See ``BatchRows``."""
        kept = self.image_digests(file_id)
        self._database.executemany(
            "DELETE FROM images WHERE file_id = ? AND digest = ?",
            [(file_id, bytes.fromhex(digest)) for digest in kept - images.keys()],
        )
        self._database.executemany(
            WRITE_IMAGE,
            [
                (file_id, bytes.fromhex(digest), data)
                for digest, data in images.items()
                if digest not in kept
            ],
        )

    def write_source(self, file_id: int, source: Source) -> None:
        """See ``BatchRows``."""
        self._database.execute(WRITE_SOURCE, source_row(source, file_id))
