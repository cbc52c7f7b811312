"""Passwords and one-time links in PostgreSQL.

Changing a password first locks the row of the user, then related rows. The fixed order prevents
deadlocks.
"""

from collections.abc import Collection

from mapshelf.errors import NotFound
from mapshelf.model import Access, LinkKind, OneTimeLink, User
from mapshelf.store.columns import (
    link_of_row,
)
from mapshelf.store.lookalikes import refuse_lookalike
from mapshelf.store.postgres.access import end_access
from mapshelf.store.postgres.counters import LockedCounters
from mapshelf.store.postgres.database import DatabaseUser
from mapshelf.store.postgres.link import Link
from mapshelf.store.postgres.sessions import end_sessions_of
from mapshelf.store.postgres.user_rows import (
    CHANGING,
    add_user_row,
    password_of_user,
    user_with_id,
)
from mapshelf.store.sign_in import GOOD_LINKS, refuse_changed, refuse_second, refuse_system


class PostgresPasswords(DatabaseUser):
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
        with self._connections.writing() as link:
            user = refuse_system(user_with_id(link, user_id, CHANGING))
            if checked is not None:
                refuse_changed(user, password_of_user(link, user_id), checked)
            end_access(link, user_id, ending, self._clock())
            _set_password(link, user, encoded, keep)

    def set_first_password(
        self, user_id: int, encoded: str, *, keep: int, ending: Collection[Access] = ()
    ) -> None:
        """See ``Store``."""
        with self._connections.writing() as link:
            user = refuse_system(user_with_id(link, user_id, CHANGING))
            refuse_second(user, password_of_user(link, user_id))
            end_access(link, user_id, ending, self._clock())
            _set_password(link, user, encoded, keep)

    def add_link(
        self,
        kind: LinkKind,
        digest: bytes,
        user: int | None,
        expires: int,
        created_by: int | None,
    ) -> None:
        """See ``Store``. Waits for those who end all access, in the order of their locks."""
        now = self._clock()
        with self._connections.writing() as link:
            link.rows(
                "SELECT id FROM users WHERE id IN (%s, %s) ORDER BY id FOR KEY SHARE",
                (user, created_by),
            )
            if user is not None:
                refuse_system(user_with_id(link, user))
            link.execute(
                "DELETE FROM one_time_links WHERE digest IN (SELECT digest FROM one_time_links"
                " WHERE expires <= %s FOR UPDATE SKIP LOCKED)",
                (now,),
            )
            link.execute(
                "INSERT INTO one_time_links (digest, kind, user_id, created, expires, created_by)"
                " VALUES (%s, %s, %s, %s, %s, %s)",
                (digest, kind.value, user, now, expires, created_by),
            )

    def link(self, digest: bytes, now: int) -> OneTimeLink | None:
        """See ``Store``."""

        def read(link: Link) -> OneTimeLink | None:
            return _good_link(link, digest, now)

        return self._connections.read(read)

    def withdraw_invitation(self, digest: bytes) -> None:
        """See ``Store``."""
        with self._connections.writing() as link:
            _delete_link(link, digest, LinkKind.INVITATION)

    def use_link(
        self, digest: bytes, encoded: str, now: int, ending: Collection[Access] = ()
    ) -> User:
        """See ``Store``."""
        with self._connections.writing() as link:
            found = _good_link(link, digest, now)
            if found is None or found.user is None:
                raise NotFound("this link no longer works")
            user = user_with_id(link, found.user.id, CHANGING)
            _delete_link(link, digest, LinkKind.PASSWORD)
            if user.disabled:
                raise NotFound("this link no longer works")
            end_access(link, user.id, ending, self._clock())
            _set_password(link, user, encoded, None)
            return user

    def register(self, digest: bytes | None, name: str, encoded: str, now: int) -> User:
        """See ``Store``."""
        with self._connections.writing() as link:
            LockedCounters(link)
            if digest is not None:
                if _good_link(link, digest, now) is None:
                    raise NotFound("this invitation no longer works")
                _delete_link(link, digest, LinkKind.INVITATION)
            refuse_lookalike(link.shared_rows, name)
            return add_user_row(link, name, now, encoded=encoded)


def _set_password(link: Link, user: User, encoded: str, keep: int | None) -> None:
    link.execute("UPDATE users SET password = %s WHERE id = %s", (encoded, user.id))
    end_sessions_of(link, user.id, keep)
    link.execute("DELETE FROM one_time_links WHERE user_id = %s", (user.id,))


def _good_link(link: Link, digest: bytes, now: int) -> OneTimeLink | None:
    rows = link.shared_rows(f"{GOOD_LINKS} AND l.digest = ?", (now, digest))
    if not rows:
        return None
    user = None if rows[0][2] is None else user_with_id(link, rows[0][2])
    return None if user is not None and user.disabled else link_of_row(rows[0], user)


def _delete_link(link: Link, digest: bytes, kind: LinkKind) -> None:
    """Delete a link; of concurrent attempts, only one succeeds."""
    deleted = link.execute(
        "DELETE FROM one_time_links WHERE digest = %s AND kind = %s", (digest, kind.value)
    )
    if not deleted.rowcount:
        raise NotFound("this link no longer works")
