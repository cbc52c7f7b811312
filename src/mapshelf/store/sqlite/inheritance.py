"""What the maps of a batch inherit in SQLite."""

from typing import Final

import apsw

from mapshelf.model import MapDraft
from mapshelf.store.inherited_visibility import INHERITED, Inherited, inherited_of_row, key_of
from mapshelf.store.tables import REMOVED, Row

WRITE_REMOVED: Final = REMOVED.upsert("?")
SELECT_INHERITED: Final = INHERITED.format(digest="?1", folder="?2", owner="?3")


class SQLiteInheritance:
    """See ``inherited_visibility.Inheritance``."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database

    def of(self, draft: MapDraft) -> Inherited | None:
        """See ``Inheritance``."""
        key = key_of(draft)
        row = self._database.execute(SELECT_INHERITED, key).fetchone() if key else None
        return inherited_of_row(row) if row else None

    def write_removed(self, row: Row) -> None:
        """See ``Inheritance``."""
        self._database.execute(WRITE_REMOVED, row)
