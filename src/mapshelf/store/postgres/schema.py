"""Create, check and migrate the schema of a catalogue in PostgreSQL.

Several nodes of several versions may start at once. An advisory lock lets one migrate while the
others wait. Each migration declares how many migrations a version must know to work with the new
schema. A schema change takes two migrations: one that only adds (``needs`` stays the same), and one
that removes, once no old nodes are left. So old nodes keep serving, and may restart, during an
upgrade.
"""

from dataclasses import dataclass
from typing import Final

from psycopg.errors import InvalidSchemaName, LockNotAvailable, UndefinedTable

from mapshelf.errors import StoreDamaged, StoreError, StoreMissing, StoreUnavailable
from mapshelf.model import SYSTEM_USER, name_key
from mapshelf.store import seed
from mapshelf.store.postgres.counters import HISTORY
from mapshelf.store.postgres.error_translation import translated
from mapshelf.store.postgres.link import Link, connect
from mapshelf.store.postgres.user_rows import insert_user
from mapshelf.store.scripts import read_script, schema_digest

LOCK: Final = 0x4D61_7053_6865_6C66
"""The advisory lock that a node holds while it migrates ("MapShelf")."""

LOCK_TIMEOUT: Final = "2s"
"""How long a migration waits for a table lock; later statements queue behind it."""

TURN_TIMEOUT: Final = "60s"
"""How long a node waits while another one migrates."""

MINIMUM_VERSION: Final = 150_000
"""The oldest tested version of PostgreSQL."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One migration.

    Attributes:
        script: name of the script.
        needs: how many migrations a version must know to work with the resulting schema.
        digest: digest of the resulting schema in hexadecimal; ``None`` for the digest of the
            scripts so far. It is set if a script was reworded later without changing the schema,
            so that nodes and databases from before and after work together.
    """

    script: str
    needs: int
    digest: str | None = None


MIGRATIONS: Final = (
    Migration(
        "postgres_0001.sql",
        needs=1,
        digest="d3138bafc05fa1c2424b71b40cd9709aaadc1de54cb1197a2141865d2f85de1b",
    ),
    Migration(
        "postgres_0002.sql",
        needs=1,
        digest="6fc650526f721253fa6a63d970f9aad1b9f20db91833a0f47d7098acd611e89a",
    ),
    Migration(
        "postgres_0003.sql",
        needs=1,
        digest="9e293442a6076bf96499659658e0be5559b48cf1b410c443e24e11245dd4dba8",
    ),
    Migration("postgres_0004.sql", needs=1),
    Migration("postgres_0005.sql", needs=1),
    Migration("postgres_0006.sql", needs=1),
    Migration("postgres_0007.sql", needs=1),
    Migration("postgres_0008.sql", needs=1),
    Migration("postgres_0009.sql", needs=1),
    Migration("postgres_0010.sql", needs=1),
    Migration("postgres_0011.sql", needs=1),
    Migration("postgres_0013.sql", needs=1),
    Migration("postgres_0014.sql", needs=1),
    Migration("postgres_0015.sql", needs=1),
    Migration("postgres_0016.sql", needs=1),
    Migration("postgres_0017.sql", needs=1),
    Migration("postgres_0018.sql", needs=1),
    Migration("postgres_0019.sql", needs=1),
    Migration("postgres_0020.sql", needs=1),
    Migration("postgres_0021.sql", needs=1),
    Migration("postgres_0022.sql", needs=1),
    Migration("postgres_0023.sql", needs=1),
    Migration("postgres_0024.sql", needs=1),
    Migration("postgres_0025.sql", needs=1),
    Migration("postgres_0026.sql", needs=1),
    Migration("postgres_0027.sql", needs=1),
    Migration("postgres_0029.sql", needs=1),
    Migration("postgres_0030.sql", needs=1),
    Migration("postgres_0031.sql", needs=1),
    Migration("postgres_0032.sql", needs=1),
)
"""Migrations in the order they were added; the table ``migrations`` records the applied ones."""


