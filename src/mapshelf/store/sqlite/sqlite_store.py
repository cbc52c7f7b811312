"""The store on SQLite: one file, one machine, nothing to operate.

SQLite comes through ``apsw``, whose wheel carries a current library: versions before 3.51.3 can
corrupt a WAL database when two connections write and checkpoint at the same time. WAL lets
readers go on while one writes; ``synchronous=FULL`` makes an acknowledged write outlive a power
cut. Each store object has one connection for writing and one for reading, each behind a lock.
"""

import heapq
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import apsw

from mapshelf.clock import milliseconds
from mapshelf.errors import (
    AlreadyExists,
    InvalidSetting,
    NotFound,
    StoreDamaged,
    StoreError,
    StoreMissing,
    StoreUnavailable,
)
from mapshelf.model import (
    LARGEST_ID,
    SYSTEM_USER,
    Change,
    Credential,
    Map,
    MapDraft,
    Named,
    OriginalFile,
    Outcome,
    Source,
    Token,
    User,
    Visit,
    name_key,
)
from mapshelf.store import seed
from mapshelf.store.batch import Batch
from mapshelf.store.merge import new_id
from mapshelf.store.scripts import read_script, schema_digest
from mapshelf.store.tables import DELETED, MAPS, CatalogueCounters, Row, Table
from mapshelf.store.visit_counts import (
    MAPS_AT_ONCE,
    added,
    counts_by_map,
    first_salted_day,
    new_salt,
    remembered_hours,
)

SAFE_VERSION: Final = (3, 51, 3)
"""The first SQLite without the WAL-reset corruption bug."""

APPLICATION_ID: Final = 0x4D61_7053
"""Written in the database header ("MapS"), so that we never migrate somebody else's file."""

BUSY_TIMEOUT: Final = 10_000
"""Milliseconds to wait for another process's write before giving up."""

LOOK_INTERVAL: Final = 0.1
"""Seconds between looks at whether another process has written."""

MIGRATIONS: Final = ("sqlite_0001.sql", "sqlite_0002.sql", "sqlite_0003.sql")
"""Scripts in the order they were added; ``user_version`` tells which a database has had."""

MAP_COLUMNS: Final = """
    m.file_id, m.id, m.title, m.description, m.thumbs_up, m.thumbs_down, m.views, m.downloads,
    m.thumbnail, m.url, m.category_id, m.category, m.date_added, u.name, m.size, m.copyright,
    m.licence_type_id, m.software_id, coalesce(s.name, ''), m.template"""
MAP_TABLES: Final = """
    maps AS m JOIN users AS u ON u.id = m.owner_id
    LEFT JOIN software AS s ON s.id = m.software_id"""
SOURCE_COLUMNS: Final = "path, name, size, modified, digest"
USER_COLUMNS: Final = "u.id, u.name, u.registered, u.disabled"
TOKEN_COLUMNS: Final = (
    "t.id, u.name, t.label, t.scopes, t.created, t.expires, t.revoked, t.last_used"
)


