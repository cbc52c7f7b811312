"""Raw access to the rows of a catalogue in PostgreSQL, for transfers between stores."""

from collections.abc import Mapping, Sequence
from typing import Final

from mapshelf.store.all_access import UNCOPIED
from mapshelf.store.columns import COUNTERS
from mapshelf.store.postgres.counters import CHANNEL, LockedCounters
from mapshelf.store.postgres.database import DatabaseUser
from mapshelf.store.postgres.link import Link, Row
from mapshelf.store.tables import (
    BOOLEANS,
    DECISIONS,
    DELETED,
    MAPS,
    REPORTS,
    SIZES,
    SOURCES,
    TOKENS,
    USERS,
    CatalogueCounters,
    Table,
)

FROM_INTEGERS: Final = dict.fromkeys(BOOLEANS, "%s::integer::boolean")
"""Placeholders for boolean columns, whose values are passed as integers."""


LONGEST: Final = 600
"""Seconds that copying the rows of some maps may take: they may have many files, and the network
may be slow."""


class PostgresCatalogueRows(DatabaseUser):
    """See ``contract.CatalogueRows``."""

    def rows(self, table: Table, after: Row | None, limit: int) -> list[Row]:
        """See ``Store``."""
        key = table.keys
        # Only prefixes of paths are indexed; see ``sources_below``.
        order = f"substring({key} FROM 1 FOR 1000), {key}" if table is SOURCES else key
        above = ""
        parameters: Row = (limit,)
        if after is not None:
            given = ", ".join("%s" for _ in table.key)
            above, parameters = f"AND ({key}) > ({given})", (*after, limit)
            if table is SOURCES:
                above += f" AND substring({key} FROM 1 FOR 1000) >= %s"
                parameters = (*after, after[0][:1000], limit)
        condition = f"WHERE {table.transferred} {above}"
        return self._table(f"{table.name} {condition} ORDER BY {order} LIMIT %s", table, parameters)

    def rows_of(self, table: Table, file_ids: Sequence[int]) -> list[Row]:
        """See ``Store``."""
        condition = f"WHERE file_id = ANY(%s) ORDER BY {table.keys}"
        return self._table(f"{table.name} {condition}", table, (list(file_ids),))

    def sizes_of(self, file_ids: Sequence[int]) -> dict[int, int]:
        """See ``Store``."""
        given = list(file_ids)
        rows = self._rows(SIZES.format("file_id = ANY(%s)"), (given,) * 4)
        return {file_id: int(size) for file_id, size in rows}

    def _table(self, sql: str, table: Table, parameters: Row) -> list[Row]:
        columns = (f"{name}::integer" if name in BOOLEANS else name for name in table.columns)
        statement = f"SELECT {', '.join(columns)} FROM {sql}"

        def read(link: Link) -> list[Row]:
            with link.transaction():
                _be_patient(link)
                return link.rows(statement, parameters)

        return self._connections.read(read)

    def write_rows(self, rows: Mapping[Table, Sequence[Row]], counters: CatalogueCounters) -> None:
        """See ``Store``."""
        with self._connections.writing() as link, link.cursor() as cursor:
            LockedCounters(link)
            _be_patient(link)
            for table in (MAPS, DELETED):
                gone = [row[0] for row in rows.get(table, ())]
                cursor.execute("DELETE FROM maps WHERE file_id = ANY(%s)", (gone,))
                cursor.execute("DELETE FROM deleted WHERE file_id = ANY(%s)", (gone,))
            for table, some in rows.items():
                unique = "sha256(path)" if table is SOURCES else ""
                cursor.executemany(table.upsert("%s", others=FROM_INTEGERS, unique=unique), some)
            for table in (USERS, TOKENS, DECISIONS, REPORTS):
                # Ids of deleted sessions and tokens are not given again, as in SQLite.
                numbers = f"{table.name}_id_seq"
                cursor.execute(
                    f"SELECT setval('{numbers}', greatest(max(id), (SELECT last_value FROM"
                    f" {numbers}))) FROM {table.name} HAVING max(id) IS NOT NULL"
                )
            cursor.execute(
                "UPDATE sequence SET identity = %s, revision = %s, file_id = %s",
                (counters.identity, counters.revision, counters.file_id),
            )
            cursor.execute("DELETE FROM marks")
            cursor.execute("INSERT INTO marks VALUES (%s, %s)", (counters.revision, counters.mark))
            cursor.execute("SELECT pg_notify(%s, %s)", (CHANNEL, str(counters.revision)))

    def delete_rows(self, table: Table, keys: Sequence[Row]) -> None:
        """See ``Store``."""
        given = " AND ".join(f"{name} = %s" for name in table.key)
        with self._connections.writing() as link, link.cursor() as cursor:
            LockedCounters(link)
            cursor.executemany(f"DELETE FROM {table.name} WHERE {given}", keys)

    def end_uncopied_access(self) -> None:
        """See ``Store``."""
        for statement in UNCOPIED:
            deleted = 1
            while deleted:
                with self._connections.writing() as link:
                    LockedCounters(link)
                    deleted = link.execute(statement).rowcount

    def catalogue_counters(self) -> CatalogueCounters:
        """See ``Store``."""
        found = CatalogueCounters(*self._rows(COUNTERS)[0])
        self.require_revision(found.revision)
        return found


def _be_patient(link: Link) -> None:
    """Let the statements of a transaction take long."""
    link.patience = LONGEST
    link.execute(f"SET LOCAL statement_timeout = '{LONGEST}s'")
