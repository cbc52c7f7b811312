"""Translate exceptions of ``psycopg`` into our own errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from mapshelf.errors import StoreDamaged, StoreError, StoreUnavailable

_DEAD: Final = ("08", "25006", "25P03", "25P04", "57P")
_UNAVAILABLE: Final = (*_DEAD, "28", "3D", "40", "53", "55", "57", "58")
_DAMAGED: Final = ("XX001", "XX002")
"""Prefixes of SQLSTATE codes: connection dead, temporarily unavailable, database damaged."""

_LACKING: Final = ("3F000", "42501", "42703", "42P01")
"""SQLSTATE codes for a missing schema, right, column or table. The statements are right, so the
database is not as this version needs it: an operator took away a right, which may hide the tables,
or another version changes the schema. Requests work again once that is mended."""


@contextmanager
def translated() -> Iterator[None]:
    """Translate exceptions of psycopg into our own."""
    try:
        yield
    except psycopg.Error as error:
        raise _translation(error) from error


def _translation(error: psycopg.Error) -> StoreError:
    state = error.sqlstate or ""
    if isinstance(error, PoolClosed):
        return StoreUnavailable("the store is closed")
    if isinstance(error, PoolTimeout):
        return StoreUnavailable("no PostgreSQL server can be reached that takes this")
    if isinstance(error, TooManyRequests):
        return StoreUnavailable("too much waits for the PostgreSQL database already")
    if state.startswith(_DAMAGED):
        return StoreDamaged(f"the PostgreSQL database is damaged: {line_of(error)}")
    if state.startswith(_UNAVAILABLE) or state in _LACKING or is_dead(error):
        lacking = "lacks what this version needs" if state in _LACKING else "cannot be used now"
        return StoreUnavailable(f"the PostgreSQL database {lacking}: {line_of(error)}")
    return StoreError(f"the PostgreSQL database refused: {line_of(error)}")


def is_dead(error: psycopg.Error) -> bool:
    """Return whether the connection that raised this is dead."""
    if error.sqlstate is None:
        return isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError))
    return error.sqlstate.startswith(_DEAD)


def line_of(error: psycopg.Error) -> str:
    """Return the message of an error in one line."""
    return " ".join(str(error).split())
