"""The rows that a batch of drafts reads and writes in PostgreSQL, a few statements for all of them.

Between a node and its database lies a network. Asking for each draft what SQLite is asked would
make an import wait most of the time, so what the drafts refer to is read beforehand for all at
once, decisions see it in memory, and what they write goes out at the end in one go.
"""

from collections.abc import Iterable, Sequence
from dataclasses import astuple
from hashlib import sha256
from typing import Any, Final

from mapshelf.model import LARGEST_ID, Map, MapDraft, Named, Source, User, name_key
from mapshelf.store.merge import new_id
from mapshelf.store.postgres.connections import Link, Row

MAP_COLUMNS: Final = """
    m.file_id, m.id, m.title, m.description, m.thumbs_up, m.thumbs_down, m.views, m.downloads,
    m.thumbnail, m.url, m.category_id, m.category, m.date_added, u.name, m.size, m.copyright,
    m.licence_type_id, m.software_id, coalesce(s.name, ''), m.template"""
MAP_TABLES: Final = """
    maps AS m JOIN users AS u ON u.id = m.owner_id
    LEFT JOIN software AS s ON s.id = m.software_id"""
SOURCE_COLUMNS: Final = "path, name, size, modified, digest"
USER_COLUMNS: Final = "u.id, u.name, u.registered, u.disabled"

WRITE_MAP: Final = (
    "INSERT INTO maps VALUES"
    " (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
    " ON CONFLICT (file_id) DO UPDATE SET title = excluded.title,"
    " description = excluded.description, thumbs_up = excluded.thumbs_up,"
    " thumbs_down = excluded.thumbs_down, views = excluded.views, downloads = excluded.downloads,"
    " thumbnail = excluded.thumbnail, url = excluded.url, category_id = excluded.category_id,"
    " category = excluded.category, date_added = excluded.date_added,"
    " owner_id = excluded.owner_id, size = excluded.size, copyright = excluded.copyright,"
    " licence_type_id = excluded.licence_type_id, software_id = excluded.software_id,"
    " template = excluded.template, revision = excluded.revision"
)
WRITE_SOURCE: Final = (
    f"INSERT INTO sources (file_id, {SOURCE_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s)"
    " ON CONFLICT (sha256(path)) DO UPDATE SET file_id = excluded.file_id,"
    " size = excluded.size, modified = excluded.modified, digest = excluded.digest"
)
WRITE_OUTLINE: Final = (
    "INSERT INTO outlines (file_id, outline) VALUES (%s, %s)"
    " ON CONFLICT (file_id) DO UPDATE SET outline = excluded.outline"
)
WRITE_CONTENT: Final = (
    "INSERT INTO files (file_id, digest, content) VALUES (%s, %s, %s)"
    " ON CONFLICT (file_id) DO UPDATE SET digest = excluded.digest, content = excluded.content"
)

CHANNEL: Final = "mapshelf"
"""On which those who follow the feed are told of its newest revision."""


HISTORY: Final = (
    "(SELECT system_identifier FROM pg_control_system())"
    " || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)"
)
"""Which server writes, and on which timeline: a new one begins when a standby takes over."""

LEAP: Final = 1 << 32
"""Revisions left out when another server takes over: far more than can have been lost."""


