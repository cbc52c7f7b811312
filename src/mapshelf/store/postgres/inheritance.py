"""What the maps of a batch inherit in PostgreSQL, read and written for all drafts at once."""

from collections.abc import Iterable
from typing import Final

from mapshelf.model import MapDraft
from mapshelf.store.inherited_visibility import (
    INHERITED,
    Inherited,
    inherited_of_row,
    keys_of,
    strictest,
)
from mapshelf.store.postgres.connections import Link, Row
from mapshelf.store.tables import REMOVED

WRITE_REMOVED: Final = REMOVED.upsert("%s")
SELECT_INHERITED: Final = (
    "SELECT one.*, other.*"
    " FROM unnest(%s::bytea[], %s::bytea[], %s::text[]) AS one (digest, folder, owner)"
    " CROSS JOIN LATERAL"
    f" ({INHERITED.format(digest='one.digest', folder='one.folder', owner='one.owner')}) AS other"
)


class PostgresInheritance:
    """What the maps of ``drafts`` inherit; see ``inherited_visibility.Inheritance``.

    It is read before the batch: what a copy has in common with a published map, whose file the
    batch changes, was public until now.
    """

    def __init__(self, link: Link, drafts: Iterable[MapDraft]) -> None:
        self._found: dict[Row, Inherited] = {}
        self._removed: list[Row] = []
        keys = dict.fromkeys(key for draft in drafts for key in keys_of(draft))
        if keys:
            columns = map(list, zip(*keys, strict=True))
            for row in link.rows(SELECT_INHERITED, tuple(columns)):
                self._found[row[:3]] = inherited_of_row(row[3:])

    def of(self, draft: MapDraft) -> Inherited | None:
        """See ``Inheritance``."""
        return strictest(self._found, draft)

    def write_removed(self, row: Row) -> None:
        """See ``Inheritance``."""
        self._removed.append(row)

    def write(self, link: Link) -> None:
        """Write all removals, after the maps that they refer to."""
        with link.cursor() as cursor:
            cursor.executemany(WRITE_REMOVED, self._removed)