class SQLiteStore:
    """A ``Store`` in the SQLite database at ``path``, made if need be and ``create`` is set.

    Opening a catalogue that is up to date writes nothing: it works while another process writes,
    and on a disk that is full.

    Raises:
        InvalidSetting: the SQLite library is too old to be trusted with a WAL database.
        StoreMissing: there is no catalogue, and ``create`` is not set.
        StoreUnavailable: the file cannot be opened.
        StoreDamaged: the file is not a catalogue, or one of a newer or a development version.
    """

    tokens_version_age = 0.9

    def __init__(
        self, path: Path, clock: Callable[[], int] = milliseconds, *, create: bool = True
    ) -> None:
        version = apsw.sqlite_lib_version()
        if tuple(map(int, version.split("."))) < SAFE_VERSION:
            raise InvalidSetting(f"SQLite {version} is too old; 3.51.3 or newer is needed")
        self._clock = clock
        with _translated():
            if create:
                _make_folder(path.parent)
            else:
                _look_for(path)
            with _told_if_read_only(path):
                self._writer = _Connection(path, create=create)
                self._reader = _Connection(path, create=create)
        with self._reading() as database:
            current = _migrations_had(database) == len(MIGRATIONS)
        if not current:
            with self._writing() as database:
                _migrate(database, clock())

    def close(self) -> None:
        """See ``Store``."""
        self._writer.close()
        self._reader.close()

    def identity(self) -> str:
        """See ``Store``."""
        return str(self._one("SELECT identity FROM sequence")[0])

    # -- the change feed ------------------------------------------------------------------

    def revision(self) -> int:
        """See ``Store``."""
        return int(self._one("SELECT revision FROM sequence")[0])

    def changes(self, after: int, limit: int) -> list[Change]:
        """See ``Store``. Writers are serialised, so revisions become visible in order."""
        with self._reading() as database:
            present = database.execute(
                "SELECT m.revision, o.outline, (SELECT coalesce(min(f.name), '') FROM sources AS f"
                f" WHERE f.file_id = m.file_id), {MAP_COLUMNS} FROM {MAP_TABLES}"
                " LEFT JOIN outlines AS o ON o.file_id = m.file_id"
                " WHERE m.revision > ? ORDER BY m.revision LIMIT ?",
                (after, limit),
            )
            gone = database.execute(
                "SELECT revision, file_id FROM deleted WHERE revision > ?"
                " ORDER BY revision LIMIT ?",
                (after, limit),
            )
            both = heapq.merge(
                (Change(row[0], row[3], _map(row[3:]), row[1], row[2]) for row in present),
                (Change(row[0], row[1], None, None) for row in gone),
                key=lambda change: change.revision,
            )
            return [change for change, _ in zip(both, range(limit), strict=False)]

    def wait(self, after: int, seconds: float) -> bool:
        """See ``Store``. Nothing tells of another process's writes, but looking costs little."""
        deadline = time.monotonic() + seconds
        while True:
            with suppress(StoreError):
                if self.revision() != after:
                    return True
            rest = deadline - time.monotonic()
            if rest <= 0:
                return False
            time.sleep(min(LOOK_INTERVAL, rest))

    # -- maps -----------------------------------------------------------------------------

    def put_maps(self, drafts: Sequence[MapDraft]) -> list[Outcome]:
        """See ``Store``."""
        with self._writing() as database:
            return Batch(_Rows(database), self._clock()).put(drafts)

    def delete_maps(self, ids: Iterable[str]) -> int:
        """See ``Store``."""
        with self._writing() as database:
            return sum(_delete(database, public_id) for public_id in ids)

    def maps(self, after: int, limit: int) -> list[Map]:
        """See ``Store``."""
        rows = self._all(
            f"SELECT {MAP_COLUMNS} FROM {MAP_TABLES}"
            " WHERE m.file_id > ? ORDER BY m.file_id LIMIT ?",
            (after, limit),
        )
        return [_map(row) for row in rows]

    def map_count(self) -> int:
        """See ``Store``."""
        ((count,),) = self._all("SELECT count(*) FROM maps")
        return int(count)

    def outline(self, file_id: int) -> bytes | None:
        """See ``Store``."""
        rows = self._all("SELECT outline FROM outlines WHERE file_id = ?", (file_id,))
        return rows[0][0] if rows else None

    def content(self, file_id: int) -> OriginalFile | None:
        """See ``Store``."""
        rows = self._all(
            # Of several sources, the name of the one this came from.
            "SELECT coalesce((SELECT s.name FROM sources AS s WHERE s.file_id = f.file_id"
            " ORDER BY s.digest <> f.digest, s.path LIMIT 1), ''), f.digest, f.content"
            " FROM files AS f WHERE f.file_id = ?",
            (file_id,),
        )
        return OriginalFile(rows[0][0].rpartition("/")[2], *rows[0][1:]) if rows else None

    def sources(self, paths: Sequence[bytes]) -> dict[bytes, Source]:
        """See ``Store``."""
        query = f"SELECT {SOURCE_COLUMNS} FROM sources WHERE path = ?"
        with self._reading() as database:
            found = (database.execute(query, (path,)).fetchone() for path in paths)
            return {row[0]: Source(*row) for row in found if row is not None}

    def sources_below(self, folder: bytes, after: bytes, limit: int) -> list[Source]:
        """See ``Store``."""
        # "0" is the character after the slash: all paths below the folder lie in between.
        rows = self._all(
            f"SELECT {SOURCE_COLUMNS} FROM sources"
            " WHERE path > ? AND path < ? ORDER BY path LIMIT ?",
            (max(folder + b"/", after), folder + b"0", limit),
        )
        return [Source(*row) for row in rows]

    def sources_of(self, digest: bytes) -> list[Source]:
        """See ``Store``."""
        rows = self._all(
            f"SELECT {SOURCE_COLUMNS} FROM sources WHERE digest = ? ORDER BY path", (digest,)
        )
        return [Source(*row) for row in rows]

    def move_source(self, old: bytes, new: Source) -> bool:
        """See ``Store``."""
        with self._writing() as database:
            taken = database.execute("SELECT 1 FROM sources WHERE path = ?", (new.path,))
            if new.path != old and taken.fetchone():
                return False
            moved: list[Row] = database.execute(
                "UPDATE sources SET path = ?, name = ?, size = ?, modified = ?, digest = ?"
                " WHERE path = ? RETURNING file_id",
                (new.path, new.name, new.size, new.modified, new.digest, old),
            ).fetchall()
            for (file_id,) in moved:
                database.execute(
                    "UPDATE maps SET revision = ? WHERE file_id = ?",
                    (_next_revision(database), file_id),
                )
            return bool(moved)

    def delete_sources(self, paths: Sequence[bytes]) -> int:
        """See ``Store``."""
        query = (
            "SELECT m.id FROM sources AS s JOIN maps AS m ON m.file_id = s.file_id WHERE s.path = ?"
        )
        with self._writing() as database:
            found = [row[0] for path in paths for row in database.execute(query, (path,))]
            return sum(_delete(database, public_id) for public_id in found)

    # -- the small tables -----------------------------------------------------------------

    def categories(self) -> list[Named]:
        """See ``Store``."""
        return [Named(*row) for row in self._all("SELECT id, name FROM categories ORDER BY id")]

    def software(self) -> list[Named]:
        """See ``Store``."""
        return [Named(*row) for row in self._all("SELECT id, name FROM software ORDER BY id")]

    def licence_types(self) -> list[Named]:
        """See ``Store``."""
        return [Named(*row) for row in self._all("SELECT id, name FROM licence_types ORDER BY id")]

    # -- users and tokens -----------------------------------------------------------------

    def add_user(self, name: str) -> User:
        """See ``Store``."""
        with self._writing() as database:
            if _find_user(database, name) is not None:
                raise AlreadyExists(f"there is a user {name} already")
            return _insert_user(database, name, self._clock())

    def users(self) -> list[User]:
        """See ``Store``."""
        rows = self._all(f"SELECT {USER_COLUMNS} FROM users AS u ORDER BY u.id")
        return [_user(row) for row in rows]

    def disable_user(self, name: str) -> User:
        """See ``Store``."""
        with self._writing() as database:
            user = _user_named(database, name)
            database.execute("UPDATE users SET disabled = 1 WHERE id = ?", (user.id,))
            return _user_named(database, name)

    def add_token(
        self, user: str, digest: bytes, *, label: str, scopes: str, expires: int | None
    ) -> Token:
        """See ``Store``."""
        with self._writing() as database:
            owner = _user_named(database, user)
            database.execute(
                "INSERT INTO tokens (user_id, digest, label, scopes, created, expires)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (owner.id, digest, label, scopes, self._clock(), expires),
            )
            return _token(database, "t.digest = ?", digest)

    def tokens(self, user: str) -> list[Token]:
        """See ``Store``."""
        with self._reading() as database:
            owner = _user_named(database, user)
            rows = database.execute(
                f"SELECT {TOKEN_COLUMNS} FROM tokens AS t JOIN users AS u ON u.id = t.user_id"
                " WHERE u.id = ? ORDER BY t.id",
                (owner.id,),
            )
            return [Token(*row) for row in rows]

    def revoke_token(self, token_id: int) -> Token:
        """See ``Store``."""
        with self._writing() as database:
            database.execute(
                "UPDATE tokens SET revoked = coalesce(revoked, ?) WHERE id = ?",
                (self._clock(), token_id),
            )
            return _token(database, "t.id = ?", token_id)

    def tokens_version(self) -> str:
        """See ``Store``."""
        return str(self._one("SELECT mark FROM token_mark")[0])

    def find_credentials(
        self, digests: Sequence[bytes], version: str = ""
    ) -> dict[bytes, Credential]:
        """See ``Store``."""
        with self._reading() as database:
            rows = database.executemany(
                f"SELECT t.digest, {USER_COLUMNS}, {TOKEN_COLUMNS} FROM tokens AS t"
                " JOIN users AS u ON u.id = t.user_id WHERE t.digest = ?",
                [(digest,) for digest in digests],
            )
            return {row[0]: Credential(Token(*row[5:]), _user(row[1:5])) for row in rows}

    def touch_tokens(self, used: Mapping[int, int]) -> None:
        """See ``Store``."""
        with self._writing() as database:
            database.executemany(
                "UPDATE tokens SET last_used = max(coalesce(last_used, 0), ?) WHERE id = ?",
                [(when, token_id) for token_id, when in used.items()],
            )

    # -- visits ---------------------------------------------------------------------------

    def visitor_salt(self, day: int) -> bytes:
        """See ``Store``."""
        query = "SELECT salt FROM salts WHERE day = ?"
        rows = self._all(query, (day,))
        if not rows:
            with self._writing() as database:
                database.execute("INSERT OR IGNORE INTO salts VALUES (?, ?)", (day, new_salt()))
                rows = database.execute(query, (day,)).fetchall()
        salt: bytes = rows[0][0]
        return salt

    def count_visits(self, visits: Sequence[Visit], now: int, most: int) -> int:
        """See ``Store``."""
        first, last = remembered_hours(now)
        with self._writing() as database:
            database.execute("DELETE FROM salts WHERE day < ?", (first_salted_day(now),))
            database.execute("DELETE FROM visits WHERE hour < ? OR hour > ?", (first, last))
            room = most - _integer(database, "SELECT count(*) FROM visits")
            timely = [visit for visit in visits if first <= visit.hour <= last]
            fresh = [visit for visit in timely[: max(0, room)] if _is_new(database, visit)]
            database.executemany(
                "INSERT INTO tallies VALUES (?, ?, ?, ?) ON CONFLICT (file_id) DO UPDATE"
                " SET views = views + excluded.views, downloads = downloads + excluded.downloads",
                [(file_id, *counts, now) for file_id, counts in counts_by_map(fresh).items()],
            )
            return len(timely) - min(len(timely), max(0, room))

    def apply_visit_counts(self, before: int) -> int:
        """See ``Store``."""
        applied = 0
        if self._all("SELECT 1 FROM tallies WHERE since < ? LIMIT 1", (before,)):
            while some := self._apply_some_counts():
                applied += some
        return applied

    def _apply_some_counts(self) -> int:
        with self._writing() as database:
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
                            added(had_views, views),
                            added(had_downloads, downloads),
                            _next_revision(database),
                            file_id,
                        ),
                    )
            return len(rows)

    # -- moving ---------------------------------------------------------------------------

    def rows(self, table: Table, after: Any, limit: int) -> list[Row]:
        """See ``Store``."""
        above = "" if after is None else f"WHERE {table.key} > ?2"
        return self._all(
            f"SELECT {', '.join(table.columns)} FROM {table.name} {above}"
            f" ORDER BY {table.key} LIMIT ?1",
            (limit,) if after is None else (limit, after),
        )

    def rows_of(self, table: Table, file_ids: Sequence[int]) -> list[Row]:
        """See ``Store``."""
        query = f"SELECT {', '.join(table.columns)} FROM {table.name} WHERE file_id = ?"
        with self._reading() as database:
            found = [row for file_id in file_ids for row in database.execute(query, (file_id,))]
        place = table.columns.index(table.key)
        return sorted(found, key=lambda row: row[place])

    def write_rows(self, rows: Mapping[Table, Sequence[Row]], counters: CatalogueCounters) -> None:
        """See ``Store``."""
        with self._writing() as database:
            for table in (MAPS, DELETED):
                gone = [(row[0],) for row in rows.get(table, ())]
                database.executemany("DELETE FROM maps WHERE file_id = ?", gone)
                database.executemany("DELETE FROM deleted WHERE file_id = ?", gone)
            for table, some in rows.items():
                database.executemany(table.upsert(["?"] * len(table.columns)), some)
            database.execute(
                "UPDATE sequence SET identity = ?, revision = ?, file_id = ?",
                (counters.identity, counters.revision, counters.file_id),
            )

    def catalogue_counters(self) -> CatalogueCounters:
        """See ``Store``."""
        return CatalogueCounters(*self._one("SELECT identity, revision, file_id FROM sequence"))

    # -- care -----------------------------------------------------------------------------

    def check(self) -> list[str]:
        """See ``Store``."""
        faults = [str(row[0]) for row in self._all("PRAGMA integrity_check") if row[0] != "ok"]
        for table, row_id, parent, _ in self._all("PRAGMA foreign_key_check"):
            faults.append(f"row {row_id} of {table} refers to a row of {parent} that is not there")
        return faults

    # -- connections ----------------------------------------------------------------------

    def _all(self, sql: str, bindings: Row = ()) -> list[Row]:
        with self._reading() as database:
            return database.execute(sql, bindings).fetchall()

    def _one(self, sql: str) -> Row:
        return self._all(sql)[0]

    @contextmanager
    def _reading(self) -> Iterator[apsw.Connection]:
        """Give one consistent view of the database."""
        with self._reader.locked() as database, _translated(), _transaction(database, "DEFERRED"):
            yield database

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        """Give a transaction that is durable once this returns, and undone if it raises."""
        with self._writer.locked() as database, _translated(), _transaction(database, "IMMEDIATE"):
            yield database


