"""Base class of all parts of the PostgreSQL store: connections, a clock, and ways to read."""

from collections.abc import Callable
from copy import copy
from threading import Lock
from typing import Self

from mapshelf.errors import StoreUnavailable
from mapshelf.model import Credential
from mapshelf.store.credential_check import CredentialCheck
from mapshelf.store.postgres.connections import Connections, Row


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

    def close(self) -> None:
        """See ``Store``."""
        self._connections.close()

    def _rows(self, sql: str, parameters: Row = ()) -> list[Row]:
        """Return the rows of one statement, read from the primary."""
        return self._connections.read(lambda link: link.rows(sql, parameters))

    def _newest(self, sql: str, parameters: Row) -> list[Row]:
        """Return the rows of one statement, read from the primary.

        If no primary can be reached, a standby is used, unless more than it has was read before.
        """
        try:
            return self._read_primary(sql, parameters)
        except StoreUnavailable:
            rows, is_late = self._read_standby(sql, parameters)
            if is_late:
                raise
            return self._noted(rows)

    def _rows_nearby(self, sql: str, parameters: Row) -> list[Row]:
        """Return the rows of one statement, from a standby if it has any.

        A standby may lag: if it has no rows, or more than it has was read before, the primary is
        read.
        """
        rows, is_late = self._read_standby(sql, parameters)
        return self._read_primary(sql, parameters) if is_late else self._noted(rows)

    def _read_primary(self, sql: str, parameters: Row) -> list[Row]:
        return self._noted(self._rows(_with_revision(sql), parameters))

    def _read_standby(self, sql: str, parameters: Row) -> tuple[list[Row], bool]:
        """Return rows of a standby, if there is one, and whether it may lack something."""
        rows, standby = self._connections.read_nearby(
            lambda link: (link.rows(_with_revision(sql), parameters), link.standby)
        )
        return rows, standby and not (rows and rows[0][-1] >= self._newest_read.revision)

    def _noted(self, rows: list[Row]) -> list[Row]:
        """Return rows without the revision that was read with them; note that."""
        if rows:
            self._newest_read.note(rows[0][-1])
        return [row[:-1] for row in rows]


class NewestRevision:
    """The newest revision of which a process has read anything."""

    def __init__(self) -> None:
        self.revision = 0
        self._lock = Lock()

    def note(self, revision: int) -> None:
        """Note that something was read in this revision, or has to be."""
        if revision > self.revision:
            with self._lock:
                self.revision = max(self.revision, revision)


def _with_revision(sql: str) -> str:
    """Return a statement that also returns the revision of the state that it reads.

    PostgreSQL keeps the order of the rows.
    """
    return f"SELECT found.*, (SELECT revision FROM sequence) FROM ({sql}) AS found"
