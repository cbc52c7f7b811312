"""Links between maps in SQLite."""

from collections.abc import Collection
from typing import Final

import orjson

from mapshelf.model import LinkOfMap, MapFile, MapLink
from mapshelf.store.link_queries import within_characters
from mapshelf.store.sqlite.database import DatabaseUser

_END: Final = "substr(s.name, -255)"

FILE_NAME: Final = f"lower(substr({_END}, length(rtrim({_END}, replace({_END}, '/', ''))) + 1))"
"""The name of a file. It must equal the expression of the index ``sources_file`` to use it."""


class SQLiteLinks(DatabaseUser):
    """See ``contract.Links``."""

    def links_from(self, file_id: int) -> list[MapLink]:
        """See ``Store``."""
        rows = self._database.rows(
            "SELECT topic, target, name FROM links WHERE file_id = ? ORDER BY number", (file_id,)
        )
        return [MapLink(*row) for row in rows]

    def links_to(self, names: Collection[str], limit: int, characters: int) -> list[LinkOfMap]:
        """See ``Store``."""
        given = ", ".join("?" * len(names))
        rows = self._database.rows(
            within_characters(
                "SELECT l.file_id, l.number, m.id, l.topic, l.target FROM links AS l"
                f" JOIN maps AS m ON m.file_id = l.file_id WHERE l.name IN ({given})"
                " AND m.visibility = 'published' ORDER BY l.file_id, l.number LIMIT ?"
            ),
            (*names, limit, characters),
        )
        return [LinkOfMap(*row) for row in rows]

    def paths_of(self, file_ids: Collection[int]) -> dict[int, list[bytes]]:
        """See ``Store``."""
        rows = self._database.rows(
            "SELECT file_id, path FROM sources"
            " WHERE file_id IN (SELECT value FROM json_each(?)) ORDER BY path",
            (orjson.dumps(list(file_ids)).decode(),),
        )
        found: dict[int, list[bytes]] = {}
        for file_id, path in rows:
            found.setdefault(file_id, []).append(path)
        return found

    def files_at(self, paths: Collection[bytes]) -> list[MapFile]:
        """See ``Store``."""
        query = (
            "SELECT s.path, m.id FROM sources AS s JOIN maps AS m ON m.file_id = s.file_id"
            " WHERE s.path = ? AND m.visibility = 'published'"
        )
        with self._database.reading() as database:
            return [MapFile(*row) for path in paths for row in database.execute(query, (path,))]

    def files_named(self, names: Collection[str], limit: int) -> dict[str, list[MapFile]]:
        """See ``Store``."""
        query = (
            "SELECT s.path, m.id FROM sources AS s JOIN maps AS m ON m.file_id = s.file_id"
            f" WHERE {FILE_NAME} = ? AND m.visibility = 'published' LIMIT ?"
        )
        with self._database.reading() as database:
            found = {
                name: [MapFile(*row) for row in database.execute(query, (name, limit))]
                for name in names
            }
        return {name: files for name, files in found.items() if files}
