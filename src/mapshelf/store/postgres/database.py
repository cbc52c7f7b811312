"""Base class of all parts of the PostgreSQL store: connections, a clock, and ways to read."""

from collections.abc import Callable
from copy import copy
from threading import Lock
from typing import NamedTuple, Self

from mapshelf.errors import StoreUnavailable
from mapshelf.model import Credential
from mapshelf.store.credential_check import CredentialCheck
from mapshelf.store.postgres.connections import Connections
from mapshelf.store.postgres.counters import LEAP
from mapshelf.store.postgres.link import Link, Row


class DatabaseUser:
    """Reads from the primary, or from a standby where a lag does no harm.

    What is read of maps never goes back in time, whichever server answers (*monotonic reads*). Or a
    map could be seen as it was while it was private because it is published now, or as it is while
    it is private because it was published before.
    """

    def __init__(self, url: str, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._connections = Connections(url, clock)
        self._newest_read = NewestRevision()

    def acting_as(self, credential: Credential | None) -> Self:
        """See ``Store``."""
        store = copy(self)
        check = CredentialCheck(credential, self._clock) if credential else None
        store._connections = self._connections.checking(check)
        return store

    def require_revision(self, revision: int) -> None:
        """See ``Store``."""
        self._newest_read.note(revision)

    def takeovers(self) -> int:
        """See ``Store``."""
        return self._newest_read.leaps

    def close(self) -> None:
        """See ``Store``."""
        self._connections.close()

    def _rows(self, sql: str, parameters: Row = ()) -> list[Row]:
        """Return the rows of one statement, read from the primary."""
        return self._connections.read(lambda link: link.rows(sql, parameters))

    def _newest(self, sql: str, parameters: Row) -> list[Row]:
        """Return the rows of one statement, read from the primary.

        If the primary does not answer, or did not a moment ago, a standby is used, unless more than
        it has was read before. Do not use this for what may be hidden without a revision.
        """
        try:
            if self._connections.has_failed_lately:
                raise StoreUnavailable("the primary did not answer lately")
            return self._read_primary(sql, parameters)
        except StoreUnavailable:
            found, _ = self._read_standby(sql, parameters)
            if self._is_behind(found):
                raise
            return self._noted(found)

    def _rows_nearby(self, sql: str, parameters: Row) -> list[Row]:
        """Return the rows of one statement, from a standby if it has any.

        A standby may lag: if it has no rows, or more than it has was read before, the primary is
        read, unless that is away (``_newest``).
        """
        found, standby = self._read_standby(sql, parameters)
        if self._is_behind(found) or (standby and not found.rows):
            return self._newest(sql, parameters)
        return self._noted(found)

    def _read_primary(self, sql: str, parameters: Row) -> list[Row]:
        known = self._newest_read.revision
        found = self._connections.read(lambda link: _read_with_state(link, sql, parameters))
        if found.revision < known:
            # It has just taken over, and must not be read together with what it lacks.
            self._connections.take_over(known)
            found = self._connections.read(lambda link: _read_with_state(link, sql, parameters))
        return self._noted(found)

    def _read_standby(self, sql: str, parameters: Row) -> tuple["_Found", bool]:
        """Return what a standby has, if there is one, and whether there is."""
        return self._connections.read_nearby(
            lambda link: (_read_with_state(link, sql, parameters), link.standby)
        )

    def _is_behind(self, found: "_Found") -> bool:
        return found.revision < self._newest_read.revision

    def _noted(self, found: "_Found") -> list[Row]:
        self._newest_read.note(found.revision)
        return found.rows


class NewestRevision:
    """The newest revision of which a process has read anything.

    Attributes:
        revision: that revision.
        leaps: how often it rose by ``LEAP`` or more at once, as it does after each takeover. Other
            changes do not make it rise so far during a request, because each request begins by
            noting the revision of the snapshot.
    """

    def __init__(self) -> None:
        self.revision = 0
        self.leaps = 0
        self._lock = Lock()

    def note(self, revision: int) -> None:
        """Note that something was read in this revision, or has to be."""
        if revision > self.revision:
            with self._lock:
                self.leaps += 0 < self.revision <= revision - LEAP
                self.revision = max(self.revision, revision)


class _Found(NamedTuple):
    """What a statement found, and in which state of the catalogue.

    Attributes:
        revision: the revision of that state.
        rows: the rows.
    """

    revision: int
    rows: list[Row]


def _read_with_state(link: Link, sql: str, parameters: Row) -> _Found:
    """Run a statement that reads rows and the state at once; PostgreSQL keeps their order."""
    rows = link.required_rows(
        "SELECT state.*, found.* FROM (SELECT revision FROM sequence) AS state"
        f" LEFT JOIN (SELECT true, asked.* FROM ({sql}) AS asked) AS found ON true",
        parameters,
    )
    return _Found(rows[0][0], [row[2:] for row in rows if row[1]])
