"""Deletion of maps whose files have been missing for long: the methods of both databases.

Only the process that follows a folder knows whether its files are back, so that process deletes
these maps, and nothing else does (see ``importer.purging``).
"""

from collections.abc import Sequence
from typing import Final

from mapshelf.model import GONE, Source
from mapshelf.store.columns import SOURCE
from mapshelf.store.publishing import delete_map
from mapshelf.store.shared_methods import SharedMethods

_LONG_MISSING: Final = (
    f"SELECT {SOURCE} FROM sources WHERE path > ? AND path < ? AND modified = {GONE}"
    " AND file_id IN (SELECT g.file_id FROM missing AS g WHERE g.since < ?) ORDER BY path LIMIT ?"
)

_MAP: Final = (
    "SELECT m.file_id, m.id FROM sources AS s JOIN maps AS m ON m.file_id = s.file_id"
    " JOIN missing AS g ON g.file_id = m.file_id WHERE s.digest = ? AND s.path = ? AND g.since < ?"
)

_FILES: Final = "SELECT path FROM sources WHERE file_id = ?"


class LongMissingMethods(SharedMethods):
    """The part of ``contract.Sources`` that is about maps to be deleted."""

    def long_missing(self, folder: bytes, before: int, after: bytes, limit: int) -> list[Source]:
        """See ``Store``."""
        # "0" is the character after the slash: all paths below the folder lie in between.
        beyond = folder + b"0"
        rows = self._read(_LONG_MISSING, (max(folder + b"/", after), beyond, before, limit))
        return [Source(*row) for row in rows]

    def purge_missing(self, sources: Sequence[Source], before: int) -> int:
        """See ``Store``."""
        if not sources:
            return 0
        paths = {one.path for one in sources}
        with self._changing() as database:
            found = [
                row
                for one in sources
                for row in database.rows(_MAP, (one.digest, one.path, before))
            ]
            purged = {
                file_id: public_id
                for file_id, public_id in sorted(found)
                if all(path in paths for (path,) in database.rows(_FILES, (file_id,)))
            }
            database.lock_maps(purged)
            for file_id, public_id in purged.items():
                delete_map(database, file_id, public_id)
            return len(purged)
