"""Rows of users, for accounts and for imports that register owners."""

from mapshelf.errors import NotFound
from mapshelf.model import User, name_key
from mapshelf.store.columns import USER
from mapshelf.store.postgres.connections import Link


def find_user(link: Link, name: str) -> User | None:
    """Return the user with this name, in any case."""
    rows = link.rows(f"SELECT {USER} FROM users WHERE name_key = %s", (name_key(name),))
    return User(*rows[0]) if rows else None


def require_user(link: Link, name: str) -> User:
    """Return the user with this name, in any case.

    Raises:
        NotFound: there is none.
    """
    user = find_user(link, name)
    if user is None:
        raise NotFound(f"there is no user {name}")
    return user


def insert_user(link: Link, name: str, now: int) -> User:
    """Register a user whose name is free."""
    rows = link.rows(
        f"INSERT INTO users (name, name_key, registered) VALUES (%s, %s, %s) RETURNING {USER}",
        (name.strip(), name_key(name), now),
    )
    return User(*rows[0])
