"""Export of a user's data: the SQL statements that both databases share."""

from mapshelf.model import Map, Reason, Report, Vote
from mapshelf.store.columns import FROM_MAPS, MAP, map_of_row
from mapshelf.store.publishing_queries import Read


def maps_of(read: Read, user_id: int, after: int, limit: int) -> list[Map]:
    """See ``contract.UserData``."""
    rows = read(
        f"SELECT {MAP} FROM {FROM_MAPS} WHERE m.file_id IN (SELECT file_id FROM maps"
        " WHERE owner_id = ? AND file_id > ? ORDER BY file_id LIMIT ?) ORDER BY m.file_id",
        (user_id, after, limit),
    )
    return [map_of_row(row) for row in rows]


def votes_of(read: Read, user_id: int, after: int, limit: int) -> list[tuple[int, str, Vote]]:
    """See ``contract.UserData``."""
    rows = read(
        "SELECT v.file_id, m.id, v.value FROM votes AS v JOIN maps AS m ON m.file_id = v.file_id"
        " WHERE v.user_id = ? AND v.file_id > ? ORDER BY v.file_id LIMIT ?",
        (user_id, after, limit),
    )
    return [(file_id, public_id, Vote(value)) for file_id, public_id, value in rows]


def reports_of(read: Read, user_id: int, after: int, limit: int) -> list[tuple[int, str, Report]]:
    """See ``contract.UserData``."""
    rows = read(
        "SELECT r.id, m.id, r.reason, r.note, r.created, u.name FROM reports AS r"
        " JOIN maps AS m ON m.file_id = r.file_id JOIN users AS u ON u.id = r.user_id"
        " WHERE r.user_id = ? AND r.id > ? ORDER BY r.id LIMIT ?",
        (user_id, after, limit),
    )
    return [
        (number, public_id, Report(Reason(reason), note, created, name))
        for number, public_id, reason, note, created, name in rows
    ]
