"""Accounts at OpenID providers that users sign in with, in PostgreSQL.

Linking and unlinking first lock the row of the user, so that two concurrent requests cannot both
remove the last way to sign in.
"""

from mapshelf.errors import AlreadyExists, NotFound
from mapshelf.model import Identity, User
from mapshelf.store.columns import IDENTITY, USER_OF_TOKEN, user_of_row
from mapshelf.store.lookalikes import refuse_lookalike
from mapshelf.store.postgres.counters import LockedCounters
from mapshelf.store.postgres.database import DatabaseUser
from mapshelf.store.postgres.link import Link
from mapshelf.store.postgres.user_rows import (
    CHANGING,
    add_user_row,
    keep_a_way,
    user_with_id,
)
from mapshelf.store.sign_in import IDENTITIES_OF_USER, refuse_another, refuse_system


class PostgresIdentities(DatabaseUser):
    """See ``contract.Identities``."""

    def user_of_identity(self, issuer: str, subject: str) -> User | None:
        """See ``Store``."""

        def read(link: Link) -> User | None:
            return _user(link, issuer, subject)

        return self._connections.read(read)

    def link_identity(self, user_id: int, issuer: str, subject: str, name: str) -> Identity:
        """See ``Store``."""
        now = self._clock()
        with self._connections.writing() as link:
            user = refuse_system(user_with_id(link, user_id, CHANGING))
            linked = _user(link, issuer, subject)
            if linked is None:
                refuse_another(user, _count(link, user_id), IDENTITIES_OF_USER)
                _add(link, user_id, Identity(issuer, subject, name, now))
            elif linked.id != user_id:
                raise AlreadyExists("another user is linked to this identity")
            (row,) = link.rows(
                f"SELECT {IDENTITY} FROM identities WHERE issuer = %s AND subject = %s",
                (issuer, subject),
            )
            return Identity(*row)

    def unlink_identity(self, user_id: int, issuer: str, subject: str) -> None:
        """See ``Store``."""
        with self._connections.writing() as link:
            user_with_id(link, user_id, CHANGING)
            deleted = link.execute(
                "DELETE FROM identities WHERE issuer = %s AND subject = %s AND user_id = %s",
                (issuer, subject, user_id),
            )
            if not deleted.rowcount:
                raise NotFound("there is no such identity")
            keep_a_way(link, user_id)

    def register_by_identity(self, name: str, issuer: str, subject: str, shown: str) -> User:
        """See ``Store``."""
        now = self._clock()
        with self._connections.writing() as link:
            LockedCounters(link)
            linked = _user(link, issuer, subject)
            if linked is not None:
                return linked
            refuse_lookalike(link.shared_rows, name)
            user = add_user_row(link, name, now)
            _add(link, user.id, Identity(issuer, subject, shown, now))
            return user


def _user(link: Link, issuer: str, subject: str) -> User | None:
    rows = link.rows(
        f"SELECT {USER_OF_TOKEN} FROM identities AS i JOIN users AS u ON u.id = i.user_id"
        " WHERE i.issuer = %s AND i.subject = %s",
        (issuer, subject),
    )
    return user_of_row(rows[0]) if rows else None


def _count(link: Link, user_id: int) -> int:
    ((count,),) = link.rows("SELECT count(*) FROM identities WHERE user_id = %s", (user_id,))
    return int(count)


def _add(link: Link, user_id: int, added: Identity) -> None:
    """Add an identity; of concurrent attempts, only one succeeds."""
    done = link.execute(
        f"INSERT INTO identities ({IDENTITY}, user_id) VALUES (%s, %s, %s, %s, %s)"
        " ON CONFLICT DO NOTHING",
        (added.issuer, added.subject, added.name, added.created, user_id),
    )
    if not done.rowcount:
        raise AlreadyExists("another user is linked to this identity")
