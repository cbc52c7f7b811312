"""Links between maps in PostgreSQL.

Queries go to the primary: a standby may lag behind a new snapshot, and data derived from the
results is cached for as long as that snapshot. If no primary can be reached, a standby is used.
"""

from collections.abc import Collection
from typing import Final

from mapshelf.model import LinkOfMap, MapFile, MapLink
from mapshelf.store.link_queries import within_characters
from mapshelf.store.postgres.database import DatabaseUser
from mapshelf.store.postgres.link import with_placeholders

FILE_NAME: Final = "lower(substring(right(s.name, 255) FROM '[^/]*$'))"
"""The name of a file. It must equal the expression of the index ``sources_file`` to use it."""


class PostgresLinks(DatabaseUser):
    """See ``contract.Links``."""

    def links_from(self, file_id: int) -> list[MapLink]:
        """See ``Store``."""
        rows = self._newest(
            "SELECT topic, target, name FROM links WHERE file_id = %s ORDER BY number", (file_id,)
        )
        return [MapLink(*row) for row in rows]

    def links_to(self, names: Collection[str], limit: int, characters: int) -> list[LinkOfMap]:
        """See ``Store``."""
        query = within_characters(
            "SELECT l.file_id, l.number, m.id, l.topic, l.target FROM links AS l"
            " JOIN maps AS m ON m.file_id = l.file_id WHERE l.name = ANY(?)"
            " AND m.visibility = 'published' ORDER BY l.file_id, l.number LIMIT ?"
        )
        rows = self._newest(with_placeholders(query), (list(names), limit, characters))
        return [LinkOfMap(*row) for row in rows]

    def paths_of(self, file_ids: Collection[int]) -> dict[int, list[bytes]]:
        """See ``Store``."""
        query = "SELECT file_id, path FROM sources WHERE file_id = ANY(%s) ORDER BY path"
        found: dict[int, list[bytes]] = {}
        for file_id, path in self._newest(query, (list(file_ids),)):
            found.setdefault(file_id, []).append(path)
        return found

    def files_at(self, paths: Collection[bytes]) -> list[MapFile]:
        """See ``Store``."""
        rows = self._newest(
            "SELECT s.path, m.id FROM sources AS s JOIN maps AS m ON m.file_id = s.file_id"
            " WHERE sha256(s.path) IN (SELECT sha256(one) FROM unnest(%s::bytea[]) AS one)"
            " AND m.visibility = 'published'",
            (list(paths),),
        )
        return [MapFile(*row) for row in rows]

    def files_named(self, names: Collection[str], limit: int) -> dict[str, list[MapFile]]:
        """See ``Store``."""
        rows = self._newest(
            "SELECT one.name, file.path, file.id FROM unnest(%s::text[]) AS one (name)"
            " CROSS JOIN LATERAL (SELECT s.path, m.id FROM sources AS s"
            " JOIN maps AS m ON m.file_id = s.file_id"
            f" WHERE {FILE_NAME} = one.name AND m.visibility = 'published' LIMIT %s) AS file",
            (list(names), limit),
        )
        found: dict[str, list[MapFile]] = {}
        for name, path, public_id in rows:
            found.setdefault(name, []).append(MapFile(path, public_id))
        return found
