"""One connection to PostgreSQL: how it is made, what its session needs, and when it times out.

Each step has a client-side time-out, because a stopped server, or a network that drops packets,
sends nothing.
"""

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Final, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mapshelf.clock import follow, is_following, steady
from mapshelf.errors import InvalidSetting, StoreUnavailable
from mapshelf.formats.outline_codec import FORMAT
from mapshelf.store.postgres.error_translation import line_of, translated

T = TypeVar("T")
Row = tuple[Any, ...]

CONNECT_TIMEOUT: Final = 3
"""Seconds for a host to accept a connection."""

READ_TIMEOUT: Final = 2.0
WRITE_TIMEOUT: Final = 10.0
"""Seconds for a statement, enforced by the server."""

GRACE: Final = 0.5
"""Seconds to wait beyond the server's own time-out before giving up on it."""

LOOK_TIMEOUT: Final = 0.75
"""Seconds for the check that a connection still works."""

ISOLATION: Final = "read committed"

SETTINGS: Final = {
    "default_transaction_isolation": ISOLATION,
    "search_path": "mapshelf",
    "standard_conforming_strings": "on",
    # A node that is stopped in the middle of a write must not hold up all others for long.
    "idle_in_transaction_session_timeout": "15s",
    # The database marks outlines of an older format (``postgres_0004.sql``).
    "mapshelf.outline": str(FORMAT),
}
"""Settings that every session needs, whatever the defaults of the server."""

DEFAULTS: Final = {
    "application_name": "mapshelf",
    "connect_timeout": CONNECT_TIMEOUT,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""libpq parameters that the URL may override."""

# An acknowledged write must be on disk; stronger settings are left unchanged.
_SYNCHRONOUS: Final = (
    "CASE current_setting('synchronous_commit') WHEN 'off'"
    " THEN set_config('synchronous_commit', 'on', false) END"
)

_STATE: Final = (
    "pg_is_in_recovery()",
    "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
)
"""Whether a server is a standby, and its time in microseconds since 1970-01-01 UTC."""

_TABLES: Final = [f"to_regclass('{table}')" for table in ("maps", "deleted", "users")]
_COMPLETE: Final = (
    "to_regclass('sequence') IS NULL OR (SELECT count(*) FROM pg_index WHERE indisprimary AND"
    f" indrelid = ANY (ARRAY[{', '.join(_TABLES)}])) = {len(_TABLES)} AND EXISTS"
    " (SELECT FROM pg_constraint WHERE contype = 'f' AND conrelid = to_regclass('maps'))"
)
"""Whether a catalogue is complete, if there is one. ``pg_restore`` fills one table after another,
``sequence`` before ``users``, and then adds primary keys, triggers and foreign keys."""


class Link(psycopg.Connection[Row]):
    """A connection that times out if the server sends nothing.

    Attributes:
        patience: seconds to wait for an answer.
        standby: whether the server was a standby when last checked.
        primary_only: whether the server must not be a standby.
    """

    patience: float = WRITE_TIMEOUT + GRACE
    standby: bool = False
    primary_only: bool = False

    def wait(
        self,
        gen: Generator[Any, Any, T],
        interval: float = 0.1,
        timeout: float | None = None,
    ) -> T:
        """Wait for the server as psycopg does, but no longer than ``patience`` allows."""
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.patience)
        except psycopg.errors._WaitTimeout as error:
            self.close()  # or a late answer would be read as that of the next statement
            raise psycopg.OperationalError("the server does not answer") from error

    def configure(self, settings: Mapping[str, str]) -> None:
        """Give a new session the settings that each needs, and further ones.

        They are no parameters of the connection, because PgBouncer refuses those.
        """
        given = {**SETTINGS, **settings}
        columns = [f"set_config('{name}', '{value}', false)" for name, value in given.items()]
        # A standby reads nothing at the level serializable, which may be the default. It is all one
        # statement, because each takes the time to the server and back.
        asked = ", ".join([*columns, _SYNCHRONOUS])
        self.execute(f"BEGIN ISOLATION LEVEL {ISOLATION}; SELECT {asked}; COMMIT")

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run a statement and return its rows."""
        return self.execute(sql, parameters or None, binary=True).fetchall()

    def required_rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run a statement that reads a table that is never empty, and return its rows.

        Raises:
            StoreUnavailable: that table is empty, because a backup is being restored.
        """
        found = self.rows(sql, parameters)
        if not found:
            raise StoreUnavailable("the catalogue is missing in the PostgreSQL database")
        return found

    def shared_rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run a statement of both databases, with ``?`` for each parameter; return its rows."""
        return self.rows(with_placeholders(sql), parameters)

    def look(self) -> None:
        """Ask the server whether it is a standby; this also shows that it still answers.

        Raises:
            StoreUnavailable: see ``ask``.
        """
        patience, self.patience = self.patience, LOOK_TIMEOUT
        try:
            self.ask()
        finally:
            self.patience = patience

    def ask(self, *what: str) -> Row:
        """Return the row of ``SELECT what``. Note whether the server is a standby, and its time.

        The time of a standby counts only until that of a primary is known.

        Raises:
            StoreUnavailable: see ``required_rows``; or the catalogue is not complete.
        """
        asked = steady()
        self.standby, time_there, complete, *found = self.required_rows(
            f"SELECT {', '.join((*_STATE, _COMPLETE, *what))}"
        )[0]
        if not complete:
            raise StoreUnavailable(
                "the catalogue in the PostgreSQL database is not complete: wait until the backup"
                " is restored, or restore all of it"
            )
        if not self.standby or not is_following():
            follow(time_there, asked)
        return tuple(found)


def connect(url: str, sessions: str) -> Link:
    """Open a connection outside of any pool."""
    with translated():
        link = Link.connect(conninfo(url, target_session_attrs=sessions), autocommit=True)
        try:
            link.configure({})
        except BaseException:
            link.close()
            raise
        return link


def conninfo(url: str, *, target_session_attrs: str) -> str:
    """Return the connection string for ``url``.

    Raises:
        InvalidSetting: libpq does not understand the URL.
    """
    try:
        given: dict[str, Any] = {k: v for k, v in conninfo_to_dict(url).items() if v is not None}
        hosts = str(given.get("host", ""))
        _check_hosts(hosts)
        _check_ports(hosts, str(given.get("port", "")))
        return make_conninfo(
            "",
            **{**DEFAULTS, **given},
            client_encoding="utf8",
            target_session_attrs=target_session_attrs,
        )
    except psycopg.Error as error:
        # libpq quotes what it does not understand, which may be the password.
        reason = line_of(error).partition(': "')[0]
        raise InvalidSetting(f"the database URL is invalid: {reason}") from error


def _check_hosts(hosts: str) -> None:
    """Reject hosts with an @: they contain a part of the password, which errors would show."""
    if any("@" in host[1:] for host in hosts.split(",")):  # a socket's name may begin with one
        raise InvalidSetting("the database URL has an @ too many: write it as %40 in a password")


def _check_ports(hosts: str, ports: str) -> None:
    """Reject invalid ports, which libpq would report as unreachable hosts."""
    given = ports.split(",") if ports else []
    if any(one and not (one.isascii() and one.isdigit() and int(one) < 2**16) for one in given):
        raise InvalidSetting("the database URL has an invalid port")
    if len(given) > 1 and len(given) != len(hosts.split(",")):
        raise InvalidSetting("the database URL must have as many ports as hosts")


def with_placeholders(sql: str) -> str:
    """Return a statement with psycopg placeholders for its question marks."""
    return sql.replace("?", "%s")