class _Connection:
    """A connection with its lock: apsw refuses use from two threads at once."""

    def __init__(self, path: Path, *, create: bool) -> None:
        self._lock = threading.Lock()
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
        self._database: apsw.Connection | None = apsw.Connection(str(path), flags)
        self._database.set_busy_timeout(BUSY_TIMEOUT)
        with _transaction(self._database, "DEFERRED"):
            # Before anything of somebody else's file changes.
            if not _migrations_had(self._database) and not create:
                raise StoreMissing(f"there is no catalogue in {path}")
        _make_private(path)
        _use_wal(self._database)
        # What tells visitors apart is to be gone when it is deleted, where that costs no writing.
        for pragma in ("synchronous = FULL", "foreign_keys = ON", "secure_delete = FAST"):
            self._database.execute(f"PRAGMA {pragma}")

    @contextmanager
    def locked(self) -> Iterator[apsw.Connection]:
        with self._lock:
            if self._database is None:
                raise StoreUnavailable("the store is closed")
            yield self._database

    def close(self) -> None:
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None


class _Rows:
    """The rows that a batch of drafts reads and writes, see ``batch.Rows``."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database

    def map_with_id(self, public_id: str) -> Map | None:
        return self._map("m.id = ?", public_id)

    def map_from(self, path: bytes) -> Map | None:
        return self._map("m.file_id = (SELECT file_id FROM sources WHERE path = ?)", path)

    def _map(self, condition: str, key: str | bytes) -> Map | None:
        row = self._database.execute(
            f"SELECT {MAP_COLUMNS} FROM {MAP_TABLES} WHERE {condition}", (key,)
        ).fetchone()
        return _map(row) if row else None

    def deleted_file_id(self, public_id: str) -> int | None:
        row = self._database.execute(
            "SELECT file_id FROM deleted WHERE id = ?", (public_id,)
        ).fetchone()
        return row[0] if row else None

    def unused_id(self) -> str:
        while True:
            candidate = new_id()
            taken = self._database.execute(
                "SELECT 1 FROM maps WHERE id = ?1 UNION SELECT 1 FROM deleted WHERE id = ?1",
                (candidate,),
            ).fetchone()
            if not taken:
                return candidate

    def forget_deletion(self, public_id: str) -> None:
        self._database.execute("DELETE FROM deleted WHERE id = ?", (public_id,))

    def id_with_file_id(self, file_id: int, other_than: str) -> str | None:
        row = self._database.execute(
            "SELECT id FROM maps WHERE file_id = ?1 UNION SELECT id FROM deleted"
            " WHERE file_id = ?1 AND id <> ?2",
            (file_id, other_than),
        ).fetchone()
        return row[0] if row else None

    def last_file_id(self) -> int:
        return _integer(self._database, "SELECT file_id FROM sequence")

    def use_file_id(self, file_id: int) -> None:
        self._database.execute("UPDATE sequence SET file_id = max(file_id, ?)", (file_id,))

    def user(self, name: str) -> User | None:
        return _find_user(self._database, name)

    def add_user(self, name: str, now: int) -> User:
        return _insert_user(self._database, name, now)

    def software_named(self, name: str) -> Named | None:
        return self._named("SELECT id, name FROM software WHERE name_key = ?", name_key(name))

    def add_software(self, name: str) -> Named:
        return self._added(
            "INSERT INTO software (name, name_key) VALUES (?, ?) RETURNING id, name",
            (name.strip(), name_key(name)),
        )

    def category_with_id(self, category_id: int) -> Named | None:
        return self._named("SELECT id, name FROM categories WHERE id = ?", category_id)

    def category_named(self, name: str) -> Named | None:
        return self._named(
            "SELECT id, name FROM categories WHERE name_key = ? ORDER BY id LIMIT 1",
            name_key(name),
        )

    def add_category(self, category_id: int | None, name: str) -> Named:
        # An imported category with the largest id of all must not use up those for others.
        following = "(SELECT max(id) + 1 FROM categories WHERE id < ?4)"
        return self._added(
            "INSERT INTO categories (id, name, name_key)"
            f" VALUES (coalesce(?1, {following}), ?2, ?3) RETURNING id, name",
            (category_id, name.strip(), name_key(name), LARGEST_ID),
        )

    def _named(self, sql: str, key: str | int) -> Named | None:
        row = self._database.execute(sql, (key,)).fetchone()
        return Named(*row) if row else None

    def _added(self, sql: str, bindings: Row) -> Named:
        rows: list[Row] = self._database.execute(sql, bindings).fetchall()
        return Named(*rows[0])

    def has_outline(self, file_id: int, outline: bytes) -> bool:
        row = self._database.execute(
            "SELECT outline FROM outlines WHERE file_id = ?", (file_id,)
        ).fetchone()
        return row is not None and row[0] == outline

    def has_content(self, file_id: int, digest: bytes) -> bool:
        row = self._database.execute(
            "SELECT digest FROM files WHERE file_id = ?", (file_id,)
        ).fetchone()
        return row is not None and row[0] == digest

    def write_map(self, new: Map, owner: User) -> None:
        self._database.execute(
            "INSERT INTO maps VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (file_id) DO UPDATE SET title = excluded.title,"
            " description = excluded.description, thumbs_up = excluded.thumbs_up,"
            " thumbs_down = excluded.thumbs_down, views = excluded.views,"
            " downloads = excluded.downloads, thumbnail = excluded.thumbnail,"
            " url = excluded.url, category_id = excluded.category_id,"
            " category = excluded.category, date_added = excluded.date_added,"
            " owner_id = excluded.owner_id, size = excluded.size,"
            " copyright = excluded.copyright, licence_type_id = excluded.licence_type_id,"
            " software_id = excluded.software_id, template = excluded.template,"
            " revision = excluded.revision",
            (
                new.file_id,
                new.id,
                new.title,
                new.description,
                new.thumbs_up,
                new.thumbs_down,
                new.views,
                new.downloads,
                new.thumbnail,
                new.url,
                new.category_id,
                new.category,
                new.date_added,
                owner.id,
                new.size,
                new.copyright,
                new.licence_type_id,
                new.software_id,
                new.template,
                _next_revision(self._database),
            ),
        )

    def write_outline(self, file_id: int, outline: bytes) -> None:
        self._database.execute(
            "INSERT OR REPLACE INTO outlines (file_id, outline) VALUES (?, ?)", (file_id, outline)
        )

    def write_content(self, file_id: int, digest: bytes, content: bytes) -> None:
        self._database.execute(
            "INSERT OR REPLACE INTO files (file_id, digest, content) VALUES (?, ?, ?)",
            (file_id, digest, content),
        )

    def write_source(self, file_id: int, source: Source) -> None:
        self._database.execute(
            f"INSERT INTO sources (file_id, {SOURCE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (path) DO UPDATE SET file_id = excluded.file_id,"
            " size = excluded.size, modified = excluded.modified, digest = excluded.digest",
            (file_id, source.path, source.name, source.size, source.modified, source.digest),
        )


@contextmanager
def _transaction(database: apsw.Connection, kind: str) -> Iterator[None]:
    database.execute(f"BEGIN {kind}")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"cannot make {folder}: {error.strerror}") from error


def _look_for(path: Path) -> None:
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise StoreMissing(f"there is no catalogue in {path}") from error
    except OSError as error:
        raise StoreUnavailable(f"cannot open {path}: {error.strerror}") from error


@contextmanager
def _told_if_read_only(path: Path) -> Iterator[None]:
    """Say why a database cannot be opened where SQLite does not: even readers need to write."""
    try:
        yield
    except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
        for needed in (path.parent, path):
            if needed.exists() and not os.access(needed, os.W_OK):
                raise StoreUnavailable(f"cannot open {path}: {needed} is read-only") from error
        raise


def _make_private(path: Path) -> None:
    try:
        if stat.S_IMODE(path.stat().st_mode) != 0o600:
            path.chmod(0o600)
    except OSError as error:
        raise StoreUnavailable(f"cannot make {path} private: {error.strerror}") from error


def _use_wal(database: apsw.Connection) -> None:
    """Switch to WAL, waiting for others here: SQLite itself does not wait for this one."""
    deadline = time.monotonic() + BUSY_TIMEOUT / 1000
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


@contextmanager
def _translated() -> Iterator[None]:
    """Turn what SQLite raises into our own errors."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StoreDamaged(f"the SQLite database is damaged: {error}") from error
    except UnicodeDecodeError as error:  # SQLite itself takes any bytes for a text
        raise StoreDamaged("the SQLite database is damaged: a text in it is not UTF-8") from error
    except (
        apsw.BusyError,
        apsw.LockedError,
        apsw.ProtocolError,
        apsw.FullError,
        apsw.IOError,
        apsw.CantOpenError,
        apsw.ReadOnlyError,
    ) as error:
        raise StoreUnavailable(f"the SQLite database cannot be used now: {error}") from error
    except apsw.Error as error:
        raise StoreError(f"the SQLite database refused: {error}") from error


