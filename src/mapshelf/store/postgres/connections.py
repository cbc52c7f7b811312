"""Connections to PostgreSQL: to the right host, with time-outs, and checked before use.

A URL may name several hosts: one primary, which takes writes, and standbys that follow it. Writes,
and reads that must see every write, go to the primary. The change feed and look-ups prefer a
standby. Each use of a connection first checks the role of its server: after a switchover, a
connection to the former primary still works, but every write over it fails. The same check reads
the clock of the primary, which this process follows (``clock.py``).

A read over a dead connection is retried once elsewhere. A write is never retried, because it is
unknown whether it was committed.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import partial
from threading import BoundedSemaphore, Lock
from typing import Final, TypeVar

import psycopg
from psycopg_pool import ConnectionPool, PoolClosed, TooManyRequests

from mapshelf.errors import StoreUnavailable
from mapshelf.store.credential_check import CredentialCheck
from mapshelf.store.pending_audit_entries import PendingAuditEntries
from mapshelf.store.postgres.counters import begin_takeover
from mapshelf.store.postgres.error_translation import is_dead, translated
from mapshelf.store.postgres.link import (
    GRACE,
    LOOK_TIMEOUT,
    READ_TIMEOUT,
    WRITE_TIMEOUT,
    Link,
    Row,
    conninfo,
)

T = TypeVar("T")

POOL_WAIT: Final = 1.5
"""Seconds to wait for a free connection, so that a write fails within two if no host accepts it."""

READ_DEADLINE: Final = 4.0
"""Seconds for a read, including its retry."""

MOST_CONNECTIONS: Final = 4
"""Maximum size of a pool."""

MOST_WAITING: Final = 32
"""Maximum threads waiting for a connection of one pool; further ones fail at once."""

MOST_ABANDONED: Final = 10_000
"""Threads that waited in vain after which a pool is replaced. psycopg_pool keeps a place for each
until it has a connection, and counts these places as waiting threads: so with its own limit, a pool
would never connect again after a server had been away for a minute."""

LIFETIME: Final = 300.0
"""Seconds after which a connection is replaced, so that a recovered host gets its share of them."""

RECONNECT_TIMEOUT: Final = 0.5
"""Seconds during which the pool tries to reconnect by itself; after that, only on demand."""

FAILED_LATELY: Final = 5.0
"""Seconds for which a failure of the primary counts, unless it has answered since. Each attempt may
take three, and workers ask it every few seconds."""

_NOT_YET: Final = ("42P01", "42703")
"""SQLSTATE codes of a standby that lacks a new table or column."""


class Pool:
    """A pool of connections, opened on demand and checked before use."""

    def __init__(self, url: str, sessions: str, timeout: float, **settings: str) -> None:
        """Create a pool without connecting yet.

        Args:
            url: the URL of the database, with any number of hosts.
            sessions: libpq's ``target_session_attrs``.
            timeout: seconds for a statement.
            settings: additional server settings for each session.
        """
        self._primary_only = sessions in ("read-write", "primary")
        self._patience = timeout + GRACE
        settings["statement_timeout"] = f"{timeout * 1000:.0f}"
        self._make = partial(
            ConnectionPool[Link],
            conninfo(url, target_session_attrs=sessions),
            connection_class=Link,
            kwargs={"autocommit": True},
            min_size=0,
            max_size=MOST_CONNECTIONS,
            max_waiting=MOST_ABANDONED,
            max_lifetime=LIFETIME,
            timeout=POOL_WAIT,
            reconnect_timeout=RECONNECT_TIMEOUT,
            num_workers=1,
            configure=lambda link: link.configure(settings),
            open=True,
        )
        self._pool = self._make()
        self._replacing = Lock()
        self._room = BoundedSemaphore(MOST_WAITING)

    @contextmanager
    def link(self, wait: float = POOL_WAIT, *, looking: bool = True) -> Iterator[Link]:
        """Yield a working connection, and discard it if it dies while in use.

        Args:
            wait: maximum seconds to wait for one.
            looking: whether to check it first. Without the check the time-out is shorter.
        """
        deadline = time.monotonic() + min(wait, POOL_WAIT)
        pool = self._pool
        if looking:
            link = self._working(pool, deadline)
        else:
            link = self._lent(pool, deadline, LOOK_TIMEOUT)
        try:
            yield link
        except psycopg.Error as error:
            if is_dead(error):
                link.close()
            raise
        finally:
            pool.putconn(link)

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    def _working(self, pool: ConnectionPool[Link], deadline: float) -> Link:
        while True:
            link = self._lent(pool, deadline, self._patience)
            try:
                link.look()
            except psycopg.Error:
                link.close()
            except StoreUnavailable:
                pool.putconn(link)
                raise
            if not (link.closed or (self._primary_only and link.standby)):
                return link
            link.close()
            pool.putconn(link)

    def _lent(self, pool: ConnectionPool[Link], deadline: float, patience: float) -> Link:
        if not self._room.acquire(blocking=False):
            raise TooManyRequests
        try:
            link = pool.getconn(timeout=max(0.01, deadline - time.monotonic()))
        except TooManyRequests:
            self._replace(pool)
            raise
        finally:
            self._room.release()
        link.patience, link.primary_only = patience, self._primary_only
        return link

    def _replace(self, pool: ConnectionPool[Link]) -> None:
        with self._replacing:
            if pool is not self._pool or pool.closed:
                return
            self._pool = self._make()
        pool.close(timeout=0)


class Connections:
    """The pools of a process for one database.

    Attributes:
        audit_entries: the audit entries that the next transaction of each thread will write.
    """

    def __init__(self, url: str, clock: Callable[[], int]) -> None:
        self.audit_entries = PendingAuditEntries(clock)
        self._check: CredentialCheck | None = None
        self._writing = Pool(url, "read-write", WRITE_TIMEOUT)
        read_only = {"default_transaction_read_only": "on"}
        self._primary = Pool(url, "primary", READ_TIMEOUT, **read_only)
        self._nearest = Pool(url, "prefer-standby", READ_TIMEOUT, **read_only)
        self._failure = _Failure()

    def close(self) -> None:
        """Close all connections."""
        for pool in (self._writing, self._primary, self._nearest):
            pool.close()

    def checking(self, check: CredentialCheck | None) -> "Connections":
        """Return these connections such that writes begin with ``check``, if any."""
        changed = copy(self)
        changed._check = check
        return changed

    def check(self, link: Link) -> None:
        """Run the check of a credential, if there is one, in a transaction.

        Whatever may end the credential or change its user waits until the transaction ends.

        Raises:
            InvalidToken: the check failed.
        """
        if self._check is not None:
            user = self._check.credential.user.id
            # First the user, as whoever changes a password does: one order prevents deadlocks.
            link.rows("SELECT id FROM users WHERE id = %s FOR NO KEY UPDATE", (user,))
            self._check.require_valid(link.shared_rows, "FOR SHARE OF t")

    @contextmanager
    def writing(self) -> Iterator[Link]:
        """Start a transaction that begins with the check of a credential, if there is one.

        Raises:
            InvalidToken: the check failed.
            StoreError: see ``unchecked``.
        """
        with self.unchecked() as link:
            self.check(link)
            yield link

    @contextmanager
    def unchecked(self) -> Iterator[Link]:
        """Start a transaction that is committed durably on exit, or rolled back on an exception.

        If the connection breaks during the commit, it is unknown whether the transaction was
        committed; this raises ``StoreUnavailable``.
        """
        with translated(), self._writing.link() as link, link.transaction():
            yield link
            self.audit_entries.write(link.shared_rows)

    def take_over(self, known: int) -> int:
        """Let a primary that lacks the revision ``known`` skip it; return its revision."""
        with translated(), self._writing.link() as link:
            return begin_takeover(link, known)

    @property
    def has_failed_lately(self) -> bool:
        """Whether the primary did not answer the last read, a few seconds ago at most."""
        return time.monotonic() - self._failure.time < FAILED_LATELY

    def read(self, work: Callable[[Link], T]) -> T:
        """Return the result of ``work``, which sees every acknowledged write."""
        with translated(), self._failure.noted():
            return _tried_twice(work, self._primary, self._primary)

    def read_nearby(self, work: Callable[[Link], T]) -> T:
        """Return the result of ``work`` on a standby if there is one, even if it lags."""
        with translated():
            return _tried_twice(work, self._nearest, self._primary)

    def ask_primary(self, what: str) -> Row:
        """Return the row of ``SELECT what``, which sees every acknowledged write.

        The same statement checks the role of the server, which makes frequent queries cheap.
        """
        with translated(), self._failure.noted():
            return _tried_twice(partial(_row, what), self._primary, self._primary, looking=False)

    def ask_nearby(self, what: str) -> tuple[Row, bool]:
        """Return the row of ``SELECT what``, from a standby if there is one, and whether it was."""
        with translated():
            return _tried_twice(
                lambda link: (_row(what, link), link.standby),
                self._nearest,
                self._primary,
                looking=False,
            )


class _Failure:
    """When the primary last failed to answer; long ago if it has answered since."""

    def __init__(self) -> None:
        self.time = -math.inf

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note whether a server answers. A queue that is full says nothing about that."""
        try:
            yield
        except psycopg.Error as error:
            if is_dead(error) and not isinstance(error, (PoolClosed, TooManyRequests)):
                self.time = time.monotonic()
            raise
        self.time = -math.inf


def _row(what: str, link: Link) -> Row:
    """Return the row of ``SELECT what``.

    Raises:
        psycopg.OperationalError: the server is a standby, but must not be one.
    """
    found = link.ask(what)
    if link.standby and link.primary_only:
        raise psycopg.OperationalError("the server follows another now")
    return found


def _tried_twice(
    work: Callable[[Link], T], first: Pool, second: Pool, *, looking: bool = True
) -> T:
    """Read over a connection of ``first``; if that fails, retry once over one of ``second``."""
    deadline = time.monotonic() + READ_DEADLINE
    try:
        with first.link(looking=looking) as link:
            return work(link)
    except (PoolClosed, TooManyRequests):
        raise
    except StoreUnavailable:  # a standby may not have all of the catalogue yet
        if first is second:
            raise
    except psycopg.Error as error:
        if not (is_dead(error) or (first is not second and error.sqlstate in _NOT_YET)):
            raise
    with second.link(deadline - time.monotonic()) as link:
        link.patience = min(link.patience, max(0.1, deadline - time.monotonic()))
        return work(link)
