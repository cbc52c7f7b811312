"""The rows that a batch of drafts reads and writes in PostgreSQL, in few statements.

A node reaches its database over a network. With one query per draft, as in SQLite, an import would
spend most of its time waiting. So the rows of all drafts are read at once, the batch works on them
in memory, and its changes are sent at the end.

Queries are written out below. ``Table.upsert`` in ``store/tables.py`` generates the statements that
write whole rows; pictures, links and users have separate modules
(``image_rows.py``, ``link_rows.py``, ``user_rows.py``).
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

from mapshelf.model import (
    Map,
    MapDraft,
    MapLink,
    Source,
    User,
    Votes,
    composed_name,
)
from mapshelf.store.columns import (
    COUNT_VOTES,
    FROM_MAPS,
    MAP,
    map_of_row,
    map_row,
    source_row,
)
from mapshelf.store.inherited_visibility import Inheritance
from mapshelf.store.merge import new_id
from mapshelf.store.postgres.counters import LockedCounters
from mapshelf.store.postgres.image_rows import image_digests, write_images
from mapshelf.store.postgres.inheritance import PostgresInheritance
from mapshelf.store.postgres.link import Link, Row
from mapshelf.store.postgres.link_rows import write_links
from mapshelf.store.postgres.user_rows import find_user, insert_user
from mapshelf.store.reserved_names import owner_in_place_of
from mapshelf.store.tables import FILES, MAPS, OUTLINES, SOURCES

WRITE_MAP: Final = MAPS.upsert("%s", fixed=("id",))
WRITE_SOURCE: Final = SOURCES.upsert("%s", unique="sha256(path)", fixed=("name",))
WRITE_OUTLINE: Final = OUTLINES.upsert("%s")
WRITE_CONTENT: Final = FILES.upsert("%s")


class PostgresBatchRows:
    """The rows that ``drafts`` refer to; see ``batch.BatchRows``. Call ``write`` at the end."""

    def __init__(self, link: Link, counters: LockedCounters, drafts: Sequence[MapDraft]) -> None:
        self._link = link
        self._counters = counters
        self._maps: dict[str, Map | None] = {}
        self._deleted_file_ids: dict[str, int | None] = {}
        self._ids: dict[int, str] = {}
        self._deleted_ids: dict[int, str] = {}
        self._paths: dict[bytes, str] = {}
        self._written_maps: dict[int, Row] = {}
        self._written_sources: list[Row] = []
        self._outlines: dict[int, bytes] = {}
        self._links: dict[int, Sequence[MapLink]] = {}
        self._contents: dict[int, tuple[bytes, bytes]] = {}
        self._images: dict[int, Mapping[str, bytes]] = {}
        self._forgotten: list[str] = []
        self._read_sources({draft.source.path for draft in drafts if draft.source})
        self._read_ids({draft.id for draft in drafts if draft.id is not None})
        self._read_file_ids({draft.file_id for draft in drafts if draft.file_id is not None})
        new = [
            draft
            for draft in drafts
            if draft.id is None and not (draft.source and draft.source.path in self._paths)
        ]
        self._nameless = max(1, len(new))
        known = [found.file_id for found in self._maps.values() if found]
        self._inherited = PostgresInheritance(link, drafts, known)
        self.inheritance: Inheritance = self._inherited
        self._unused: list[str] = []
        self._outline_digests = self._digests("sha256(outline)", "outlines", known)
        self._content_digests = self._digests("digest", "files", known)
        self._image_digests = image_digests(link, known)
        rated = any((draft.thumbs_up, draft.thumbs_down) != (None, None) for draft in drafts)
        votes = self._some(COUNT_VOTES.format("= ANY(%s)"), known if rated else [])
        self._votes = {file_id: Votes(up, down) for file_id, up, down in votes}

    def _read_sources(self, paths: set[bytes]) -> None:
        rows = self._some(
            f"SELECT f.path, {MAP} FROM {FROM_MAPS} JOIN sources AS f"
            " ON f.file_id = m.file_id WHERE sha256(f.path) IN"
            " (SELECT sha256(one) FROM unnest(%s::bytea[]) AS one)",
            paths,
        )
        for path, *columns in rows:
            self._paths[path] = self._keep(map_of_row(columns)).id

    def _read_ids(self, ids: set[str]) -> None:
        self._maps.update({public_id: None for public_id in ids if public_id not in self._maps})
        for columns in self._some(f"SELECT {MAP} FROM {FROM_MAPS} WHERE m.id = ANY(%s)", ids):
            self._keep(map_of_row(columns))
        self._deleted_file_ids.update(dict.fromkeys(ids))
        for file_id, public_id in self._some(
            "SELECT file_id, id FROM deleted WHERE id = ANY(%s)", ids
        ):
            self._deleted_file_ids[public_id] = file_id

    def _read_file_ids(self, file_ids: set[int]) -> None:
        self._ids.update(
            self._some("SELECT file_id, id FROM maps WHERE file_id = ANY(%s)", file_ids)
        )
        self._deleted_ids.update(
            self._some("SELECT file_id, id FROM deleted WHERE file_id = ANY(%s)", file_ids)
        )

    def _digests(self, digest: str, table: str, file_ids: list[int]) -> dict[int, bytes]:
        return dict(
            self._some(f"SELECT file_id, {digest} FROM {table} WHERE file_id = ANY(%s)", file_ids)
        )

    def _some(self, sql: str, keys: Iterable[Any], times: int = 1) -> list[Any]:
        """Return the rows for ``keys``, which the statement has as a parameter ``times`` times."""
        wanted = list(keys)
        return self._link.rows(sql, (wanted,) * times) if wanted else []

    def _keep(self, found: Map) -> Map:
        self._maps[found.id] = found
        self._ids[found.file_id] = found.id
        return found

    def read(self, sql: str, values: Row) -> list[Row]:
        """See ``BatchRows``."""
        return self._link.shared_rows(sql, values)

    def map_with_id(self, public_id: str) -> Map | None:
        """See ``BatchRows``."""
        return self._maps.get(public_id)

    def map_from(self, path: bytes) -> Map | None:
        """See ``BatchRows``."""
        public_id = self._paths.get(path)
        return None if public_id is None else self._maps[public_id]

    def deleted_file_id(self, public_id: str) -> int | None:
        """See ``BatchRows``."""
        return self._deleted_file_ids.get(public_id)

    def unused_id(self) -> str:
        """See ``BatchRows``."""
        while not self._unused:
            candidates = [new_id() for _ in range(self._nameless)]
            taken = self._some(
                "SELECT id FROM maps WHERE id = ANY(%s) UNION SELECT id FROM deleted"
                " WHERE id = ANY(%s)",
                candidates,
                2,
            )
            self._unused = [one for one in candidates if (one,) not in taken]
            self._unused = [one for one in self._unused if self._maps.get(one) is None]
        return self._unused.pop(0)

    def forget_deletion(self, public_id: str) -> None:
        """See ``BatchRows``."""
        file_id = self._deleted_file_ids.get(public_id)
        if file_id is not None:
            self._deleted_file_ids[public_id] = None
            self._deleted_ids.pop(file_id, None)
            self._forgotten.append(public_id)

    def id_with_file_id(self, file_id: int, other_than: str) -> str | None:
        """See ``BatchRows``."""
        alive = self._ids.get(file_id)
        if alive is not None:
            return alive
        deleted = self._deleted_ids.get(file_id)
        return None if deleted == other_than else deleted

    def last_file_id(self) -> int:
        """See ``BatchRows``."""
        return self._counters.file_id

    def use_file_id(self, file_id: int) -> None:
        """See ``BatchRows``."""
        self._counters.file_id = max(self._counters.file_id, file_id)

    def votes(self, file_id: int) -> Votes:
        """See ``BatchRows``."""
        return self._votes.get(file_id, Votes())

    def write_map(self, new: Map, owner: User) -> None:
        """See ``BatchRows``."""
        self._keep(new)
        revision = self._counters.next_revision()
        self._written_maps[new.file_id] = map_row(new, owner.id, revision)

    def has_outline(self, file_id: int, outline: bytes) -> bool:
        """See ``BatchRows``."""
        return self._outline_digests.get(file_id) == sha256(outline).digest()

    def has_content(self, file_id: int, digest: bytes) -> bool:
        """See ``BatchRows``."""
        return self._content_digests.get(file_id) == digest

    def image_digests(self, file_id: int) -> set[str]:
        """See ``BatchRows``."""
        return self._image_digests.get(file_id, set())

    def write_outline(self, file_id: int, outline: bytes, links: Sequence[MapLink]) -> None:
        """See ``BatchRows``."""
        self._outlines[file_id] = outline
        self._links[file_id] = links
        self._outline_digests[file_id] = sha256(outline).digest()

    def write_content(self, file_id: int, digest: bytes, content: bytes) -> None:
        """See ``BatchRows``."""
        self._contents[file_id] = (digest, content)
        self._content_digests[file_id] = digest

    def write_images(self, file_id: int, images: Mapping[str, bytes]) -> None:
        """See ``BatchRows``."""
        self._images[file_id] = images
        self._image_digests[file_id] = set(images)

    def write_source(self, file_id: int, source: Source) -> None:
        """See ``BatchRows``."""
        self._paths[source.path] = self._ids[file_id]
        self._written_sources.append(source_row(source, file_id))

    def user(self, name: str, now: int) -> User:
        """See ``BatchRows``."""
        return (
            find_user(self._link, name)
            or find_user(self._link, owner_in_place_of(self.read, name))
            or insert_user(self._link, composed_name(name), now)
        )

    def write(self) -> None:
        """Write all changes, maps first, since the other rows refer to them."""
        with self._link.cursor() as cursor:
            if self._forgotten:
                cursor.execute("DELETE FROM deleted WHERE id = ANY(%s)", (self._forgotten,))
            # In the order of their ids, as everywhere (``counters.lock_maps``).
            cursor.executemany(WRITE_MAP, [row for _, row in sorted(self._written_maps.items())])
            if self._outlines:
                cursor.executemany(WRITE_OUTLINE, list(self._outlines.items()))
                renewed = list(self._outlines)
                cursor.execute("DELETE FROM outdated WHERE file_id = ANY(%s)", (renewed,))
            write_links(self._link, self._links)
            write_images(self._link, self._images)
            self._inherited.write()
            cursor.executemany(WRITE_SOURCE, self._written_sources)
            contents = [(file_id, *kept) for file_id, kept in self._contents.items()]
            cursor.executemany(WRITE_CONTENT, contents)
