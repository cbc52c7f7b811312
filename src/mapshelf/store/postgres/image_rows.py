"""Rows of pictures in PostgreSQL, for everything that reads or replaces those of a map."""

from collections.abc import Collection, Mapping
from typing import Any, Final

import psycopg

from mapshelf.store.postgres.connections import Link

_WRITE: Final = "INSERT INTO images VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
_REMOVE: Final = "DELETE FROM images WHERE file_id = %s AND digest <> ALL(%s)"


def image_digests(link: Link, file_ids: Collection[int]) -> dict[int, set[str]]:
    """Return the digests of the pictures of each of these maps that has any."""
    found: dict[int, set[str]] = {}
    query = "SELECT file_id, digest FROM images WHERE file_id = ANY(%s)"
    for file_id, digest in link.rows(query, (list(file_ids),)) if file_ids else ():
        found.setdefault(file_id, set()).add(digest.hex())
    return found


def write_images(cursor: "psycopg.Cursor[Any]", images: Mapping[int, Mapping[str, bytes]]) -> None:
    """Make these the pictures of each map; those that are there are not written again."""
    if not images:
        return
    kept = {
        (file_id, bytes(digest))
        for file_id, digest in cursor.execute(
            "SELECT file_id, digest FROM images WHERE file_id = ANY(%s)", (list(images),)
        )
    }
    wanted = {
        (file_id, bytes.fromhex(digest)): data
        for file_id, some in images.items()
        for digest, data in some.items()
    }
    gone = {file_id for file_id, digest in kept - wanted.keys()}
    cursor.executemany(
        _REMOVE, [(file_id, [bytes.fromhex(one) for one in images[file_id]]) for file_id in gone]
    )
    cursor.executemany(_WRITE, [(*key, data) for key, data in wanted.items() if key not in kept])