def prepare(url: str, now: int, *, create: bool) -> None:
    """Create or migrate the catalogue so that this version can use it.

    If the schema is up to date, this writes nothing and works with any host.

    Raises:
        StoreMissing: there is none, and ``create`` is not set.
        StoreUnavailable: the required hosts cannot be reached, or others use tables to migrate.
        StoreDamaged: the schema is not Mapshelf's, or is of a newer or a development version.
        StoreError: the server is too old.
    """
    with connect(url, "any") as link, translated():
        _check_version(link)
        had = _migrations_had(link)
        link.look()
    if had >= len(MIGRATIONS):
        return
    # A standby may not have the catalogue yet.
    if not had and not create and not link.standby:
        raise StoreMissing("there is no catalogue in the PostgreSQL database")
    with connect(url, "read-write") as link, translated():
        try:
            _migrate(link, now, create=create)
        except LockNotAvailable as error:
            raise StoreUnavailable(
                "the database cannot be updated to this version while a long transaction uses it,"
                " such as pg_dump; start Mapshelf again when that has ended"
            ) from error


def _migrate(link: Link, now: int, *, create: bool) -> None:
    link.patience = 90
    with link.transaction():
        link.execute(f"SET LOCAL statement_timeout = '{TURN_TIMEOUT}'")
        link.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        had = _migrations_had(link)
        if not had and not create:
            raise StoreMissing("there is no catalogue in the PostgreSQL database")
        link.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
        if not had:
            _begin(link)
        for number, migration in enumerate(MIGRATIONS[had:], had + 1):
            link.execute(read_script(migration.script))
            link.execute(
                "INSERT INTO migrations VALUES (%s, %s, %s, %s)",
                (number, _digest(number), migration.needs, now),
            )
        if not had:
            _seed(link, now)


def _check_version(link: Link) -> None:
    given, needed = (x // 10_000 for x in (link.info.server_version, MINIMUM_VERSION))
    if given < needed:
        raise StoreError(
            f"the PostgreSQL server has version {given}; version {needed} or newer is needed"
        )


def _begin(link: Link) -> None:
    # Even with IF NOT EXISTS, creating it needs a privilege that a role with a ready schema lacks.
    if link.required_rows("SELECT to_regnamespace('mapshelf') IS NULL") == [(True,)]:
        link.execute("CREATE SCHEMA IF NOT EXISTS mapshelf")
    link.execute(
        "CREATE TABLE migrations (number integer PRIMARY KEY, digest bytea NOT NULL,"
        " needs integer NOT NULL, applied bigint NOT NULL)"
    )


def _migrations_had(link: Link) -> int:
    """Return the number of applied migrations, 0 if the database holds no catalogue.

    Raises:
        StoreDamaged: this version does not work with its schema.
        StoreUnavailable: it is being restored.
    """
    try:
        with link.transaction():
            rows = link.required_rows(
                "SELECT number, digest, needs FROM migrations ORDER BY number"
            )
    except (UndefinedTable, InvalidSchemaName):
        theirs = link.rows(
            "SELECT to_regclass('migrations') IS NOT NULL FROM pg_class"
            " WHERE relnamespace = to_regnamespace('mapshelf')::oid LIMIT 1"
        )
        if theirs == [(True,)]:  # it has just been created, or a standby has just received it
            return _migrations_had(link)
        if theirs:
            message = "the schema mapshelf holds something other than a catalogue"
            raise StoreDamaged(message) from None
        return 0
    if max(needs for _, _, needs in rows) > len(MIGRATIONS):
        raise StoreDamaged("the database was written by a newer version of Mapshelf")
    for number, digest, _ in rows:
        if number <= len(MIGRATIONS) and digest != _digest(number):
            raise StoreDamaged(
                "the database was made by a development version of Mapshelf, with another schema;"
                " export with that version and import again"
            )
    return len(rows)


def _digest(number: int) -> bytes:
    known = MIGRATIONS[number - 1].digest
    if known is not None:
        return bytes.fromhex(known)
    return schema_digest(migration.script for migration in MIGRATIONS[:number])


def _seed(link: Link, now: int) -> None:
    link.execute(
        "INSERT INTO sequence"
        f" VALUES (1, replace(gen_random_uuid()::text, '-', ''), 0, 0, {HISTORY})"
    )
    with link.cursor() as cursor:
        for table, rows in (("categories", seed.CATEGORIES), ("software", seed.SOFTWARE)):
            cursor.executemany(
                f"INSERT INTO {table} (id, name, name_key) VALUES (%s, %s, %s)",
                [(row.id, row.name, name_key(row.name)) for row in rows],
            )
        cursor.executemany(
            "INSERT INTO licence_types (id, name) VALUES (%s, %s)",
            [(row.id, row.name) for row in seed.LICENCE_TYPES],
        )
    insert_user(link, SYSTEM_USER, now)