def _migrate(database: apsw.Connection, now: int) -> None:
    """Bring the schema up to date; inside the caller's transaction, so all of it or nothing."""
    version = _migrations_had(database)
    if version == 0:
        database.pragma("application_id", APPLICATION_ID)
    for name in MIGRATIONS[version:]:
        database.execute(read_script(name))
    if version == 0:
        _seed(database, now)
    database.pragma("user_version", _mark(len(MIGRATIONS)))


def _migrations_had(database: apsw.Connection) -> int:
    """Return how many migrations the database has had, 0 if it is new.

    Raises:
        StoreDamaged: it is somebody else's, or of a newer or a development version.
    """
    (mark,) = _row(database, "PRAGMA user_version")
    (application,) = _row(database, "PRAGMA application_id")
    if application != APPLICATION_ID:
        if mark or application or database.execute("SELECT 1 FROM sqlite_schema").fetchone():
            raise StoreDamaged("the database holds something other than a catalogue")
        return 0
    version = int(mark) & 0xFF
    if version > len(MIGRATIONS):
        raise StoreDamaged("the database was written by a newer version of Mapshelf")
    if mark != _mark(version):
        raise StoreDamaged(
            "the database was made by a development version of Mapshelf, with another schema;"
            " export with that version and import anew"
        )
    return version


