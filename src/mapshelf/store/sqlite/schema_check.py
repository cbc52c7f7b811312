"""Compares the schema of a catalogue with the one that the migrations make.

Data can be wrong, but only the schema can act: a trigger of a forged backup would go on changing
what is written to the restored catalogue.
"""

import re
from contextlib import closing
from typing import Final

import apsw

from mapshelf.store.scripts import read_script
from mapshelf.store.sqlite import migrations
from mapshelf.store.tables import Row

LONGEST_SHOWN: Final = 100
"""Most characters of a name to show in a message."""

_STATISTICS: Final = re.compile(r"CREATE TABLE sqlite_stat[0-9]\([a-z,]*\)", re.ASCII)
"""The tables that ``ANALYZE`` makes, which an operator may have run."""


def schema_faults(database: apsw.Connection) -> list[str]:
    """Return what a schema lacks, and what differs or may act in it, in a line each.

    Comments and white space in the scripts do not count, as for their digest.

    Raises:
        StoreDamaged: see ``migrations_had``.
    """
    with closing(apsw.Connection(":memory:")) as sound:
        for name in migrations.MIGRATIONS[: migrations.migrations_had(database)]:
            sound.execute(read_script(name))
        expected = _objects(sound)
    found = _objects(database)
    faults = [f"it lacks the {kind} {name}" for kind, name in expected.keys() - found.keys()]
    for (kind, name), statement in found.items():
        shown = f"the {kind[:LONGEST_SHOWN]} {name[:LONGEST_SHOWN]!r}"
        if (kind, name) not in expected and not _is_harmless(kind, statement):
            faults.append(f"it has {shown}, which Mapshelf did not make")
        elif statement != expected.get((kind, name), statement):
            faults.append(f"{shown} is not as Mapshelf made it")
    return sorted(faults)


def _is_harmless(kind: str, statement: str) -> bool:
    """Return whether an object does nothing: an index, or a table with data only.

    Operators add indexes, and programs that copy databases add tables.
    """
    return kind == "index" or (kind == "table" and not statement.startswith("CREATE VIRTUAL"))


def _objects(database: apsw.Connection) -> dict[tuple[str, str], str]:
    """Return the statement of each object by kind and name, without indexes of constraints."""
    rows: list[Row] = database.execute(
        "SELECT CAST(type AS TEXT), CAST(name AS TEXT), CAST(sql AS TEXT) FROM sqlite_schema"
        " WHERE sql IS NOT NULL"
    ).fetchall()
    found = {(kind or "", name or ""): _plain(statement) for kind, name, statement in rows}
    return {key: one for key, one in found.items() if not _STATISTICS.fullmatch(one)}


def _plain(statement: str) -> str:
    return " ".join(re.sub("--.*", "", statement).split())
