"""Accounts at OpenID providers that users sign in with, in SQLite."""

import apsw

from mapshelf.errors import AlreadyExists, NotFound
from mapshelf.model import Identity, User
from mapshelf.store.columns import IDENTITY, USER_OF_TOKEN, user_of_row
from mapshelf.store.lookalikes import refuse_lookalike
from mapshelf.store.sign_in import IDENTITIES_OF_USER, refuse_another, refuse_system
from mapshelf.store.sqlite.database import DatabaseUser
from mapshelf.store.sqlite.user_rows import add_user_row, keep_a_way, user_with_id
from mapshelf.store.tables import Row


class SQLiteIdentities(DatabaseUser):
    """See ``contract.Identities``."""

    def user_of_identity(self, issuer: str, subject: str) -> User | None:
        """See ``Store``."""
        with self._database.reading() as database:
            return _user(database, issuer, subject)

    def link_identity(self, user_id: int, issuer: str, subject: str, name: str) -> Identity:
        """See ``Store``."""
        with self._database.writing() as database:
            user = refuse_system(user_with_id(database, user_id))
            linked = _user(database, issuer, subject)
            if linked is None:
                refuse_another(user, _count(database, user_id), IDENTITIES_OF_USER)
                _add(database, user_id, Identity(issuer, subject, name, self._clock()))
            elif linked.id != user_id:
                raise AlreadyExists("another user is linked to this identity")
            row = database.execute(
                f"SELECT {IDENTITY} FROM identities WHERE issuer = ? AND subject = ?",
                (issuer, subject),
            ).fetchone()
            assert row is not None
            return Identity(*row)

    def unlink_identity(self, user_id: int, issuer: str, subject: str) -> None:
        """See ``Store``."""
        with self._database.writing() as database:
            database.execute(
                "DELETE FROM identities WHERE issuer = ? AND subject = ? AND user_id = ?",
                (issuer, subject, user_id),
            )
            if not database.changes():
                raise NotFound("there is no such identity")
            keep_a_way(database, user_id)

    def register_by_identity(self, name: str, issuer: str, subject: str, shown: str) -> User:
        """See ``Store``."""
        now = self._clock()
        with self._database.writing() as database:
            linked = _user(database, issuer, subject)
            if linked is not None:
                return linked
            refuse_lookalike(lambda sql, given: database.execute(sql, given).fetchall(), name)
            user = add_user_row(database, name, now)
            _add(database, user.id, Identity(issuer, subject, shown, now))
            return user


def _user(database: apsw.Connection, issuer: str, subject: str) -> User | None:
    row = database.execute(
        f"SELECT {USER_OF_TOKEN} FROM identities AS i JOIN users AS u"
        " ON u.id = i.user_id WHERE i.issuer = ? AND i.subject = ?",
        (issuer, subject),
    ).fetchone()
    return user_of_row(row) if row else None


def _count(database: apsw.Connection, user_id: int) -> int:
    rows: list[Row] = database.execute(
        "SELECT count(*) FROM identities WHERE user_id = ?", (user_id,)
    ).fetchall()
    return int(rows[0][0])


def _add(database: apsw.Connection, user_id: int, added: Identity) -> None:
    database.execute(
        f"INSERT INTO identities ({IDENTITY}, user_id) VALUES (?, ?, ?, ?, ?)",
        (added.issuer, added.subject, added.name, added.created, user_id),
    )
