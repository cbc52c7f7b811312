"""Read the catalogue that a restored one replaces, which may be damaged."""

import apsw

from mapshelf.errors import StoreDamaged
from mapshelf.store.tables import Row


class ReplacedCatalogue:
    """Reads by a connection that stays open."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database

    def rows(self, sql: str, parameters: Row = ()) -> list[Row]:
        """Return the rows of a statement.

        Raises:
            StoreDamaged: they cannot be read.
        """
        try:
            return self._database.execute(sql, parameters).fetchall()
        except (apsw.Error, UnicodeDecodeError) as error:
            raise StoreDamaged("the former catalogue cannot be read") from error

    def require_whole(self) -> None:
        """Check that no row is hidden: one that a damaged index lacks is just not found.

        Raises:
            StoreDamaged: it is damaged.
        """
        if self.rows("PRAGMA integrity_check(1)") != [("ok",)]:
            raise StoreDamaged("the former catalogue is damaged")
