"""Rows of users, for accounts and for imports that register owners."""

import apsw

from mapshelf.errors import NotFound
from mapshelf.model import User, name_key
from mapshelf.store.columns import USER
from mapshelf.store.tables import Row


def find_user(database: apsw.Connection, name: str) -> User | None:
    """Return the user with this name, in any case."""
    row = database.execute(
        f"SELECT {USER} FROM users WHERE name_key = ?", (name_key(name),)
    ).fetchone()
    return user_of_row(row) if row else None


def require_user(database: apsw.Connection, name: str) -> User:
    """Return the user with this name, in any case.

    Raises:
        NotFound: there is none.
    """
    user = find_user(database, name)
    if user is None:
        raise NotFound(f"there is no user {name}")
    return user


def insert_user(database: apsw.Connection, name: str, now: int) -> User:
    """Register a user whose name is free."""
    rows: list[Row] = database.execute(
        f"INSERT INTO users (name, name_key, registered) VALUES (?, ?, ?) RETURNING {USER}",
        (name.strip(), name_key(name), now),
    ).fetchall()
    return user_of_row(rows[0])


def user_of_row(row: Row) -> User:
    """Return the user that ``columns.USER`` gives."""
    return User(*(*row[:-1], bool(row[-1])))
