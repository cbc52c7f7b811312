"""Base class of all parts of the store: connections, a clock, and two ways to read."""

from collections.abc import Callable

from mapshelf.errors import StoreUnavailable
from mapshelf.store.postgres.connections import Connections, Row


class DatabaseUser:
    """Reads from the primary, or from a standby where its answer can be trusted."""

    def __init__(self, url: str, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._connections = Connections(url, clock)

    def close(self) -> None:
        """See ``Store``."""
        self._connections.close()

    def _rows(self, sql: str, parameters: Row = ()) -> list[Row]:
        """Return the rows of one statement, as the primary has them."""
        return self._connections.read(lambda link: link.rows(sql, parameters))

    def _newest(self, sql: str, parameters: Row) -> list[Row]:
        """Return the rows of one statement, as the primary has them.

        While no primary can be reached, a standby will do.
        """
        try:
            return self._rows(sql, parameters)
        except StoreUnavailable:
            return self._connections.read_nearby(lambda link: link.rows(sql, parameters))

    def _rows_nearby(self, sql: str, parameters: Row) -> list[Row]:
        """Return the rows of one statement, from a standby if it has any.

        A standby may lag: if it has no rows, the primary is asked.
        """
        rows, standby = self._connections.read_nearby(
            lambda link: (link.rows(sql, parameters), link.standby)
        )
        return self._rows(sql, parameters) if standby and not rows else rows
