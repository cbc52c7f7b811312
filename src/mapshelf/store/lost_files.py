"""Files that were lost lately, and whose maps are not published: the SQL of both databases.

Which of several lost files with one content a new one is, is a guess. A wrong guess must not show
what will be written into a private file. So importers note lost files here before they give maps to
new ones (``importer/equal_files.py``). The files of one move may be found minutes apart, by other
processes, and after a restart. Notes are forgotten after an hour, because the same content may be
that of a template which many people use.
"""

from collections.abc import Sequence
from typing import Final

from mapshelf.model import HOUR, Source
from mapshelf.store.inherited_visibility import EFFECTIVE, JOIN_STATES
from mapshelf.store.publishing_queries import Read

LOST_WITHIN: Final = HOUR
"""Milliseconds for which a lost file is remembered."""

_NOTE: Final = (
    "INSERT INTO lost_files (digest, file_id, path, modified, since)"
    " SELECT s.digest, s.file_id, s.path, s.modified, ? FROM sources AS s"
    f" JOIN maps AS m ON m.file_id = s.file_id {JOIN_STATES}"
    f" WHERE s.digest = ? AND s.path = ? AND {EFFECTIVE} <> 'published'"
    " ON CONFLICT (digest, file_id) DO UPDATE"
    " SET path = excluded.path, modified = excluded.modified, since = excluded.since"
    " RETURNING file_id"
)

_FIND: Final = (
    f"SELECT l.path, l.modified FROM lost_files AS l JOIN maps AS m ON m.file_id = l.file_id"
    f" {JOIN_STATES} WHERE l.digest = ? AND l.since > ? AND {EFFECTIVE} <> 'published'"
    " ORDER BY l.file_id LIMIT ?"
)

_PURGE: Final = "DELETE FROM lost_files WHERE since <= ? RETURNING file_id"


def note_lost_files(read: Read, sources: Sequence[Source], now: int) -> None:
    """Remember those of some files whose maps are not published, and forget old ones."""
    read(_PURGE, (now - LOST_WITHIN,))
    for one in sources:
        read(_NOTE, (now, one.digest, one.path))


def lost_files(read: Read, digest: bytes, limit: int, now: int) -> list[tuple[bytes, int]]:
    """Return paths and times of lost files with this content; see ``contract.Sources``."""
    rows = read(_FIND, (digest, now - LOST_WITHIN, limit))
    return [(path, modified) for path, modified in rows]
