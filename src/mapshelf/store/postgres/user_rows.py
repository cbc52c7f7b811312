"""Look up and add users in PostgreSQL, for accounts, sign-in and imports."""

from typing import Final

from mapshelf.errors import AlreadyExists, LastWayToSignIn, NotFound
from mapshelf.model import Role, User, name_key, user_keys
from mapshelf.store.columns import USER, user_of_row
from mapshelf.store.postgres.link import Link
from mapshelf.store.reserved_names import RESERVED
from mapshelf.store.sign_in import WAYS
from mapshelf.text.skeleton import skeleton

CHANGING: Final = "FOR NO KEY UPDATE"
"""The lock for a row about to change: others can still add rows that refer to it."""


def find_user(link: Link, name: str) -> User | None:
    """Return the user with this name, ignoring case (see ``user_keys`` for Unicode forms)."""
    query = f"SELECT {USER} FROM users WHERE name_key = %s AND NOT {RESERVED}"
    rows = (row for key in user_keys(name) for row in link.rows(query, (key,)))
    return next(map(user_of_row, rows), None)


def require_user(link: Link, name: str) -> User:
    """Return the user with this name, ignoring case.

    Raises:
        NotFound: there is none.
    """
    user = find_user(link, name)
    if user is None:
        raise NotFound(f"there is no user {name}")
    return user


def user_with_id(link: Link, user_id: int, lock: str = "") -> User:
    """Return the user with this id; ``lock`` is an SQL clause that locks the row, if any.

    Raises:
        NotFound: there is none.
    """
    rows = link.rows(f"SELECT {USER} FROM users WHERE id = %s {lock}", (user_id,))
    if not rows:
        raise NotFound("there is no such user")
    return user_of_row(rows[0])


def password_of_user(link: Link, user_id: int) -> str | None:
    """Return the encoded hash of the password of a user, ``None`` if there is no password."""
    ((encoded,),) = link.rows("SELECT password FROM users WHERE id = %s", (user_id,))
    return None if encoded is None else str(encoded)


def keep_a_way(link: Link, user_id: int) -> None:
    """Check that a user, whose row is locked, can still sign in.

    Raises:
        LastWayToSignIn: no way to sign in is left.
    """
    ((ways,),) = link.rows(WAYS.format("%s"), (user_id, user_id, user_id))
    if not ways:
        raise LastWayToSignIn("the user could not sign in any longer")


def add_user_row(
    link: Link, name: str, now: int, role: Role = Role.MEMBER, encoded: str | None = None
) -> User:
    """Register a user, with the encoded hash of a password if there is one.

    The caller holds the counters, because an import might register the same user.

    Raises:
        AlreadyExists: the name is taken or reserved.
    """
    if link.rows("SELECT 1 FROM users WHERE name_key = %s", (name_key(name),)):
        raise AlreadyExists(f"there is a user {name} already")
    return insert_user(link, name, now, role, encoded)


def insert_user(
    link: Link, name: str, now: int, role: Role = Role.MEMBER, encoded: str | None = None
) -> User:
    """Register a user whose name is not taken."""
    rows = link.rows(
        "INSERT INTO users (name, name_key, skeleton, registered, role, password)"
        f" VALUES (%s, %s, %s, %s, %s, %s) RETURNING {USER}",
        (name.strip(), name_key(name), skeleton(name), now, role.value, encoded),
    )
    return user_of_row(rows[0])