class LockedCounters:
    """The counters of the catalogue, held by one transaction at a time.

    Holding them is what makes writers take turns, so that revisions become visible in order. They
    are written back once, at the end.

    A standby that takes over may lack the last changes of its primary, and would give their
    revisions to others; a node that had seen the lost ones could not tell. So the first write on
    another server leaps ahead, and notes which revisions were never given here.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        ((revision, file_id, known, history),) = link.rows(
            f"SELECT revision, file_id, history, {HISTORY} FROM sequence FOR UPDATE"
        )
        self._before: int = revision
        self._revision: int = revision
        self.file_id: int = file_id
        self._taken_over = known != history

    def _leap(self) -> None:
        self._taken_over = False
        self._revision = (self._before // LEAP + 1) * LEAP
        self._link.execute(
            "INSERT INTO takeovers VALUES (%s, %s)", (self._before, self._revision + 1)
        )
        self._link.execute(f"UPDATE sequence SET history = {HISTORY}")

    def next_revision(self) -> int:
        """Return the revision of the next change."""
        if self._taken_over:
            self._leap()
        self._revision += 1
        return self._revision

    def write(self) -> None:
        """Write the counters back, and tell those who follow the feed once this is committed."""
        if self._revision != self._before:
            self._link.execute(
                "UPDATE sequence SET revision = %s, file_id = %s", (self._revision, self.file_id)
            )
            self._link.execute("SELECT pg_notify(%s, %s)", (CHANNEL, str(self._revision)))


class DraftRows:
    """The rows that ``drafts`` refer to, see ``batch.Rows``; ``write`` ends it."""

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
        self._contents: dict[int, tuple[bytes, bytes]] = {}
        self._opened: list[str] = []
        self._read_sources({draft.source.path for draft in drafts if draft.source})
        self._read_ids({draft.id for draft in drafts if draft.id is not None})
        self._read_file_ids({draft.file_id for draft in drafts if draft.file_id is not None})
        named = sum(
            draft.id is not None or (draft.source is not None and draft.source.path in self._paths)
            for draft in drafts
        )
        self._nameless = max(1, len(drafts) - named)
        self._unused: list[str] = []
        known = [found.file_id for found in self._maps.values() if found]
        self._outline_digests = self._digests("sha256(outline)", "outlines", known)
        self._content_digests = self._digests("digest", "files", known)

    # -- read beforehand ------------------------------------------------------------------

    def _read_sources(self, paths: set[bytes]) -> None:
        rows = self._some(
            f"SELECT f.path, {MAP_COLUMNS} FROM {MAP_TABLES} JOIN sources AS f"
            " ON f.file_id = m.file_id WHERE sha256(f.path) IN"
            " (SELECT sha256(one) FROM unnest(%s::bytea[]) AS one)",
            paths,
        )
        for path, *columns in rows:
            self._paths[path] = self._keep(Map(*columns)).id

    def _read_ids(self, ids: set[str]) -> None:
        self._maps.update({public_id: None for public_id in ids if public_id not in self._maps})
        for columns in self._some(
            f"SELECT {MAP_COLUMNS} FROM {MAP_TABLES} WHERE m.id = ANY(%s)", ids
        ):
            self._keep(Map(*columns))
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
        """Return the rows for ``keys``, which the statement names so many ``times``."""
        wanted = list(keys)
        return self._link.rows(sql, (wanted,) * times) if wanted else []

    def _keep(self, found: Map) -> Map:
        self._maps[found.id] = found
        self._ids[found.file_id] = found.id
        return found

    # -- maps -----------------------------------------------------------------------------

    def map_with_id(self, public_id: str) -> Map | None:
        """See ``Rows``."""
        return self._maps.get(public_id)

    def map_from(self, path: bytes) -> Map | None:
        """See ``Rows``."""
        public_id = self._paths.get(path)
        return None if public_id is None else self._maps[public_id]

    def deleted_file_id(self, public_id: str) -> int | None:
        """See ``Rows``."""
        return self._deleted_file_ids.get(public_id)

    def unused_id(self) -> str:
        """See ``Rows``."""
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
        """See ``Rows``."""
        file_id = self._deleted_file_ids.get(public_id)
        if file_id is not None:
            self._deleted_file_ids[public_id] = None
            self._deleted_ids.pop(file_id, None)
            self._opened.append(public_id)

    def id_with_file_id(self, file_id: int, other_than: str) -> str | None:
        """See ``Rows``."""
        alive = self._ids.get(file_id)
        if alive is not None:
            return alive
        deleted = self._deleted_ids.get(file_id)
        return None if deleted == other_than else deleted

    def last_file_id(self) -> int:
        """See ``Rows``."""
        return self._counters.file_id

    def use_file_id(self, file_id: int) -> None:
        """See ``Rows``."""
        self._counters.file_id = max(self._counters.file_id, file_id)

    def write_map(self, new: Map, owner: User) -> None:
        """See ``Rows``."""
        self._keep(new)
        columns = list(astuple(new))
        del columns[18]  # the name of its software, which stands in a table of its own
        columns[13] = owner.id
        self._written_maps[new.file_id] = (*columns, self._counters.next_revision())

    # -- what belongs to them -------------------------------------------------------------

    def has_outline(self, file_id: int, outline: bytes) -> bool:
        """See ``Rows``."""
        return self._outline_digests.get(file_id) == sha256(outline).digest()

    def has_content(self, file_id: int, digest: bytes) -> bool:
        """See ``Rows``."""
        return self._content_digests.get(file_id) == digest

    def write_outline(self, file_id: int, outline: bytes) -> None:
        """See ``Rows``."""
        self._outlines[file_id] = outline
        self._outline_digests[file_id] = sha256(outline).digest()

    def write_content(self, file_id: int, digest: bytes, content: bytes) -> None:
        """See ``Rows``."""
        self._contents[file_id] = (digest, content)
        self._content_digests[file_id] = digest

    def write_source(self, file_id: int, source: Source) -> None:
        """See ``Rows``."""
        self._paths[source.path] = self._ids[file_id]
        self._written_sources.append((file_id, *astuple(source)))

    # -- what they refer to ---------------------------------------------------------------

    def user(self, name: str) -> User | None:
        """See ``Rows``."""
        return find_user(self._link, name)

    def add_user(self, name: str, now: int) -> User:
        """See ``Rows``."""
        return insert_user(self._link, name, now)

    def software_named(self, name: str) -> Named | None:
        """See ``Rows``."""
        return self._named("SELECT id, name FROM software WHERE name_key = %s", name_key(name))

    def add_software(self, name: str) -> Named:
        """See ``Rows``."""
        return self._added(
            "INSERT INTO software (id, name, name_key)"
            " VALUES ((SELECT coalesce(max(id), 0) + 1 FROM software), %s, %s) RETURNING id, name",
            (name.strip(), name_key(name)),
        )

    def category_with_id(self, category_id: int) -> Named | None:
        """See ``Rows``."""
        return self._named("SELECT id, name FROM categories WHERE id = %s", category_id)

    def category_named(self, name: str) -> Named | None:
        """See ``Rows``."""
        return self._named(
            "SELECT id, name FROM categories WHERE name_key = %s ORDER BY id LIMIT 1",
            name_key(name),
        )

    def add_category(self, category_id: int | None, name: str) -> Named:
        """See ``Rows``."""
        # An imported category with the largest id of all must not use up those for others.
        following = "(SELECT max(id) + 1 FROM categories WHERE id < %s)"
        return self._added(
            "INSERT INTO categories (id, name, name_key)"
            f" VALUES (coalesce(%s::bigint, {following}), %s, %s) RETURNING id, name",
            (category_id, LARGEST_ID, name.strip(), name_key(name)),
        )

    def _named(self, sql: str, key: str | int) -> Named | None:
        rows = self._link.rows(sql, (key,))
        return Named(*rows[0]) if rows else None

    def _added(self, sql: str, parameters: Row) -> Named:
        return Named(*self._link.rows(sql, parameters)[0])

    # -- written at the end ---------------------------------------------------------------

    def write(self) -> None:
        """Write what the drafts changed; the maps first, since the other rows refer to them."""
        with self._link.cursor() as cursor:
            if self._opened:
                cursor.execute("DELETE FROM deleted WHERE id = ANY(%s)", (self._opened,))
            cursor.executemany(WRITE_MAP, list(self._written_maps.values()))
            cursor.executemany(WRITE_OUTLINE, list(self._outlines.items()))
            cursor.executemany(WRITE_SOURCE, self._written_sources)
            contents = [(file_id, *kept) for file_id, kept in self._contents.items()]
            cursor.executemany(WRITE_CONTENT, contents)


def find_user(link: Link, name: str) -> User | None:
    """Return the user with this name, in any case."""
    rows = link.rows(
        f"SELECT {USER_COLUMNS} FROM users AS u WHERE u.name_key = %s", (name_key(name),)
    )
    return User(*rows[0]) if rows else None


def insert_user(link: Link, name: str, now: int) -> User:
    """Register a user whose name is free."""
    rows = link.rows(
        "INSERT INTO users (name, name_key, registered) VALUES (%s, %s, %s)"
        " RETURNING id, name, registered, disabled",
        (name.strip(), name_key(name), now),
    )
    return User(*rows[0])
