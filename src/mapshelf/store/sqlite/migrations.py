"""Create, check and migrate the schema of a catalogue in SQLite."""

from typing import Final

import apsw

from mapshelf.errors import StoreDamaged
from mapshelf.model import SYSTEM_USER, name_key
from mapshelf.store import seed
from mapshelf.store.scripts import read_script, schema_digest
from mapshelf.store.sqlite.user_rows import insert_user
from mapshelf.store.tables import Row

APPLICATION_ID: Final = 0x4D61_7053
"""Application id in the database header ("MapS"), which protects other programs' databases."""

MIGRATIONS: Final = (
    "sqlite_0001.sql",
    "sqlite_0002.sql",
    "sqlite_0003.sql",
    "sqlite_0004.sql",
    "sqlite_0005.sql",
    "sqlite_0006.sql",
    "sqlite_0007.sql",
    "sqlite_0008.sql",
    "sqlite_0009.sql",
    "sqlite_0010.sql",
    "sqlite_0011.sql",
    "sqlite_0013.sql",
    "sqlite_0014.sql",
    "sqlite_0015.sql",
    "sqlite_0016.sql",
    "sqlite_0017.sql",
    "sqlite_0018.sql",
    "sqlite_0019.sql",
    "sqlite_0020.sql",
    "sqlite_0021.sql",
    "sqlite_0022.sql",
    "sqlite_0023.sql",
    "sqlite_0024.sql",
    "sqlite_0025.sql",
    "sqlite_0026.sql",
    "sqlite_0027.sql",
    "sqlite_0029.sql",
    "sqlite_0032.sql",
)
"""Scripts in the order they were added; ``user_version`` records how many were applied."""


def is_up_to_date(database: apsw.Connection) -> bool:
    """Return whether all migrations have been applied.

    Raises:
        StoreDamaged: see ``migrations_had``.
    """
    return migrations_had(database) == len(MIGRATIONS)


def migrate(database: apsw.Connection, now: int) -> None:
    """Bring the schema up to date, in the caller's transaction.

    Raises:
        StoreDamaged: see ``migrations_had``.
    """
    version = migrations_had(database)
    if version == 0:
        database.pragma("application_id", APPLICATION_ID)
    for name in MIGRATIONS[version:]:
        database.execute(read_script(name))
    if version == 0:
        _seed(database, now)
    database.pragma("user_version", user_version(len(MIGRATIONS)))


def migrations_had(database: apsw.Connection) -> int:
    """Return the number of applied migrations, 0 for a new database.

    Raises:
        StoreDamaged: it is not a Mapshelf database, or is of a newer or a development version.
    """
    found, application = (_pragma(database, name) for name in ("user_version", "application_id"))
    if application != APPLICATION_ID:
        if found or application or database.execute("SELECT 1 FROM sqlite_schema").fetchone():
            raise StoreDamaged("the database contains something other than a catalogue")
        return 0
    version = found & 0xFF
    if version > len(MIGRATIONS):
        raise StoreDamaged("the database was written by a newer version of Mapshelf")
    if found != user_version(version):
        raise StoreDamaged(
            "the database was made by a development version of Mapshelf, with another schema;"
            " export with that version and import again"
        )
    return version


def _pragma(database: apsw.Connection, name: str) -> int:
    rows: list[Row] = database.execute(f"PRAGMA {name}").fetchall()
    return int(rows[0][0])


def user_version(count: int) -> int:
    """Return the ``user_version`` after the first ``count`` migrations.

    The lowest byte is the count. Above it are 23 bits of a digest of the scripts, because an
    unreleased script may change. There is no room for more, and only the header of the file can be
    read whatever else is damaged.
    """
    digest = schema_digest(MIGRATIONS[:count])
    return (int.from_bytes(digest[:3]) >> 1) << 8 | count


def _seed(database: apsw.Connection, now: int) -> None:
    for table, named in (("categories", seed.CATEGORIES), ("software", seed.SOFTWARE)):
        rows: list[Row] = [(row.id, row.name, name_key(row.name)) for row in named]
        database.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
    for licence in seed.LICENCE_TYPES:
        database.execute("INSERT INTO licence_types VALUES (?, ?)", (licence.id, licence.name))
    insert_user(database, SYSTEM_USER, now)