def _mark(count: int) -> int:
    """Return what tells a database that has had the first ``count`` migrations.

    The lowest byte is the count. Above it stand 23 bits of a digest of the scripts, since one that
    is not released yet may still change. The header of the file has room for no more, and is the
    one place that can be read whatever else is damaged.
    """
    digest = schema_digest(MIGRATIONS[:count])
    return (int.from_bytes(digest[:3]) >> 1) << 8 | count


def _seed(database: apsw.Connection, now: int) -> None:
    for category in seed.CATEGORIES:
        row = (category.id, category.name, name_key(category.name))
        database.execute("INSERT INTO categories VALUES (?, ?, ?)", row)
    for software in seed.SOFTWARE:
        row = (software.id, software.name, name_key(software.name))
        database.execute("INSERT INTO software VALUES (?, ?, ?)", row)
    for licence in seed.LICENCE_TYPES:
        database.execute("INSERT INTO licence_types VALUES (?, ?)", (licence.id, licence.name))
    _insert_user(database, SYSTEM_USER, now)


def _next_revision(database: apsw.Connection) -> int:
    return _integer(database, "UPDATE sequence SET revision = revision + 1 RETURNING revision")


def _integer(database: apsw.Connection, sql: str) -> int:
    return int(_row(database, sql)[0])


