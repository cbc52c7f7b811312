"""Failed sign-ins in PostgreSQL."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Final

from mapshelf.model import CLOCK_TOLERANCE, Failures
from mapshelf.store.postgres.database import DatabaseUser
from mapshelf.store.postgres.link import Link
from mapshelf.store.sign_in import ADDRESSES_KEPT, FAILURES_KEPT, LATER_KEPT, MOST_KEYS

FAILURES_LOCK: Final = 0x4D61_7046_6169_6C73
"""The advisory lock that serializes transactions that count failures ("MapFails")."""

THERE: Final = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
"""The time of the database."""

NOW: Final = f"least(%s::bigint, {THERE})"
"""The time of a node, but no later than that of the database: a node whose clock is far ahead must
not forget what the others have counted."""

_COUNTING: Final = f"FROM sign_in_failures WHERE key = ANY(%s) AND first > {NOW} - {FAILURES_KEPT}"
"""The rows of some keys that have not expired."""

_TO_COME: Final = f"first > {THERE} + {CLOCK_TOLERANCE}"
"""Rows that were begun while the clock of the database was ahead: none begins later than that."""


class PostgresSignInFailures(DatabaseUser):
    """See ``contract.SignInFailures``. Writers are serialized, which prevents deadlocks."""

    def failures(self, keys: Collection[bytes], now: int) -> dict[bytes, Failures]:
        """See ``Store``."""
        return self._connections.read(lambda link: _failures(link, keys, now))

    def note_failure(self, keys: Collection[bytes], now: int) -> dict[bytes, Failures]:
        """See ``Store``."""
        with self._turn() as link:
            return _note_failure(link, keys, now)

    def attempts(self, key: bytes, now: int) -> int:
        """See ``Store``."""
        query = f"SELECT count {_COUNTING} AND NOT {_TO_COME}"
        found = self._connections.read(lambda link: link.rows(query, ([key], now)))
        return int(found[0][0]) if found else 0

    def note_attempt(self, key: bytes, now: int) -> int:
        """See ``Store``."""
        with self._turn() as link:
            link.execute(f"DELETE FROM sign_in_failures WHERE key = %s AND {_TO_COME}", (key,))
            before = _note_failure(link, (key,), now).get(key)
        return before.count if before else 0

    def note_success(self, key: bytes, others: Collection[bytes], now: int) -> None:
        """See ``Store``."""
        with self._turn() as link:
            link.execute("DELETE FROM sign_in_failures WHERE key = %s", (key,))
            link.execute(
                "UPDATE sign_in_failures SET count = count - 1 WHERE key = ANY(%s)",
                (list(others),),
            )
            link.execute(
                "DELETE FROM sign_in_failures WHERE key = ANY(%s) AND count < 1", (list(others),)
            )
            link.execute(
                f"DELETE FROM known_addresses WHERE last <= {NOW} - {ADDRESSES_KEPT}", (now,)
            )
            link.execute(
                "INSERT INTO known_addresses VALUES (%s, %s)"
                " ON CONFLICT (key) DO UPDATE SET last = excluded.last",
                (key, now),
            )
            _delete_oldest(link, "known_addresses", "last")

    @contextmanager
    def _turn(self) -> Iterator[Link]:
        with self._connections.writing() as link:
            link.execute("SELECT pg_advisory_xact_lock(%s)", (FAILURES_LOCK,))
            yield link


def _failures(link: Link, keys: Collection[bytes], now: int) -> dict[bytes, Failures]:
    rows = link.rows(f"SELECT key, count, last {_COUNTING}", (list(keys), now))
    return {bytes(key): Failures(count, last) for key, count, last in rows}


def _note_failure(link: Link, keys: Collection[bytes], now: int) -> dict[bytes, Failures]:
    before = _failures(link, keys, now)
    link.execute(f"DELETE FROM sign_in_failures WHERE first <= {NOW} - {FAILURES_KEPT}", (now,))
    link.execute(
        "INSERT INTO sign_in_failures AS f"
        f" SELECT one.key, 1, {NOW}, %s FROM unnest(%s::bytea[]) AS one (key)"
        " ON CONFLICT (key) DO UPDATE SET count = f.count + 1,"
        # A node that is far behind must not make the others take the row for expired.
        f" first = CASE WHEN f.first > {THERE} - {FAILURES_KEPT}"
        f" THEN least(f.first, {THERE}) ELSE least(f.first, excluded.first) END,"
        f" last = CASE WHEN f.last > excluded.last + {LATER_KEPT} THEN excluded.last"
        " ELSE greatest(f.last, excluded.last) END",
        (now, now, list(set(keys))),
    )
    _delete_oldest(link, "sign_in_failures", "first")
    return before


def _delete_oldest(link: Link, table: str, age: str) -> None:
    ((count,),) = link.rows(f"SELECT count(*) FROM {table}")
    link.execute(
        f"DELETE FROM {table} WHERE key IN (SELECT key FROM {table} ORDER BY {age}, key LIMIT %s)",
        (max(0, count - MOST_KEYS),),
    )
