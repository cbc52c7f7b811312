"""What the maps of a batch inherit in PostgreSQL, read and written for all drafts at once."""

from collections.abc import Sequence
from functools import cached_property
from operator import itemgetter
from typing import Final

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
from mapshelf.store.postgres.link import Link, Row
from mapshelf.store.tables import ADDITIONS, INHERITED, REMOVED

WRITE_REMOVED: Final = REMOVED.upsert("%s")
WRITE_MARK: Final = INHERITED.upsert("%s")
WRITE_ADDITION: Final = ADDITIONS.upsert("%s")
_OF_ONE: Final = FIND_INHERITED.format(digest="one.digest", folder="one.folder", owner="one.owner")
SELECT_INHERITED: Final = (
    "SELECT one.*, other.*"
    " FROM unnest(%s::bytea[], %s::bytea[], %s::text[]) AS one (digest, folder, owner)"
    f" CROSS JOIN LATERAL ({_OF_ONE}) AS other"
)


class PostgresInheritance:
    """What the maps of ``drafts`` inherit; see ``inherited_visibility.Inheritance``.

    It is read before the batch: what a copy has in common with a published map, whose file the
    batch changes, was public until now. ``known`` are the maps that the drafts refer to.
    """

    def __init__(self, link: Link, drafts: Sequence[MapDraft], known: Sequence[int]) -> None:
        self._link = link
        self._known = known
        self._found: dict[Row, Inherited] = {}
        self._removed: list[Row] = []
        self._marks: dict[int, Row] = {}
        self._additions: list[Row] = []
        self._sources: list[tuple[int, int, Source]] = []
        keys = dict.fromkeys(key for draft in drafts for key in keys_of(draft))
        if keys:
            columns = map(list, zip(*keys, strict=True))
            for row in link.rows(SELECT_INHERITED, tuple(columns)):
                self._found[row[:3]] = inherited_of_row(row[3:])
        self._places = inherited_at_places(self._read, drafts)

    def of(self, draft: MapDraft) -> Inherited | None:
        """See ``Inheritance``."""
        return strictest(self._found, draft)

    def of_new(self, draft: MapDraft) -> Inherited | None:
        """See ``Inheritance``."""
        return with_place(self.of(draft), self._places, draft)

    def write_removed(self, row: Row) -> None:
        """See ``Inheritance``."""
        self._removed.append(row)

    def write_mark(self, row: Row) -> None:
        """See ``Inheritance``."""
        self._marks[row[0]] = row

    def write_addition(self, row: Row) -> None:
        """See ``Inheritance``."""
        self._additions.append(row)

    def forget(self, file_id: int) -> None:
        """See ``Inheritance``."""
        self._marks.pop(file_id, None)
        if file_id in self._marked:
            forget_inherited(self._read, file_id)

    def note_former_content(self, file_id: int, now: int, source: Source) -> None:
        """See ``Inheritance``."""
        self._sources.append((file_id, now, source))

    @cached_property
    def _marked(self) -> frozenset[int]:
        """The known maps with a mark: a statement for each other map would take long."""
        query = "SELECT file_id FROM inherited WHERE file_id = ANY(%s)"
        rows = self._link.rows(query, (list(self._known),))
        return frozenset(file_id for (file_id,) in rows)

    def _read(self, sql: str, values: Row) -> list[Row]:
        return self._link.shared_rows(sql, values)

    def write(self) -> None:
        """Write everything, after the maps that it refers to, which are locked in order by that."""
        for file_id, now, source in sorted(self._sources, key=itemgetter(0)):
            note_former_content(self._read, file_id, now, source)
        with self._link.cursor() as cursor:
            cursor.executemany(WRITE_REMOVED, self._removed)
            cursor.executemany(WRITE_MARK, list(self._marks.values()))
            cursor.executemany(WRITE_ADDITION, self._additions)
