"""Allocate revisions and delete maps in SQLite."""

import apsw

from mapshelf.store.tables import Row


def next_revision(database: apsw.Connection) -> int:
    """Return the revision of the next change."""
    rows: list[Row] = database.execute(
        "UPDATE sequence SET revision = revision + 1 RETURNING revision"
    ).fetchall()
    return int(rows[0][0])


def delete_map(database: apsw.Connection, public_id: str) -> bool:
    """Delete a map, as one change; return whether it existed."""
    row = database.execute("SELECT file_id FROM maps WHERE id = ?", (public_id,)).fetchone()
    if row is None:
        return False
    database.execute("DELETE FROM maps WHERE file_id = ?", row)
    database.execute(
        "INSERT INTO deleted VALUES (?, ?, ?)", (row[0], public_id, next_revision(database))
    )
    return True
