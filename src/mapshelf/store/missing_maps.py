"""Maps whose files are missing: the rules and SQL statements that both databases share.

Such a map is removed, with a row in ``missing`` that has the visibility it gets back with its file.
A file may be missing for a moment only, so nothing that users set or administrators decided may be
lost with it. Users cannot undo this removal: there would be a map without its file.
"""

from collections.abc import Callable
from dataclasses import replace

from mapshelf.model import Map, Visibility
from mapshelf.store.publishing_queries import Read
from mapshelf.store.tables import Row


def path_without_file(path: bytes, found: Callable[[bytes], list[Row]]) -> bytes:
    """Return a free path for the source of a missing file whose ``path`` another file takes.

    It ends with slashes, so no scan finds a file with it: only the content of the missing file
    still identifies its map.
    """
    free = path + b"/"
    while found(free):
        free += b"/"
    return free


def is_missing(read: Read, file_id: int) -> bool:
    """Return whether the files of a map are missing."""
    return bool(read("SELECT 1 FROM missing WHERE file_id = ?", (file_id,)))


def as_before(read: Read, found: Map) -> Map:
    """Return a removed map with the visibility that it gets back with its files, if any.

    It stays removed if a user or an administrator had removed it.
    """
    rows = read(
        "SELECT visibility FROM missing AS g WHERE file_id = ?"
        " AND NOT EXISTS (SELECT 1 FROM removed AS r WHERE r.file_id = g.file_id)",
        (found.file_id,),
    )
    return replace(found, visibility=Visibility(rows[0][0])) if rows else found


def note_return(read: Read, file_id: int) -> None:
    """Record that the files of a map are no longer missing."""
    read("DELETE FROM missing WHERE file_id = ? RETURNING file_id", (file_id,))
