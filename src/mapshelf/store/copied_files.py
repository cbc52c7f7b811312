"""Copies of files that vanish: the rules and SQL statements that both databases share.

A copy of a file has a map of its own, which inherits that the map of the file is not published (see
``inherited_visibility``). If the file vanishes then, it was not copied but moved: its map, with all
that users and administrators did to it, belongs to the copy.

A copy inherits nothing if another map with its content is published. If the file vanishes then, any
new copy may be that file, moved: all that are published become private until somebody decides.
"""

import os
from collections.abc import Sequence
from typing import Final

from mapshelf.model import GONE, Source
from mapshelf.store.former_contents import pass_on_former_contents
from mapshelf.store.former_places import (
    follow_former_places,
    note_former_place,
    pass_on_former_places,
    unpublished_places,
)
from mapshelf.store.inherited_visibility import (
    COPIED_WITHIN,
    UNCERTAIN,
    UNTOUCHED,
    hide_uncertain,
)
from mapshelf.store.lost_files import lost_files, note_lost_files
from mapshelf.store.publishing import Transaction, delete_map
from mapshelf.store.shared_methods import SharedMethods
from mapshelf.store.tables import Row

_MAP: Final = (
    "JOIN maps AS m ON m.file_id = s.file_id WHERE s.digest = ? AND s.path = ?"
    " AND NOT EXISTS (SELECT 1 FROM sources AS o WHERE o.file_id = m.file_id AND o.path <> s.path)"
)
"""The map of a file, if it has no other file."""

_MISSING: Final = (
    f"SELECT m.file_id, m.owner_id FROM sources AS s {_MAP} AND"
    " (EXISTS (SELECT 1 FROM removed AS r WHERE r.file_id = m.file_id) OR 'published' <>"
    " coalesce((SELECT g.visibility FROM missing AS g WHERE g.file_id = m.file_id), m.visibility))"
)
"""The map of a missing file, if it is not published, or was not until it was missing."""

_NEW: Final = (
    "EXISTS (SELECT 1 FROM additions AS a WHERE a.file_id = m.file_id"
    f" AND abs(a.added - ?) < {COPIED_WITHIN})"
)

_TWIN: Final = (
    "SELECT 1 FROM sources AS t JOIN maps AS n ON n.file_id = t.file_id"
    " LEFT JOIN missing AS g ON g.file_id = n.file_id"
    " WHERE t.digest = s.digest AND n.file_id < m.file_id"
    " AND coalesce(g.visibility, n.visibility) = 'published'"
)
"""A published map with the same content from before: because of it, a copy inherited nothing. Its
file may be missing by now."""

_COPY: Final = (
    f"SELECT m.file_id, m.id FROM sources AS s {_MAP}"
    f" AND s.modified <> {GONE} AND m.file_id > ? AND m.owner_id = ?"
    f" AND CASE m.visibility WHEN 'published' THEN ? AND EXISTS ({_TWIN}) AND {_NEW}"
    " ELSE EXISTS (SELECT 1 FROM inherited AS i WHERE i.file_id = m.file_id"
    f" AND i.digest = s.digest AND (i.original <> {UNCERTAIN.original} OR {_NEW})) END"
    f" AND {UNTOUCHED}"
)
"""The map of a copy that nobody has touched, whose file is still as it was. It inherited that it is
not published, perhaps from another equal file, or new maps are not published. Or it inherited
nothing, but has the name of the missing file, and was found within the last hour: moving a private
file must not publish what it will contain. An ``UNCERTAIN`` one may be known for long."""

_NEW_COPIES: Final = (
    "SELECT m.file_id FROM sources AS s JOIN maps AS m ON m.file_id = s.file_id WHERE s.digest = ?"
    f" AND s.modified <> {GONE} AND m.file_id > ? AND m.owner_id = ?"
    f" AND m.visibility = 'published' AND EXISTS ({_TWIN}) AND {_NEW} AND {UNTOUCHED}"
    " ORDER BY m.file_id"
)
"""Published maps that are perhaps of the missing file, moved and renamed: they were found with its
content within the last hour, and inherited nothing, because another map was published, too."""

_CHANGE: Final = "UPDATE maps SET revision = ? WHERE file_id = ?"

_MOVE: Final = (
    "UPDATE sources SET path = ?, name = ?, size = ?, modified = ? WHERE digest = ? AND path = ?"
)


class CopiedFileMethods(SharedMethods):
    """The part of ``contract.Sources`` that is about copies, for both databases."""

    def adopt_copy(self, missing: Source, copies: Sequence[Source]) -> Source | None:
        """See ``Store``."""
        with self._changing() as database:
            return _adopt_copy(database, missing, copies)

    def note_lost(self, sources: Sequence[Source]) -> None:
        """See ``Store``."""
        with self._changing() as database:
            note_lost_files(database.rows, sources, database.now)

    def lost_lately(self, digest: bytes, limit: int) -> list[tuple[bytes, int]]:
        """See ``Store``."""
        return lost_files(self._read, digest, limit, self._now())

    def unpublished_places(self, paths: Sequence[bytes]) -> set[bytes]:
        """See ``Store``."""
        return unpublished_places(self._read, paths)

    def follow_former_places(self, former: bytes, now: bytes) -> None:
        """See ``Store``."""
        with self._changing() as database:
            follow_former_places(database.rows, former, now)


def _adopt_copy(database: Transaction, missing: Source, copies: Sequence[Source]) -> Source | None:
    for kept in database.rows(_MISSING, (missing.digest, missing.path)):
        copy = _adopted(database, missing, copies, kept)
        _hide_new_copies(database, missing.digest, kept)
        return copy
    return None


def _adopted(
    database: Transaction, missing: Source, copies: Sequence[Source], kept: Row
) -> Source | None:
    file = (missing.digest, missing.path)
    for copy in copies:
        named_alike = os.path.basename(copy.path) == os.path.basename(missing.path)
        now = database.now
        values = (missing.digest, copy.path, *kept, named_alike, now, now)
        found = database.rows(_COPY, values)
        if found:
            _adopt(database, kept, found[0])
            note_former_place(database.rows, kept[0], missing.path, database.now)
            database.execute(_MOVE, (copy.path, copy.name, copy.size, copy.modified, *file))
            return copy
    return None


def _hide_new_copies(database: Transaction, digest: bytes, kept: Row) -> None:
    """Let the published maps be private that may be of the missing file with the map ``kept``."""
    rows = database.rows(_NEW_COPIES, (digest, *kept, database.now))
    for file_id in sorted(database.lock_maps([row[0] for row in rows])):
        hide_uncertain(database.rows, file_id, digest)
        database.execute(_CHANGE, (database.next_revision(), file_id))


def _adopt(database: Transaction, kept: Row, dropped: Row) -> None:
    database.lock_maps((kept[0], dropped[0]))
    pass_on_former_contents(database.rows, dropped[0], kept[0])
    pass_on_former_places(database.rows, dropped[0], kept[0])
    delete_map(database, *dropped)
    revision = database.next_revision()
    database.execute(_CHANGE, (revision, kept[0]))
