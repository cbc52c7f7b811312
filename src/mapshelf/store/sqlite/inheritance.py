"""What the maps of a batch inherit in SQLite."""

from collections.abc import Sequence
from typing import Final

import apsw

from mapshelf.model import MapDraft, Source
from mapshelf.store.former_contents import note_former_content
from mapshelf.store.former_places import inherited_at_places, with_place
from mapshelf.store.inherited_visibility import (
    FIND_INHERITED,
    Inherited,
    forget_inherited,
    inherited_of_row,
    keys_of,
    strictest,
)
from mapshelf.store.tables import ADDITIONS, INHERITED, REMOVED, Row

WRITE_REMOVED: Final = REMOVED.upsert("?")
WRITE_MARK: Final = INHERITED.upsert("?")
WRITE_ADDITION: Final = ADDITIONS.upsert("?")
SELECT_INHERITED: Final = FIND_INHERITED.format(digest="?1", folder="?2", owner="?3")


class SQLiteInheritance:
    """What the maps of ``drafts`` inherit; see ``inherited_visibility.Inheritance``.

    It is read before the batch, as in PostgreSQL, because the batch may change the file of a
    published map with the same content: whether that comes first must not matter.
    """

    def __init__(self, database: apsw.Connection, drafts: Sequence[MapDraft]) -> None:
        self._database = database
        self._found: dict[Row, Inherited] = {}
        for key in dict.fromkeys(key for draft in drafts for key in keys_of(draft)):
            if rows := self._read(SELECT_INHERITED, key):
                self._found[key] = inherited_of_row(rows[0])
        self._places = inherited_at_places(self._read, drafts)

    def of(self, draft: MapDraft) -> Inherited | None:
        """See ``Inheritance``."""
        return strictest(self._found, draft)

    def of_new(self, draft: MapDraft) -> Inherited | None:
        """See ``Inheritance``."""
        return with_place(self.of(draft), self._places, draft)

    def write_removed(self, row: Row) -> None:
        """See ``Inheritance``."""
        self._database.execute(WRITE_REMOVED, row)

    def write_mark(self, row: Row) -> None:
        """See ``Inheritance``."""
        self._database.execute(WRITE_MARK, row)

    def write_addition(self, row: Row) -> None:
        """See ``Inheritance``."""
        self._database.execute(WRITE_ADDITION, row)

    def forget(self, file_id: int) -> None:
        """See ``Inheritance``."""
        forget_inherited(self._read, file_id)

    def note_former_content(self, file_id: int, now: int, source: Source) -> None:
        """See ``Inheritance``."""
        note_former_content(self._read, file_id, now, source)

    def _read(self, sql: str, values: Row) -> list[Row]:
        return self._database.execute(sql, values).fetchall()
