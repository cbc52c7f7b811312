"""Tag renames: the rules and SQL statements that both databases share."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from mapshelf.model import name_key
from mapshelf.store.columns import SELECT_RENAMED_TAGS
from mapshelf.store.merge import current_tags
from mapshelf.store.publishing import Transaction, find_removed_too, write_map
from mapshelf.store.shared_methods import SharedMethods
from mapshelf.store.tables import RENAMED_TAGS, Row

LOOKED_AT: Final = 5000
"""Maps with tags checked per call."""

MAPS_AT_ONCE: Final = 200
"""Maps changed in one transaction, so that other writers get their turn."""

_WRITE: Final = RENAMED_TAGS.upsert("?")


class TagMethods(SharedMethods):
    """See ``contract.Tags``."""

    def rename_tag(self, old: str, new: str, after: int = 0) -> int | None:
        """See ``Store``."""
        if not after:
            with self._adding() as database:
                _remember(database, name_key(old), new)
        rows = self._read(
            "SELECT file_id, tags FROM maps WHERE tags <> '' AND file_id > ?"
            " ORDER BY file_id LIMIT ?",
            (after, LOOKED_AT),
        )
        having = [file_id for file_id, tags in rows if _differs(tags, old, new)]
        with self._changing() as database:
            for file_id in having[:MAPS_AT_ONCE]:
                _rename(database, file_id)
        if len(having) > MAPS_AT_ONCE:
            return int(having[MAPS_AT_ONCE - 1])
        return int(rows[-1][0]) if len(rows) == LOOKED_AT else None

    def renamed_tags(self) -> Mapping[str, str]:
        """See ``Store``."""
        return dict(self._read(SELECT_RENAMED_TAGS, ()))


def _differs(tags: str, old: str, new: str) -> bool:
    return any(name_key(tag) == name_key(old) and tag != new for tag in tags.split(", "))


def _remember(database: Transaction, old: str, new: str) -> None:
    known: Iterable[Row] = database.rows(SELECT_RENAMED_TAGS, ())
    for key, name in known:
        if name_key(name) == old:
            database.execute(_WRITE, (key, new))
    if name_key(new) != old:
        database.execute("DELETE FROM renamed_tags WHERE name_key = ?", (name_key(new),))
    database.execute(_WRITE, (old, new))


def _rename(database: Transaction, file_id: int) -> None:
    if not database.rows("SELECT 1 FROM maps WHERE file_id = ?", (file_id,)):
        return
    found = find_removed_too(database, file_id)
    tags = current_tags(found.tags, dict(database.rows(SELECT_RENAMED_TAGS, ())))
    if tags != found.tags:
        write_map(database, replace(found, tags=tags))
