"""Queries for publishing: the SQL that both databases share, as in ``publishing``."""

from collections.abc import Callable
from typing import Final

from mapshelf.model import (
    DAY,
    GONE,
    HOUR,
    LARGEST_COUNT,
    Map,
    Origin,
    OriginalFile,
    RemovedMap,
    Usage,
    Version,
    Vote,
)
from mapshelf.store.columns import FROM_MAPS, MAP, ORIGIN, map_of_row
from mapshelf.store.tables import Row

REPEATED: Final = DAY
"""How long a repeated upload returns the existing map, in milliseconds."""

_USED: Final = (
    "SELECT CASE WHEN m.visibility = 'removed' THEN 1 ELSE 0 END AS gone,"
    " count(DISTINCT v.file_id), sum(v.size) FROM maps AS m"
    " JOIN versions AS v ON v.file_id = m.file_id WHERE m.owner_id = ? GROUP BY gone"
)
"""The number and bytes of a user's uploaded maps, both existing and removed."""

_PICTURES: Final = (
    "SELECT CASE WHEN m.visibility = 'removed' THEN 1 ELSE 0 END AS gone,"
    " sum(length(i.content)) FROM maps AS m JOIN images AS i ON i.file_id = m.file_id"
    " WHERE m.owner_id = ? AND m.file_id <> ?"
    " AND EXISTS (SELECT 1 FROM versions AS v WHERE v.file_id = m.file_id) GROUP BY gone"
)
"""The bytes of pictures in these maps. Neither database reads a picture to get its length."""

REMOVAL: Final = (
    "SELECT r.visibility, r.removed, u.name FROM removed AS r"
    " JOIN users AS u ON u.id = r.removed_by WHERE r.file_id = ?"
)
"""Selects the former visibility of a removed map, and when and by whom it was removed."""

Read = Callable[[str, Row], list[Row]]
"""Returns the rows of a statement with ``?`` for each parameter."""


def is_in_folder(read: Read, file_id: int) -> bool:
    """Return whether a map has a file in a folder that is not missing."""
    query = f"SELECT 1 FROM sources WHERE file_id = ? AND modified <> {GONE} LIMIT 1"
    return bool(read(query, (file_id,)))


def is_hidden(read: Read, file_id: int) -> bool:
    """Return whether an administrator has hidden a map, so that nobody may show it to others."""
    query = "SELECT 1 FROM decisions WHERE file_id = ? AND kind = 'hide' LIMIT 1"
    return bool(read(query, (file_id,)))


def find_map(read: Read, column: str, key: str | int) -> Map | None:
    """Return the map with this value in a column, ``None`` if there is none or it is removed."""
    query = f"SELECT {MAP} FROM {FROM_MAPS} WHERE {column} = ? AND m.visibility <> 'removed'"
    rows = read(query, (key,))
    return map_of_row(rows[0]) if rows else None


def origin(read: Read, file_id: int) -> Origin:
    """See ``contract.MapsOfPeople``."""
    rows = read(f"SELECT {ORIGIN} FROM maps AS m WHERE m.file_id = ?", (file_id,))
    return Origin(*rows[0]) if rows else Origin()


def removed_maps(read: Read, owner_id: int | None) -> list[RemovedMap]:
    """See ``contract.MapsOfPeople``."""
    rows = read(
        f"SELECT r.removed, b.name, {MAP} FROM {FROM_MAPS} JOIN removed AS r"
        " ON r.file_id = m.file_id JOIN users AS b ON b.id = r.removed_by"
        " WHERE NOT EXISTS (SELECT 1 FROM missing AS g WHERE g.file_id = m.file_id)"
        + (" AND m.owner_id = ?" if owner_id is not None else "")
        + " ORDER BY r.removed DESC, m.file_id DESC",
        (owner_id,) if owner_id is not None else (),
    )
    return [RemovedMap(map_of_row(row), removed, name) for removed, name, *row in rows]


def usage(read: Read, user_id: int, now: int, replacing: int = 0) -> Usage:
    """See ``contract.MapsOfPeople``."""
    counted = {bool(gone): (maps, int(size)) for gone, maps, size in read(_USED, (user_id,))}
    maps, size = counted.get(False, (0, 0))
    removed_maps, removed = counted.get(True, (0, 0))
    pictures = {bool(gone): int(some) for gone, some in read(_PICTURES, (user_id, replacing))}
    size, removed = size + pictures.get(False, 0), removed + pictures.get(True, 0)
    ((recent, first),) = read(
        # Dates in the future come from a wrong clock; the clocks of nodes differ slightly.
        "SELECT count(*), min(created) FROM uploads WHERE user_id = ? AND created BETWEEN ? AND ?",
        (user_id, now - HOUR + 1, now + HOUR),
    )
    return Usage(maps, size, recent, first, removed, removed_maps)


def uploaded(read: Read, now: int, digest: bytes, owner_id: int, key: bytes | None) -> Map | None:
    """See ``contract.Uploads``."""
    since = now - REPEATED
    by_key = (
        "SELECT u.file_id FROM uploads AS u JOIN maps AS m ON m.file_id = u.file_id"
        " WHERE u.user_id = ? AND u.created > ? AND u.key = ? AND m.owner_id = u.user_id"
        " ORDER BY u.number DESC LIMIT 1"
    )
    by_file = (
        "SELECT v.file_id FROM versions AS v JOIN maps AS m ON m.file_id = v.file_id"
        " WHERE m.owner_id = ? AND v.created > ? AND v.digest = ? AND v.content IS NULL"
        " AND m.visibility <> 'removed' ORDER BY v.file_id LIMIT 1"
    )
    known = read(by_key, (owner_id, since, key)) if key is not None else []
    known += read(by_file, (owner_id, since, digest))
    found = (find_map(read, "m.file_id", file_id) for (file_id,) in known)
    return next((one for one in found if one is not None), None)


def versions(read: Read, file_id: int) -> list[Version]:
    """See ``contract.Uploads``."""
    rows = read(
        "SELECT v.number, v.name, v.digest, v.size, v.created, u.name,"
        " CASE WHEN v.content IS NULL THEN 1 ELSE 0 END FROM versions AS v"
        " JOIN users AS u ON u.id = v.created_by WHERE v.file_id = ? ORDER BY v.number DESC",
        (file_id,),
    )
    return [Version(*(*row[:-1], bool(row[-1]))) for row in rows]


def version_file(read: Read, file_id: int, number: int) -> OriginalFile | None:
    """See ``contract.Uploads``."""
    rows = read(
        "SELECT v.name, v.digest, coalesce(v.content, f.content) FROM versions AS v"
        " JOIN files AS f ON f.file_id = v.file_id WHERE v.file_id = ? AND v.number = ?",
        (file_id, number),
    )
    return OriginalFile(*rows[0]) if rows else None


def map_revision(read: Read, public_id: str) -> int:
    """See ``contract.MapEditing``."""
    rows = read("SELECT revision FROM maps WHERE id = ?", (public_id,))
    return int(rows[0][0]) if rows else 0


def vote_of(read: Read, file_id: int, user_id: int) -> Vote:
    """See ``contract.Voting``."""
    query = "SELECT value FROM votes WHERE file_id = ? AND user_id = ?"
    rows = read(query, (file_id, user_id))
    return Vote(rows[0][0]) if rows else Vote.NONE


def within_limits(count: int) -> int:
    """Clamp a vote count to the range that a map can show."""
    return max(0, min(LARGEST_COUNT, count))
