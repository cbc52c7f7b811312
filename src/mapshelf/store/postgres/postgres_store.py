"""The store on PostgreSQL: one database for any number of nodes.

Writers take turns: each begins by taking the row that holds the counters, and the others wait for
it. That costs little beside what PostgreSQL does for a write, it makes revisions visible in order
(the one thing a feed by numbers needs, and which sequences do not give), and it lets a batch look
things up and then write without anybody in between, as in SQLite. Users and tokens are changed
without it, so that a revocation waits for no import.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from mapshelf.clock import milliseconds
from mapshelf.errors import AlreadyExists, HistoryLost, NotFound, StoreUnavailable
from mapshelf.model import (
    LARGEST_COUNT,
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
)
from mapshelf.store.batch import Batch
from mapshelf.store.postgres.connections import READ_TIMEOUT, Connections, Link, Row
from mapshelf.store.postgres.listening import Listener
from mapshelf.store.postgres.rows import (
    CHANNEL,
    LEAP,
    MAP_COLUMNS,
    MAP_TABLES,
    SOURCE_COLUMNS,
    USER_COLUMNS,
    DraftRows,
    LockedCounters,
    find_user,
    insert_user,
)
from mapshelf.store.postgres.schema import prepare
from mapshelf.store.tables import (
    BOOLEANS,
    DELETED,
    MAPS,
    SOURCES,
    TOKENS,
    USERS,
    CatalogueCounters,
    Table,
)
from mapshelf.store.visit_counts import (
    MAPS_AT_ONCE,
    counts_by_map,
    first_salted_day,
    new_salt,
    remembered_hours,
)

TOKEN_COLUMNS: Final = (
    "t.id, u.name, t.label, t.scopes, t.created, t.expires, t.revoked, t.last_used"
)

CHANGES: Final = (
    # Which changes there are is found in two indexes; only then are their maps looked up.
    "WITH news AS (SELECT revision, file_id FROM maps WHERE revision > %s"
    " UNION ALL SELECT revision, file_id FROM deleted WHERE revision > %s"
    " ORDER BY revision LIMIT %s)"
    " SELECT news.revision, news.file_id, o.outline,"
    " (SELECT coalesce(min(f.name), '') FROM sources AS f WHERE f.file_id = m.file_id),"
    f" {MAP_COLUMNS} FROM news LEFT JOIN ({MAP_TABLES}) ON m.file_id = news.file_id"
    " LEFT JOIN outlines AS o ON o.file_id = m.file_id ORDER BY news.revision"
)

VISITS_LOCK: Final = 0x4D61_7056_6973_6974
"""The advisory lock that those who count visits hold in turn ("MapVisit")."""

LAG: Final = 0.5
"""Seconds a standby has to show a change that was announced before the primary is asked."""

APPLY_COUNTS: Final = (
    f"UPDATE maps SET views = views + least(%s, {LARGEST_COUNT} - views),"
    f" downloads = downloads + least(%s, {LARGEST_COUNT} - downloads), revision = %s"
    " WHERE file_id = %s"
)

CHECK_TIMEOUT: Final = 600
"""Seconds for each question of a check: it reads whole tables."""

CHECKS: Final = (
    (
        "the feed is at revision %s, and change %s is beyond",
        "SELECT q.revision, max(c.revision) FROM sequence AS q, (SELECT revision FROM maps"
        " UNION ALL SELECT revision FROM deleted) AS c GROUP BY q.revision"
        " HAVING max(c.revision) > q.revision",
    ),
    (
        "File_ID %s is the last used, and %s is beyond",
        "SELECT q.file_id, max(c.file_id) FROM sequence AS q, (SELECT file_id FROM maps"
        " UNION ALL SELECT file_id FROM deleted) AS c GROUP BY q.file_id"
        " HAVING max(c.file_id) > q.file_id",
    ),
    (
        "map %s is there and deleted",
        "SELECT m.id FROM maps AS m JOIN deleted AS d ON d.id = m.id OR d.file_id = m.file_id",
    ),
    (
        "revision %s stands for two changes",
        "SELECT m.revision FROM maps AS m JOIN deleted AS d ON d.revision = m.revision",
    ),
    (
        "row %s of maps refers to a row of users that is not there",
        "SELECT m.file_id FROM maps AS m LEFT JOIN users AS u ON u.id = m.owner_id"
        " WHERE u.id IS NULL",
    ),
    (
        "row %s of maps refers to a row of software that is not there",
        "SELECT m.file_id FROM maps AS m LEFT JOIN software AS s ON s.id = m.software_id"
        " WHERE s.id IS NULL AND m.software_id IS NOT NULL",
    ),
    (
        "PostgreSQL has found %s pages with wrong checksums",
        "SELECT checksum_failures FROM pg_stat_database"
        " WHERE datname = current_database() AND checksum_failures > 0",
    ),
)
"""What must not be found, and what to say of it."""


class PostgresStore:
    """A ``Store`` in the PostgreSQL database at ``url``, made if need be and ``create`` is set.

    The database itself must be there; the catalogue is a schema of its own in it.

    Raises:
        InvalidSetting: libpq does not understand the URL.
        StoreMissing: there is no catalogue, and ``create`` is not set.
        StoreUnavailable: no server can be reached.
        StoreDamaged: the schema is not a catalogue, or one of a newer or a development version.
    """

    tokens_version_age = 2.0

    def __init__(
        self, url: str, clock: Callable[[], int] = milliseconds, *, create: bool = True
    ) -> None:
        prepare(url, clock(), create=create)
        self._clock = clock
        self._connections = Connections(url)
        self._listener = Listener(url)
        self._seen = -1

    def close(self) -> None:
        """See ``Store``."""
        self._listener.close()
        self._connections.close()

    def identity(self) -> str:
        """See ``Store``."""
        return str(self._all("SELECT identity FROM sequence")[0][0])

    # -- the change feed ------------------------------------------------------------------

    def revision(self) -> int:
        """See ``Store``.

        A standby is believed if it has come as far as what is known already. Only the primary
        can tell that the store has been set back.
        """
        query = "revision FROM sequence"
        (found,), standby = self._connections.ask_nearby(query)
        if standby and (self._seen < 0 or found < self._seen or self._is_late(found)):
            try:
                (found,) = self._connections.ask_primary(query)
                self._listener.announced = min(self._listener.announced, found)
            except StoreUnavailable:
                found = max(found, self._seen)
        self._seen = found
        return int(found)

    def changes(self, after: int, limit: int) -> list[Change]:
        """See ``Store``. One statement sees one state of the database."""
        found, standby = self._changes(self._connections.read_nearby, after, limit)
        if standby and not found and max(self._seen, self._listener.announced) > after:
            found, _ = self._changes(self._connections.read, after, limit)
        if found:  # or what a standby says next would be taken for a store that was set back
            self._seen = max(self._seen, found[-1][0])
        if found and found[0][0] // LEAP != after // LEAP:
            self._make_sure_of(after)
        return [_change(row) for row in found]

    def _make_sure_of(self, revision: int) -> None:
        """Make sure that a revision was not lost when another server took over."""
        query = "SELECT 1 FROM takeovers WHERE had < %s AND %s < gave"
        if self._all(query, (revision, revision)):
            raise HistoryLost("a server took over that lacks changes which were seen")

    def wait(self, after: int, seconds: float) -> bool:
        """See ``Store``."""
        return self._seen > after or self._listener.wait(after, seconds)

    def _is_late(self, found: int) -> bool:
        listener = self._listener
        return found < listener.announced and time.monotonic() - listener.heard > LAG

    def _changes(
        self,
        read: Callable[[Callable[[Link], tuple[list[Row], bool]]], tuple[list[Row], bool]],
        after: int,
        limit: int,
    ) -> tuple[list[Row], bool]:
        """Return changes, fewer than ``limit`` where so many take too long, and by whom."""
        while True:
            some = limit
            began = time.monotonic()
            try:
                return read(
                    lambda link, some=some: (  # type: ignore[misc]
                        link.rows(CHANGES, (after, after, some)),
                        link.standby,
                    )
                )
            except StoreUnavailable:
                if limit < 2 or time.monotonic() - began < READ_TIMEOUT:
                    raise
                limit = limit // 4 or 1

    # -- maps -----------------------------------------------------------------------------

    def put_maps(self, drafts: Sequence[MapDraft]) -> list[Outcome]:
        """See ``Store``."""
        with self._connections.writing() as link:
            counters = LockedCounters(link)
            rows = DraftRows(link, counters, drafts)
            outcomes = Batch(rows, self._clock()).put(drafts)
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
            return _delete(link, counters, {one: found[one] for one in wanted if one in found})

    def maps(self, after: int, limit: int) -> list[Map]:
        """See ``Store``."""
        rows = self._all(
            f"SELECT {MAP_COLUMNS} FROM {MAP_TABLES}"
            " WHERE m.file_id > %s ORDER BY m.file_id LIMIT %s",
            (after, limit),
        )
        return [Map(*row) for row in rows]

    def map_count(self) -> int:
        """See ``Store``."""
        ((count,),) = self._all("SELECT count(*) FROM maps")
        return int(count)

    def outline(self, file_id: int) -> bytes | None:
        """See ``Store``."""
        rows = self._looked_up("SELECT outline FROM outlines WHERE file_id = %s", (file_id,))
        return rows[0][0] if rows else None

    def content(self, file_id: int) -> OriginalFile | None:
        """See ``Store``."""
        rows = self._looked_up(
            # Of several sources, the name of the one this came from.
            "SELECT coalesce((SELECT s.name FROM sources AS s WHERE s.file_id = f.file_id"
            " ORDER BY s.digest <> f.digest, s.path LIMIT 1), ''), f.digest, f.content"
            " FROM files AS f WHERE f.file_id = %s",
            (file_id,),
        )
        return OriginalFile(rows[0][0].rpartition("/")[2], *rows[0][1:]) if rows else None

    def sources(self, paths: Sequence[bytes]) -> dict[bytes, Source]:
        """See ``Store``."""
        rows = self._all(
            f"SELECT {SOURCE_COLUMNS} FROM sources WHERE sha256(path) IN"
            " (SELECT sha256(one) FROM unnest(%s::bytea[]) AS one)",
            (list(paths),),
        )
        return {row[0]: Source(*row) for row in rows}

    def sources_below(self, folder: bytes, after: bytes, limit: int) -> list[Source]:
        """See ``Store``."""
        # "0" is the character after the slash: all paths below the folder lie in between. The
        # index knows the beginnings of paths, whose order is that of the paths.
        first, beyond = max(folder + b"/", after), folder + b"0"
        beginning = "substring(path FROM 1 FOR 1000)"
        rows = self._all(
            f"SELECT {SOURCE_COLUMNS} FROM sources WHERE path > %s AND path < %s"
            f" AND {beginning} >= %s AND {beginning} <= %s ORDER BY {beginning}, path LIMIT %s",
            (first, beyond, first[:1000], beyond[:1000], limit),
        )
        return [Source(*row) for row in rows]

    def sources_of(self, digest: bytes) -> list[Source]:
        """See ``Store``."""
        rows = self._all(
            f"SELECT {SOURCE_COLUMNS} FROM sources WHERE digest = %s ORDER BY path", (digest,)
        )
        return [Source(*row) for row in rows]

    def move_source(self, old: bytes, new: Source) -> bool:
        """See ``Store``."""
        with self._connections.writing() as link:
            counters = LockedCounters(link)
            at = "sha256(path) = sha256(%s)"
            if new.path != old and link.rows(f"SELECT 1 FROM sources WHERE {at}", (new.path,)):
                return False
            moved = link.rows(
                "UPDATE sources SET path = %s, name = %s, size = %s, modified = %s, digest = %s"
                f" WHERE {at} RETURNING file_id",
                (new.path, new.name, new.size, new.modified, new.digest, old),
            )
            for (file_id,) in moved:
                link.execute(
                    "UPDATE maps SET revision = %s WHERE file_id = %s",
                    (counters.next_revision(), file_id),
                )
            counters.write()
            return bool(moved)

    def delete_sources(self, paths: Sequence[bytes]) -> int:
        """See ``Store``."""
        with self._connections.writing() as link:
            counters = LockedCounters(link)
            rows = link.rows(
                "SELECT m.id, m.file_id FROM unnest(%s::bytea[]) WITH ORDINALITY AS one (path, at)"
                " JOIN sources AS s ON sha256(s.path) = sha256(one.path)"
                " JOIN maps AS m ON m.file_id = s.file_id ORDER BY one.at",
                (list(paths),),
            )
            return _delete(link, counters, dict(rows))

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
        with self._connections.writing() as link:
            LockedCounters(link)  # an import might register the same user
            if find_user(link, name) is not None:
                raise AlreadyExists(f"there is a user {name} already")
            return insert_user(link, name, self._clock())

    def users(self) -> list[User]:
        """See ``Store``."""
        rows = self._all(f"SELECT {USER_COLUMNS} FROM users AS u ORDER BY u.id")
        return [User(*row) for row in rows]

    def disable_user(self, name: str) -> User:
        """See ``Store``."""
        with self._connections.writing() as link:
            user = _user_named(link, name)
            link.execute("UPDATE users SET disabled = true WHERE id = %s", (user.id,))
            return _user_named(link, name)

    def add_token(
        self, user: str, digest: bytes, *, label: str, scopes: str, expires: int | None
    ) -> Token:
        """See ``Store``."""
        with self._connections.writing() as link:
            owner = _user_named(link, user)
            link.execute(
                "INSERT INTO tokens (user_id, digest, label, scopes, created, expires)"
                " VALUES (%s, %s, %s, %s, %s, %s)",
                (owner.id, digest, label, scopes, self._clock(), expires),
            )
            return _token(link, "t.digest = %s", digest)

    def tokens(self, user: str) -> list[Token]:
        """See ``Store``."""

        def read(link: Link) -> list[Token]:
            rows = link.rows(
                f"SELECT {TOKEN_COLUMNS} FROM tokens AS t JOIN users AS u ON u.id = t.user_id"
                " WHERE u.id = %s ORDER BY t.id",
                (_user_named(link, user).id,),
            )
            return [Token(*row) for row in rows]

        return self._connections.read(read)

    def revoke_token(self, token_id: int) -> Token:
        """See ``Store``."""
        with self._connections.writing() as link:
            link.execute(
                "UPDATE tokens SET revoked = coalesce(revoked, %s) WHERE id = %s",
                (self._clock(), token_id),
            )
            return _token(link, "t.id = %s", token_id)

    def tokens_version(self) -> str:
        """See ``Store``. Only the primary knows."""
        (version,) = self._connections.ask_primary("mark FROM token_mark")
        return str(version)

    def find_credentials(
        self, digests: Sequence[bytes], version: str = ""
    ) -> dict[bytes, Credential]:
        """See ``Store``.

        A standby is believed if it has the mark: then it has seen all that was withdrawn before.
        """
        query = (
            f"SELECT t.digest, {USER_COLUMNS}, {TOKEN_COLUMNS}, (SELECT mark FROM token_mark)"
            " FROM tokens AS t JOIN users AS u ON u.id = t.user_id WHERE t.digest = ANY(%s)"
        )
        rows, standby = self._connections.read_nearby(
            lambda link: (link.rows(query, (list(digests),)), link.standby)
        )
        if standby:
            rows = [row for row in rows if row[-1] == version]
            missing = list(set(digests).difference(row[0] for row in rows))
            if missing:
                rows += self._all(query, (missing,))
        return {row[0]: Credential(Token(*row[5:-1]), User(*row[1:5])) for row in rows}

    def touch_tokens(self, used: Mapping[int, int]) -> None:
        """See ``Store``."""
        with self._connections.writing() as link:
            # Locked in one order by all, so that two nodes never wait for each other.
            link.execute(
                "SELECT id FROM tokens WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE",
                (list(used),),
            )
            link.execute(
                "UPDATE tokens SET last_used = greatest(last_used, used.at)"
                " FROM unnest(%s::bigint[], %s::bigint[]) AS used (id, at)"
                " WHERE tokens.id = used.id",
                (list(used), list(used.values())),
            )

    # -- visits ---------------------------------------------------------------------------

    def visitor_salt(self, day: int) -> bytes:
        """See ``Store``."""
        query = "SELECT salt FROM salts WHERE day = %s"
        rows = self._all(query, (day,))
        if not rows:
            with self._connections.writing() as link:
                link.execute(
                    "INSERT INTO salts VALUES (%s, %s) ON CONFLICT DO NOTHING", (day, new_salt())
                )
                rows = link.rows(query, (day,))
        salt: bytes = rows[0][0]
        return salt

    def count_visits(self, visits: Sequence[Visit], now: int, most: int) -> int:
        """See ``Store``. Those who count take turns, so they never wait for each other crosswise.

        They do so under a lock of their own, not at the counters: nobody's import waits for them.
        """
        first, last = remembered_hours(now)
        with self._connections.writing() as link:
            link.execute("SELECT pg_advisory_xact_lock(%s)", (VISITS_LOCK,))
            link.execute("DELETE FROM salts WHERE day < %s", (first_salted_day(now),))
            link.execute("DELETE FROM visits WHERE hour < %s OR hour > %s", (first, last))
            room = max(0, most - int(link.rows("SELECT count(*) FROM visits")[0][0]))
            timely = [visit for visit in visits if first <= visit.hour <= last]
            _tally(link, _new_among(link, timely[:room]), now)
            return len(timely) - min(len(timely), room)

    def apply_visit_counts(self, before: int) -> int:
        """See ``Store``."""
        applied = 0
        if self._all("SELECT 1 FROM tallies WHERE since < %s LIMIT 1", (before,)):
            while some := self._apply_some_counts():
                applied += some
        return applied

    def _apply_some_counts(self) -> int:
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

    # -- moving ---------------------------------------------------------------------------

    def rows(self, table: Table, after: Any, limit: int) -> list[Row]:
        """See ``Store``."""
        key = table.key
        # Only the beginnings of paths have an index, see ``sources_below``.
        order = f"substring({key} FROM 1 FOR 1000), {key}" if table is SOURCES else key
        above = ""
        parameters: Row = (limit,)
        if after is not None:
            above, parameters = f"WHERE {key} > %s", (after, limit)
            if table is SOURCES:
                above += f" AND substring({key} FROM 1 FOR 1000) >= %s"
                parameters = (after, after[:1000], limit)
        return self._table(f"{table.name} {above} ORDER BY {order} LIMIT %s", table, parameters)

    def rows_of(self, table: Table, file_ids: Sequence[int]) -> list[Row]:
        """See ``Store``."""
        condition = f"WHERE file_id = ANY(%s) ORDER BY {table.key}"
        return self._table(f"{table.name} {condition}", table, (list(file_ids),))

    def _table(self, sql: str, table: Table, parameters: Row) -> list[Row]:
        truths = [name in BOOLEANS for name in table.columns]
        columns = (
            f"{name}::integer" if truth else name
            for name, truth in zip(table.columns, truths, strict=True)
        )
        return self._all(f"SELECT {', '.join(columns)} FROM {sql}", parameters)

    def write_rows(self, rows: Mapping[Table, Sequence[Row]], counters: CatalogueCounters) -> None:
        """See ``Store``."""
        with self._connections.writing() as link, link.cursor() as cursor:
            LockedCounters(link)
            for table in (MAPS, DELETED):
                gone = [row[0] for row in rows.get(table, ())]
                cursor.execute("DELETE FROM maps WHERE file_id = ANY(%s)", (gone,))
                cursor.execute("DELETE FROM deleted WHERE file_id = ANY(%s)", (gone,))
            for table, some in rows.items():
                marks = [
                    "%s::integer::boolean" if name in BOOLEANS else "%s" for name in table.columns
                ]
                unique = "sha256(path)" if table is SOURCES else ""
                cursor.executemany(table.upsert(marks, unique), some)
            for table in (USERS, TOKENS):
                cursor.execute(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), max(id))"
                    f" FROM {table.name} HAVING max(id) IS NOT NULL"
                )
            cursor.execute(
                "UPDATE sequence SET identity = %s, revision = %s, file_id = %s",
                (counters.identity, counters.revision, counters.file_id),
            )
            cursor.execute("SELECT pg_notify(%s, %s)", (CHANNEL, str(counters.revision)))

    def catalogue_counters(self) -> CatalogueCounters:
        """See ``Store``."""
        return CatalogueCounters(*self._all("SELECT identity, revision, file_id FROM sequence")[0])

    # -- care -----------------------------------------------------------------------------

    def check(self) -> list[str]:
        """See ``Store``."""
        return self._connections.read(_faults)

    # -- reading --------------------------------------------------------------------------

    def _all(self, sql: str, parameters: Row = ()) -> list[Row]:
        return self._connections.read(lambda link: link.rows(sql, parameters))

    def _looked_up(self, sql: str, parameters: Row) -> list[Row]:
        """Read from a standby if there is one; that it has nothing proves nothing."""
        rows, standby = self._connections.read_nearby(
            lambda link: (link.rows(sql, parameters), link.standby)
        )
        return self._all(sql, parameters) if standby and not rows else rows


def _change(row: Row) -> Change:
    revision, file_id, outline, source, *columns = row
    if columns[0] is None:
        return Change(revision, file_id, None, None)
    return Change(revision, file_id, Map(*columns), outline, source)


def _delete(link: Link, counters: LockedCounters, file_ids: Mapping[str, int]) -> int:
    """Delete maps by public id; return how many."""
    link.execute("DELETE FROM maps WHERE file_id = ANY(%s)", (list(file_ids.values()),))
    with link.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO deleted VALUES (%s, %s, %s)",
            [(file_id, one, counters.next_revision()) for one, file_id in file_ids.items()],
        )
    counters.write()
    return len(file_ids)


def _new_among(link: Link, visits: Sequence[Visit]) -> list[Visit]:
    """Remember visits; return those that count: not known before, of a map that is there."""
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


def _tally(link: Link, visits: Sequence[Visit], now: int) -> None:
    """Add visits to what has been counted and is not part of its map yet."""
    with link.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO tallies VALUES (%s, %s, %s, %s) ON CONFLICT (file_id) DO UPDATE"
            " SET views = tallies.views + excluded.views,"
            " downloads = tallies.downloads + excluded.downloads",
            [(file_id, *counts, now) for file_id, counts in counts_by_map(visits).items()],
        )


def _faults(link: Link) -> list[str]:
    link.patience = CHECK_TIMEOUT
    with link.transaction():
        link.execute(f"SET LOCAL statement_timeout = '{CHECK_TIMEOUT}s'")
        return [message % row for message, sql in CHECKS for row in link.rows(sql)]


def _user_named(link: Link, name: str) -> User:
    user = find_user(link, name)
    if user is None:
        raise NotFound(f"there is no user {name}")
    return user


def _token(link: Link, condition: str, key: bytes | int) -> Token:
    rows = link.rows(
        f"SELECT {TOKEN_COLUMNS} FROM tokens AS t JOIN users AS u ON u.id = t.user_id"
        f" WHERE {condition}",
        (key,),
    )
    if not rows:
        raise NotFound("there is no such token")
    return Token(*rows[0])
