"""Base class of all parts of the PostgreSQL store: connections, a clock, and ways to read."""

from collections.abc import Callable
from copy import copy
from typing import Self

from mapshelf.errors import StoreUnavailable
from mapshelf.model import Credential
from mapshelf.store.credential_check import CredentialCheck
from mapshelf.store.postgres.connections import Connections, Row


class DatabaseUser:
    """Reads from the primary, or from a standby where a lag does no harm."""

    def __init__(self, url: str, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._connections = Connections(url, clock)

    def acting_as(self, credential: Credential | None) -> Self:
        """See ``Store``."""
        store = copy(self)
        check = CredentialCheck(credential, self._clock) if credential else None
        store._connections = self._connections.checking(check)
        return store

    def close(self) -> None:
        """See ``Store``."""
        self._connections.close()

    def _rows(self, sql: str, parameters: Row = ()) -> list[Row]:
        """Return the rows of one statement, read from the primary."""
        return self._connections.read(lambda link: link.rows(sql, parameters))

    def _newest(self, sql: str, parameters: Row) -> list[Row]:
        """Return the rows of one statement, read from the primary.

        If no primary can be reached, a standby is used.
        """
        try:
            return self._rows(sql, parameters)
        except StoreUnavailable:
            return self._connections.read_nearby(lambda link: link.rows(sql, parameters))

    def _rows_nearby(self, sql: str, parameters: Row) -> list[Row]:
        """Return the rows of one statement, from a standby if it has any.

        A standby may lag: if it has no rows, the primary is read.
        """
        rows, standby = self._connections.read_nearby(
            lambda link: (link.rows(sql, parameters), link.standby)
        )
        return self._rows(sql, parameters) if standby and not rows else rows
