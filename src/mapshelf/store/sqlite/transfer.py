"""Raw access to the rows of a catalogue in SQLite, for transfers between stores."""

from collections.abc import Mapping, Sequence

import orjson

from mapshelf.store.all_access import UNCOPIED
from mapshelf.store.columns import COUNTERS
from mapshelf.store.sqlite.database import DatabaseUser
from mapshelf.store.tables import DELETED, MAPS, SIZES, CatalogueCounters, Row, Table


class SQLiteCatalogueRows(DatabaseUser):
    """See ``contract.CatalogueRows``."""

    def rows(self, table: Table, after: Row | None, limit: int) -> list[Row]:
        """See ``Store``."""
        given = ", ".join("?" for _ in table.key)
        above = "" if after is None else f"AND ({table.keys}) > ({given})"
        return self._database.rows(
            f"SELECT {', '.join(table.columns)} FROM {table.name}"
            f" WHERE {table.transferred} {above} ORDER BY {table.keys} LIMIT ?",
            (*(after or ()), limit),
        )

    def rows_of(self, table: Table, file_ids: Sequence[int]) -> list[Row]:
        """See ``Store``."""
        query = f"SELECT {', '.join(table.columns)} FROM {table.name} WHERE file_id = ?"
        with self._database.reading() as database:
            found = [row for file_id in file_ids for row in database.execute(query, (file_id,))]
        return sorted(found, key=table.key_of)

    def sizes_of(self, file_ids: Sequence[int]) -> dict[int, int]:
        """See ``Store``."""
        given = orjson.dumps(list(file_ids)).decode()
        query = SIZES.format("file_id IN (SELECT value FROM json_each(?))")
        return dict(self._database.rows(query, (given,) * 4))

    def write_rows(self, rows: Mapping[Table, Sequence[Row]], counters: CatalogueCounters) -> None:
        """See ``Store``."""
        with self._database.writing() as database:
            for table in (MAPS, DELETED):
                gone = [(row[0],) for row in rows.get(table, ())]
                database.executemany("DELETE FROM maps WHERE file_id = ?", gone)
                database.executemany("DELETE FROM deleted WHERE file_id = ?", gone)
            for table, some in rows.items():
                database.executemany(table.upsert("?"), some)
            database.execute(
                "UPDATE sequence SET identity = ?, revision = ?, file_id = ?",
                (counters.identity, counters.revision, counters.file_id),
            )
            database.execute("DELETE FROM marks")
            database.execute("INSERT INTO marks VALUES (?, ?)", (counters.revision, counters.mark))

    def delete_rows(self, table: Table, keys: Sequence[Row]) -> None:
        """See ``Store``."""
        given = " AND ".join(f"{name} = ?" for name in table.key)
        with self._database.writing() as database:
            database.executemany(f"DELETE FROM {table.name} WHERE {given}", keys)

    def end_uncopied_access(self) -> None:
        """See ``Store``."""
        for statement in UNCOPIED:
            deleted = 1
            while deleted:
                with self._database.writing() as database:
                    database.execute(statement)
                    deleted = database.changes()

    def catalogue_counters(self) -> CatalogueCounters:
        """See ``Store``."""
        return CatalogueCounters(*self._database.row(COUNTERS))
