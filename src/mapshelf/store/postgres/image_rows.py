"""Read and replace the rows of a map's pictures in PostgreSQL."""

from collections.abc import Collection, Mapping
from typing import Final

from mapshelf.store.postgres.link import Link

_WRITE: Final = "INSERT INTO images VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
_REMOVE: Final = "DELETE FROM images WHERE file_id = %s AND digest <> ALL(%s)"


def image_digests(link: Link, file_ids: Collection[int]) -> dict[int, set[str]]:
    """Return the picture digests of these maps, leaving out maps without pictures."""
    found: dict[int, set[str]] = {}
    query = "SELECT file_id, digest FROM images WHERE file_id = ANY(%s)"
    for file_id, digest in link.rows(query, (list(file_ids),)) if file_ids else ():
        found.setdefault(file_id, set()).add(digest.hex())
    return found


def write_images(link: Link, images: Mapping[int, Mapping[str, bytes]]) -> None:
    """Replace the pictures of each map; unchanged ones are not rewritten."""
    if not images:
        return
    kept = image_digests(link, images)
    gone = [
        (file_id, [bytes.fromhex(digest) for digest in some])
        for file_id, some in images.items()
        if kept.get(file_id, set()) - some.keys()
    ]
    new = [
        (file_id, bytes.fromhex(digest), data)
        for file_id, some in images.items()
        for digest, data in some.items()
        if digest not in kept.get(file_id, set())
    ]
    with link.cursor() as cursor:
        cursor.executemany(_REMOVE, gone)
        cursor.executemany(_WRITE, new)