def _row(database: apsw.Connection, sql: str) -> Row:
    rows: list[Row] = database.execute(sql).fetchall()
    return rows[0]


def _is_new(database: apsw.Connection, visit: Visit) -> bool:
    """Remember a visit; tell whether it counts, because it was not known and its map is there."""
    database.execute(
        "INSERT OR IGNORE INTO visits SELECT ?, ? FROM maps WHERE file_id = ?",
        (visit.hour, visit.key, visit.file_id),
    )
    return database.changes() == 1


def _delete(database: apsw.Connection, public_id: str) -> bool:
    row = database.execute("SELECT file_id FROM maps WHERE id = ?", (public_id,)).fetchone()
    if row is None:
        return False
    database.execute("DELETE FROM maps WHERE file_id = ?", row)
    database.execute(
        "INSERT INTO deleted VALUES (?, ?, ?)", (row[0], public_id, _next_revision(database))
    )
    return True


def _find_user(database: apsw.Connection, name: str) -> User | None:
    row = database.execute(
        f"SELECT {USER_COLUMNS} FROM users AS u WHERE u.name_key = ?", (name_key(name),)
    ).fetchone()
    return _user(row) if row else None


def _user_named(database: apsw.Connection, name: str) -> User:
    user = _find_user(database, name)
    if user is None:
        raise NotFound(f"there is no user {name}")
    return user


def _insert_user(database: apsw.Connection, name: str, now: int) -> User:
    row = database.execute(
        "INSERT INTO users (name, name_key, registered) VALUES (?, ?, ?)"
        " RETURNING id, name, registered, disabled",
        (name.strip(), name_key(name), now),
    ).fetchall()[0]
    return _user(row)


def _token(database: apsw.Connection, condition: str, key: object) -> Token:
    row = database.execute(
        f"SELECT {TOKEN_COLUMNS} FROM tokens AS t JOIN users AS u ON u.id = t.user_id"
        f" WHERE {condition}",
        (key,),
    ).fetchone()
    if row is None:
        raise NotFound("there is no such token")
    return Token(*row)


def _map(row: Row) -> Map:
    return Map(*(*row[:-1], bool(row[-1])))


def _user(row: Row) -> User:
    return User(id=row[0], name=row[1], registered=row[2], disabled=bool(row[3]))
