"""Keep files unpublished, in a restored catalogue, that are so in the catalogue that it replaces.

Files in folders do not go back with the catalogue. One that is newer than the backup, or has got
another name since, would count as a new file, and be published, although somebody had decided
otherwise. So each file that is known as unpublished in the replaced catalogue, but not known at its
place in the restored one, gets a map there whose file is missing. The rules for these decide then:
the file has this map when it is found at its place, whatever it contains, or in the same folder
with the same content, and copies of it inherit from it. If it is not found, its map is deleted in
the end.

What the backup knows is as visible as it was. Where the replaced catalogue is what became of it,
an unpublished map is found again under the new name of its file, and a map does not get the file of
another one that has taken the place of its own.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Final, NamedTuple

import apsw

from mapshelf.clock import milliseconds
from mapshelf.errors import StoreDamaged
from mapshelf.model import GONE, SYSTEM_USER, MapDraft, Source, Verdict, Visibility
from mapshelf.store.batch import Batch
from mapshelf.store.former_places import note_former_place
from mapshelf.store.inherited_visibility import EFFECTIVE, JOIN_STATES
from mapshelf.store.missing_maps import path_without_file
from mapshelf.store.sqlite.batch_rows import SQLiteBatchRows
from mapshelf.store.sqlite.replaced_catalogue import ReplacedCatalogue
from mapshelf.store.sqlite.sources import miss
from mapshelf.store.tables import Row

FILES_AT_ONCE: Final = 1000
"""Files that are read from the replaced catalogue at a time."""

UNREAD_SIZE: Final = -1
"""The size of a known file that must be read again: no file has it."""

_UNPUBLISHED: Final = (
    "SELECT s.rowid, s.path, s.name, s.size, s.modified, s.digest, m.file_id, m.id,"
    f" CASE {EFFECTIVE} WHEN 'unlisted' THEN 'unlisted' ELSE 'private' END, u.id, u.registered"
    # No index is used: one that is damaged may lack rows.
    " FROM sources AS s NOT INDEXED CROSS JOIN maps AS m ON m.file_id = s.file_id"
    f" LEFT JOIN users AS u ON u.id = m.owner_id {JOIN_STATES}"
    f" WHERE s.rowid > ? AND {EFFECTIVE} IS NOT 'published'"
    " AND (typeof(s.path), typeof(s.digest)) = ('blob', 'blob')"
    " AND (typeof(s.name), typeof(m.id)) = ('text', 'text')"
    " AND (typeof(s.size), typeof(s.modified)) = ('integer', 'integer')"
    " ORDER BY s.rowid LIMIT ?"
)
"""Files whose maps are not published, with what their maps inherit. What was removed is private
then: that is undone, like everything that was decided since the backup."""

_KNOWN: Final = (
    "SELECT m.file_id, m.id FROM sources AS s JOIN maps AS m ON m.file_id = s.file_id"
    " WHERE s.path = ?"
)

_HAS: Final = (
    "SELECT 1 FROM maps WHERE file_id = ?1 AND id = ?2"
    " UNION ALL SELECT 1 FROM deleted WHERE file_id = ?1 AND id = ?2"
)
"""Whether a map is in a catalogue, or was."""

_SOURCES: Final = (
    f"SELECT s.path, {EFFECTIVE} FROM maps AS m JOIN sources AS s ON s.file_id = m.file_id"
    f" {JOIN_STATES} WHERE m.file_id = ? AND m.id = ?"
)

_SOURCE_OF: Final = "SELECT 1 FROM sources WHERE path = ? AND file_id = ?"

_MOVE: Final = (
    "UPDATE sources SET path = ?, name = ?, size = ?, modified = ?, digest = ? WHERE path = ?"
)

_TAKEN: Final = (
    "SELECT 1 FROM maps WHERE file_id = ?1 OR id = ?2"
    " UNION ALL SELECT 1 FROM deleted WHERE file_id = ?1 OR id = ?2"
)

_NOTE_CONTENT: Final = (
    "INSERT INTO former_contents (file_id, digest, since)"
    " SELECT file_id, ?, ? FROM sources WHERE path = ? AND digest <> ?"
    " ON CONFLICT (file_id, digest) DO NOTHING"
)

_PASS_ON: Final = (
    (
        "SELECT digest, since FROM former_contents WHERE file_id = ?"
        " AND (typeof(digest), typeof(since)) = ('blob', 'integer')",
        "INSERT INTO former_contents (file_id, digest, since) VALUES (?, ?, ?)"
        " ON CONFLICT (file_id, digest) DO NOTHING",
    ),
    (
        "SELECT digest, path, since FROM former_places WHERE file_id = ?"
        " AND (typeof(digest), typeof(path), typeof(since)) = ('blob', 'blob', 'integer')",
        "INSERT INTO former_places (file_id, digest, path, since) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (digest, file_id) DO NOTHING",
    ),
)
"""Reads and writes the former contents of a map, and its former places."""


def withhold_files(
    copy: apsw.Connection, replaced: ReplacedCatalogue, *, follow: bool = False
) -> None:
    """Let ``copy``, in its transaction, not publish what the ``replaced`` catalogue does not.

    If that is damaged, this holds for what can be read.

    Args:
        copy: the catalogue that was restored, which gives new maps ids that were not used before.
        replaced: a former catalogue.
        follow: whether it is the latest one, and what became of the copy, so that the files of maps
            are where it says, and new maps may have the ids that they had there.
    """
    withholding, after = _Withholding(copy, replaced, follow=follow), 0
    with suppress(StoreDamaged):
        while rows := replaced.rows(_UNPUBLISHED, (after, FILES_AT_ONCE)):
            for after, *columns in rows:  # noqa: B007 - the next page begins after the last one
                withholding.withhold(_File(Source(*columns[:5]), *columns[5:]))


class _File(NamedTuple):
    """A file whose map is not published in the replaced catalogue.

    Attributes:
        source: the file.
        file_id: ``file_id`` of its map.
        id: ``id`` of its map.
        visibility: what another map would inherit from that.
        owner_id: the user to whom the map belongs.
        registered: when that user registered, which tells whether it is the same in the copy.
    """

    source: Source
    file_id: int
    id: str
    visibility: str
    owner_id: int
    registered: int


class _Withholding:
    """One former catalogue, and the copy."""

    def __init__(self, copy: apsw.Connection, replaced: ReplacedCatalogue, *, follow: bool) -> None:
        self._copy = copy
        self._replaced = replaced
        self._follow = follow
        self._now = milliseconds()
        self._batch = Batch(SQLiteBatchRows(copy), self._now)

    def withhold(self, file: _File) -> None:
        """Let the copy not publish this file."""
        file_id = self._map_there(file)
        if file_id is None:
            file_id = self._moved_map(file) or self._added_map(file)
        if file_id is None:
            return
        for read, write in _PASS_ON:
            with suppress(StoreDamaged):  # other tables may be whole
                rows = self._replaced.rows(read, (file.file_id,))
                self._copy.executemany(write, [(file_id, *row) for row in rows])

    def _map_there(self, file: _File) -> int | None:
        """Return the map that the copy has at the place of a file, if it is still there."""
        path, digest = file.source.path, file.source.digest
        for known in self._known(path):
            if not self._has_moved(known, file):
                self._copy.execute(_NOTE_CONTENT, (digest, self._now, path, digest))
                return int(known[0])
            given = path_without_file(path, self._known)
            self._copy.execute("UPDATE sources SET path = ? WHERE path = ?", (given, path))
        return None

    def _known(self, path: bytes) -> list[Row]:
        return self._read(_KNOWN, (path,))

    def _has_moved(self, known: Row, file: _File) -> bool:
        """Return whether the map that the copy has for a file lost this place to another one."""
        another = known != (file.file_id, file.id)
        return self._follow and another and bool(self._replaced.rows(_HAS, known))

    def _moved_map(self, file: _File) -> int | None:
        """Let a map be where its file is now, and return it, if it is as hidden in the copy."""
        rows = self._read(_SOURCES, (file.file_id, file.id))
        if not self._follow or file.source.is_gone or len(rows) != 1:
            return None
        ((path, visibility),) = rows
        if visibility not in ("private", "removed", file.visibility):
            return None
        if self._replaced.rows(_SOURCE_OF, (path, file.file_id)):  # it had two files in the end
            return None
        new = file.source
        values = (new.path, new.name, UNREAD_SIZE, new.modified, new.digest, path)
        self._copy.execute(_MOVE, values)
        note_former_place(self._read, file.file_id, path, self._now)
        return file.file_id

    def _added_map(self, file: _File) -> int | None:
        """Add a map whose file is missing; return it, unless no ``file_id`` is left for maps."""
        draft = MapDraft(
            title=file.source.name,
            owner=self._owner(file),
            visibility=Visibility(file.visibility),
            source=replace(file.source, modified=GONE),
        )
        if self._follow and not self._read(_TAKEN, (file.file_id, file.id)):
            draft = replace(draft, file_id=file.file_id, id=file.id)
        if self._batch.put([draft])[0].verdict is not Verdict.ADDED:
            return None
        ((file_id, _),) = self._known(file.source.path)
        miss(self._copy, file_id, self._now)
        return int(file_id)

    def _owner(self, file: _File) -> str:
        """Return the name that the owner has in the copy, as far as it is the same user."""
        query = "SELECT name FROM users WHERE id = ? AND registered = ? AND closed IS NULL"
        rows = self._read(query, (file.owner_id, file.registered))
        return str(rows[0][0]) if rows else SYSTEM_USER

    def _read(self, sql: str, values: Row) -> list[Row]:
        return self._copy.execute(sql, values).fetchall()
