"""Passwords and one-time links in SQLite."""

from collections.abc import Collection

import apsw

from mapshelf.errors import NotFound
from mapshelf.model import Access, LinkKind, OneTimeLink, User
from mapshelf.store.columns import (
    link_of_row,
)
from mapshelf.store.lookalikes import refuse_lookalike
from mapshelf.store.sign_in import GOOD_LINKS, refuse_changed, refuse_second, refuse_system
from mapshelf.store.sqlite.access import end_access
from mapshelf.store.sqlite.database import DatabaseUser
from mapshelf.store.sqlite.sessions import end_sessions_of
from mapshelf.store.sqlite.user_rows import (
    add_user_row,
    password_of_user,
    user_with_id,
)


class SQLitePasswords(DatabaseUser):
    """See ``contract.Passwords``."""

    def set_password(
        self,
        user_id: int,
        encoded: str,
        *,
        keep: int | None,
        checked: str | None = None,
        ending: Collection[Access] = (),
    ) -> None:
        """See ``Store``."""
        with self._database.writing() as database:
            user = refuse_system(user_with_id(database, user_id))
            if checked is not None:
                refuse_changed(user, password_of_user(database, user_id), checked)
            end_access(database, user_id, ending, self._clock())
            _set_password(database, user, encoded, keep)

    def set_first_password(
        self, user_id: int, encoded: str, *, keep: int, ending: Collection[Access] = ()
    ) -> None:
        """See ``Store``."""
        with self._database.writing() as database:
            user = refuse_system(user_with_id(database, user_id))
            refuse_second(user, password_of_user(database, user_id))
            end_access(database, user_id, ending, self._clock())
            _set_password(database, user, encoded, keep)

    def add_link(
        self,
        kind: LinkKind,
        digest: bytes,
        user: int | None,
        expires: int,
        created_by: int | None,
    ) -> None:
        """See ``Store``."""
        now = self._clock()
        with self._database.writing() as database:
            if user is not None:
                refuse_system(user_with_id(database, user))
            database.execute("DELETE FROM one_time_links WHERE expires <= ?", (now,))
            database.execute(
                "INSERT INTO one_time_links (digest, kind, user_id, created, expires, created_by)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (digest, kind.value, user, now, expires, created_by),
            )

    def link(self, digest: bytes, now: int) -> OneTimeLink | None:
        """See ``Store``."""
        with self._database.reading() as database:
            return _good_link(database, digest, now)

    def withdraw_invitation(self, digest: bytes) -> None:
        """See ``Store``."""
        with self._database.writing() as database:
            _delete_link(database, digest, LinkKind.INVITATION)

    def use_link(
        self, digest: bytes, encoded: str, now: int, ending: Collection[Access] = ()
    ) -> User:
        """See ``Store``."""
        with self._database.writing() as database:
            found = _good_link(database, digest, now)
            if found is None or found.user is None:
                raise NotFound("this link no longer works")
            end_access(database, found.user.id, ending, self._clock())
            _set_password(database, found.user, encoded, None)
            return found.user

    def register(self, digest: bytes | None, name: str, encoded: str, now: int) -> User:
        """See ``Store``."""
        with self._database.writing() as database:
            if digest is not None:
                if _good_link(database, digest, now) is None:
                    raise NotFound("this invitation no longer works")
                _delete_link(database, digest, LinkKind.INVITATION)
            refuse_lookalike(lambda sql, given: database.execute(sql, given).fetchall(), name)
            return add_user_row(database, name, now, encoded=encoded)


def _set_password(database: apsw.Connection, user: User, encoded: str, keep: int | None) -> None:
    database.execute("UPDATE users SET password = ? WHERE id = ?", (encoded, user.id))
    end_sessions_of(database, user.id, keep)
    database.execute("DELETE FROM one_time_links WHERE user_id = ?", (user.id,))


def _good_link(database: apsw.Connection, digest: bytes, now: int) -> OneTimeLink | None:
    row = database.execute(f"{GOOD_LINKS} AND l.digest = ?", (now, digest)).fetchone()
    if row is None:
        return None
    user = None if row[2] is None else user_with_id(database, row[2])
    return None if user is not None and user.disabled else link_of_row(row, user)


def _delete_link(database: apsw.Connection, digest: bytes, kind: LinkKind) -> None:
    database.execute(
        "DELETE FROM one_time_links WHERE digest = ? AND kind = ?", (digest, kind.value)
    )
    if not database.changes():
        raise NotFound("there is no such invitation")
