"""The database of the catalogues in tests: the only parameter of all API tests.

``make test-postgres`` runs them on PostgreSQL (``MAPSHELF_TEST_DATABASE=postgres``), otherwise they
run on SQLite. Functions that change a database directly, without the store, are here too.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import apsw

from mapshelf.clock import milliseconds
from mapshelf.settings import sqlite_url
from mapshelf.store import Store
from mapshelf.store.postgres.postgres_store import PostgresStore
from mapshelf.store.sqlite.sqlite_store import SQLiteStore
from tests import postgres

KIND: Final = os.environ.get("MAPSHELF_TEST_DATABASE", "sqlite")
assert KIND in ("sqlite", "postgres"), f"MAPSHELF_TEST_DATABASE must not be {KIND}"

FAULT: Final = {"sqlite": "no such table", "postgres": "division by zero"}[KIND]
"""What the database says after ``break_tokens``."""

_names: dict[Path, str] = {}


def database_url(folder: Path, clock: Callable[[], int] = milliseconds) -> str:
    """Return the URL of the database for the catalogue in ``folder``, always the same one."""
    if KIND == "sqlite":
        return sqlite_url(folder)
    if folder not in _names:
        _names[folder] = postgres.shared().new_catalogue(clock())
    return postgres.shared().url(_names[folder])


def copied_sqlite(path: Path, now: int) -> None:
    """Put an empty catalogue at ``path``, as if made at ``now``, unless there is one.

    It is a copy, because creating its tables takes ten times as long.
    """
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_bytes(_empty_sqlite())
    with closing(apsw.Connection(str(path))) as database:
        database.execute("UPDATE sequence SET identity = lower(hex(randomblob(16)))")
        database.execute("UPDATE users SET registered = ?", (now,))


@cache
def _empty_sqlite() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "catalogue.db"
        SQLiteStore(path).close()
        return path.read_bytes()


def open_with(folder: Path, clock: Callable[[], int]) -> Store:
    """Open the store of the catalogue in ``folder`` with a clock of the test."""
    url = database_url(folder, clock)
    if KIND == "sqlite":
        return SQLiteStore(Path(url.removeprefix("sqlite://")), clock)
    return PostgresStore(url, clock)


def break_tokens(folder: Path) -> None:
    """Break a table that the service needs, as an unexpected fault.

    In PostgreSQL, a table that does not exist would be an outage: rights may be missing.
    """
    if KIND == "postgres":
        database_url(folder)
        for statement in (
            "ALTER TABLE mapshelf.tokens RENAME TO former",
            "CREATE VIEW mapshelf.tokens AS SELECT * FROM mapshelf.former"
            " WHERE (SELECT 1 / (count(*) - count(*)) FROM mapshelf.former) = 1",
        ):
            postgres.shared().execute(statement, _names[folder])
        return
    database = apsw.Connection(str(folder / "catalogue.db"))
    database.execute("PRAGMA foreign_keys = OFF; DROP TABLE tokens")
    database.close()


def give_back(folder: Path) -> None:
    """Release the database of the catalogue in ``folder``, if it is on a server."""
    if folder in _names:
        postgres.shared().give_back_catalogue(_names.pop(folder))


def kept_bytes(folder: Path) -> Iterator[bytes]:
    """Yield the content of all files of the catalogue in ``folder`` and of its database."""
    folders = [folder]
    if KIND == "postgres":
        postgres.shared().execute("CHECKPOINT")
        folders.append(postgres.shared().folder)
    found = [path for place in folders for path in place.rglob("*") if path.is_file()]
    assert any(path.name in ("catalogue.db", "PG_VERSION") for path in found)
    for path in found:
        with suppress(FileNotFoundError):  # files of another database may disappear
            yield path.read_bytes()
