"""Look up and add users in SQLite, for accounts, sign-in and imports."""

import apsw

from mapshelf.errors import AlreadyExists, LastWayToSignIn, NotFound
from mapshelf.model import Role, User, name_key, user_keys
from mapshelf.store.columns import USER, user_of_row
from mapshelf.store.reserved_names import RESERVED
from mapshelf.store.sign_in import WAYS
from mapshelf.store.tables import Row
from mapshelf.text.skeleton import skeleton


def find_user(database: apsw.Connection, name: str) -> User | None:
    """Return the user with this name, ignoring case (see ``user_keys`` for Unicode forms)."""
    query = f"SELECT {USER} FROM users WHERE name_key = ? AND NOT {RESERVED}"
    rows = (row for key in user_keys(name) for row in database.execute(query, (key,)))
    return next(map(user_of_row, rows), None)


def require_user(database: apsw.Connection, name: str) -> User:
    """Return the user with this name, ignoring case.

    Raises:
        NotFound: there is none.
    """
    user = find_user(database, name)
    if user is None:
        raise NotFound(f"there is no user {name}")
    return user


def user_with_id(database: apsw.Connection, user_id: int) -> User:
    """Return the user with this id.

    Raises:
        NotFound: there is none.
    """
    row = database.execute(f"SELECT {USER} FROM users WHERE id = ?", (user_id,)).fetchone()
    if row is None:
        raise NotFound("there is no such user")
    return user_of_row(row)


def password_of_user(database: apsw.Connection, user_id: int) -> str | None:
    """Return the encoded hash of the password of a user, ``None`` if there is no password."""
    rows: list[Row] = database.execute(
        "SELECT password FROM users WHERE id = ?", (user_id,)
    ).fetchall()
    encoded: str | None = rows[0][0]
    return encoded


def keep_a_way(database: apsw.Connection, user_id: int) -> None:
    """Check that a user can still sign in.

    Raises:
        LastWayToSignIn: no way to sign in is left.
    """
    rows: list[Row] = database.execute(WAYS.format("?1"), (user_id,)).fetchall()
    if not rows[0][0]:
        raise LastWayToSignIn("the user could not sign in any longer")


def add_user_row(
    database: apsw.Connection,
    name: str,
    now: int,
    role: Role = Role.MEMBER,
    encoded: str | None = None,
) -> User:
    """Register a user, with the encoded hash of a password if there is one.

    Raises:
        AlreadyExists: the name is taken or reserved.
    """
    query = "SELECT 1 FROM users WHERE name_key = ?"
    if database.execute(query, (name_key(name),)).fetchone():
        raise AlreadyExists(f"there is a user {name} already")
    return insert_user(database, name, now, role, encoded)


def insert_user(
    database: apsw.Connection,
    name: str,
    now: int,
    role: Role = Role.MEMBER,
    encoded: str | None = None,
) -> User:
    """Register a user whose name is not taken."""
    rows: list[Row] = database.execute(
        "INSERT INTO users (name, name_key, skeleton, registered, role, password)"
        f" VALUES (?, ?, ?, ?, ?, ?) RETURNING {USER}",
        (name.strip(), name_key(name), skeleton(name), now, role.value, encoded),
    ).fetchall()
    return user_of_row(rows[0])
