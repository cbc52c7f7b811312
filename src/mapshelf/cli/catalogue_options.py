"""The options that say where the catalogue is, and opening its store."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from mapshelf.cli.argument_types import named_path
from mapshelf.errors import InvalidSetting
from mapshelf.store import Store, open_store, sqlite_path

DUMP: Final = "pg_dump --format=custom --no-unlogged-table-data --schema=mapshelf"
"""The command that backs up a catalogue in PostgreSQL, for error messages."""


def add_catalogue_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--data``, ``--database`` and ``--config``, which all commands but ``migrate`` have."""
    parser.add_argument(
        "--data",
        metavar="DIR",
        type=named_path,
        help="folder of the catalogue (or MAPSHELF_DATA; default: your data folder)",
    )
    parser.add_argument(
        "--database",
        metavar="URL",
        help="database of the catalogue (default: SQLite in --data, else MAPSHELF_DATABASE)",
    )
    parser.add_argument(
        "--config", metavar="FILE", help="file with options, in TOML (or MAPSHELF_CONFIG)"
    )


@contextmanager
def open_catalogue(given: argparse.Namespace, *, create: bool = False) -> Iterator[Store]:
    """Open the store that the options name, and close it at the end.

    Only commands that fill a catalogue ``create`` one: a command that only reads should fail if the
    folder is mistyped.
    """
    store = open_store(given.database, create=create)
    try:
        yield store
    finally:
        store.close()


def sqlite_database(database: str, instead: str) -> Path:
    """Return the database file of a catalogue in SQLite.

    Args:
        database: its URL.
        instead: what to use if it is in PostgreSQL.

    Raises:
        InvalidSetting: the catalogue is in PostgreSQL, or the URL is not valid.
    """
    path = sqlite_path(database)
    if path is None:
        raise InvalidSetting(
            f"this needs a catalogue in SQLite; for one in PostgreSQL, use {instead}"
            " (docs/operating.md, Backups)"
        )
    return path
