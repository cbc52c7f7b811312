"""Failed sign-ins in SQLite."""

from collections.abc import Collection

import apsw

from mapshelf.model import CLOCK_TOLERANCE, Failures
from mapshelf.store.sign_in import ADDRESSES_KEPT, FAILURES_KEPT, LATER_KEPT, MOST_KEYS
from mapshelf.store.sqlite.database import DatabaseUser
from mapshelf.store.tables import Row


class SQLiteSignInFailures(DatabaseUser):
    """See ``contract.SignInFailures``."""

    def failures(self, keys: Collection[bytes], now: int) -> dict[bytes, Failures]:
        """See ``Store``."""
        with self._database.reading() as database:
            return _failures(database, keys, now)

    def note_failure(self, keys: Collection[bytes], now: int) -> dict[bytes, Failures]:
        """See ``Store``."""
        with self._database.writing() as database:
            return _note_failure(database, keys, now)

    def attempts(self, key: bytes, now: int) -> int:
        """See ``Store``."""
        query = "SELECT count FROM sign_in_failures WHERE key = ? AND first > ? AND first <= ?"
        with self._database.reading() as database:
            found: list[Row] = database.execute(
                query, (key, now - FAILURES_KEPT, now + CLOCK_TOLERANCE)
            ).fetchall()
        return int(found[0][0]) if found else 0

    def note_attempt(self, key: bytes, now: int) -> int:
        """See ``Store``."""
        with self._database.writing() as database:
            database.execute(
                "DELETE FROM sign_in_failures WHERE key = ? AND first > ?",
                (key, now + CLOCK_TOLERANCE),
            )
            before = _note_failure(database, (key,), now).get(key)
        return before.count if before else 0

    def note_success(self, key: bytes, others: Collection[bytes], now: int) -> None:
        """See ``Store``."""
        with self._database.writing() as database:
            database.execute("DELETE FROM sign_in_failures WHERE key = ?", (key,))
            database.executemany(
                "UPDATE sign_in_failures SET count = count - 1 WHERE key = :key;"
                "DELETE FROM sign_in_failures WHERE key = :key AND count < 1",
                [{"key": other} for other in set(others)],
            )
            database.execute("DELETE FROM known_addresses WHERE last <= ?", (now - ADDRESSES_KEPT,))
            database.execute("INSERT OR REPLACE INTO known_addresses VALUES (?, ?)", (key, now))
            _delete_oldest(database, "known_addresses", "last")


def _failures(
    database: apsw.Connection, keys: Collection[bytes], now: int
) -> dict[bytes, Failures]:
    rows = database.executemany(
        "SELECT key, count, last FROM sign_in_failures WHERE key = ? AND first > ?",
        [(key, now - FAILURES_KEPT) for key in set(keys)],
    )
    return {key: Failures(count, last) for key, count, last in rows}


def _note_failure(
    database: apsw.Connection, keys: Collection[bytes], now: int
) -> dict[bytes, Failures]:
    before = _failures(database, keys, now)
    database.execute("DELETE FROM sign_in_failures WHERE first <= ?", (now - FAILURES_KEPT,))
    database.executemany(
        "INSERT INTO sign_in_failures VALUES (?, 1, ?, ?) ON CONFLICT (key) DO UPDATE"
        " SET count = count + 1, first = min(first, excluded.first),"
        f" last = CASE WHEN last > excluded.last + {LATER_KEPT}"
        " THEN excluded.last ELSE max(last, excluded.last) END",
        [(key, now, now) for key in set(keys)],
    )
    _delete_oldest(database, "sign_in_failures", "first")
    return before


def _delete_oldest(database: apsw.Connection, table: str, age: str) -> None:
    rows: list[Row] = database.execute(f"SELECT count(*) FROM {table}").fetchall()
    database.execute(
        f"DELETE FROM {table} WHERE key IN (SELECT key FROM {table} ORDER BY {age}, key LIMIT ?)",
        (max(0, rows[0][0] - MOST_KEYS),),
    )
