"""Former contents of files whose maps are not published: the rules and SQL of both databases.

A file is often copied or renamed just before it gets another content: for a backup, or when a new
version of a folder takes the place of the former one. The copy may be read after that, when no file
is known to have its content any more. So former contents are remembered for a while: a copy
inherits from the map that had its content (see ``inherited_visibility``).

They belong to their map. They count while it is not published, and are deleted with it, because its
last content is not remembered then either. What a copy has from another map only counts for that
one, as long as it does: otherwise a template from which a private map was begun would hide all
others that are begun from it, for ever.
"""

from typing import Final

from mapshelf.model import Source
from mapshelf.store.publishing_queries import Read

MOST_FORMER_CONTENTS: Final = 100
"""Former contents kept of a map, so that one that is saved all the time does not fill the table."""

_NOTE: Final = (
    "INSERT INTO former_contents (file_id, digest, since)"
    " SELECT file_id, digest, ? FROM sources AS s WHERE file_id = ? AND path = ? AND digest <> ?"
    " AND NOT EXISTS (SELECT 1 FROM inherited AS i JOIN maps AS o ON o.file_id = i.original"
    " WHERE i.file_id = s.file_id AND i.digest = s.digest AND o.visibility <> 'published'"
    " AND (EXISTS (SELECT 1 FROM sources AS t WHERE t.file_id = o.file_id AND t.digest = s.digest)"
    " OR EXISTS (SELECT 1 FROM former_contents AS f"
    " WHERE f.file_id = o.file_id AND f.digest = s.digest)))"
    " ON CONFLICT (file_id, digest) DO UPDATE SET since = excluded.since RETURNING file_id"
)

_DROP_OLDEST: Final = (
    "DELETE FROM former_contents WHERE file_id = ? AND digest NOT IN (SELECT f.digest"
    " FROM former_contents AS f WHERE f.file_id = ? ORDER BY f.since DESC, f.digest LIMIT ?)"
    " RETURNING file_id"
)

_PASS_ON: Final = (
    "INSERT INTO former_contents (file_id, digest, since)"
    " SELECT ?, digest, since FROM former_contents WHERE file_id = ?"
    " ON CONFLICT (file_id, digest) DO NOTHING RETURNING file_id"
)

_PURGE: Final = "DELETE FROM former_contents WHERE since < ? RETURNING file_id"


def note_former_content(read: Read, file_id: int, now: int, source: Source) -> None:
    """Remember the content that a file of a map had until now, if it has another one now."""
    if read(_NOTE, (now, file_id, source.path, source.digest)):
        read(_DROP_OLDEST, (file_id, file_id, MOST_FORMER_CONTENTS))


def pass_on_former_contents(read: Read, former: int, file_id: int) -> None:
    """Give the former contents of the map ``former`` to another one, which replaces it."""
    read(_PASS_ON, (file_id, former))


def purge_former_contents(read: Read, before: int) -> None:
    """Forget the contents that files last had before this time."""
    read(_PURGE, (before,))
