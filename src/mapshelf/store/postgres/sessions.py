"""Sessions in PostgreSQL: rows of ``tokens`` that are deleted when they end."""

from mapshelf.errors import NotFound
from mapshelf.model import NO_PROOF, SignInProof, Token
from mapshelf.store.all_access import REVOKE, SHORT_LIVED
from mapshelf.store.columns import FROM_TOKENS, TOKEN, token_of_row
from mapshelf.store.postgres.counters import LockedCounters
from mapshelf.store.postgres.database import DatabaseUser
from mapshelf.store.postgres.grants import delete_grants
from mapshelf.store.postgres.link import Link, Row
from mapshelf.store.postgres.user_rows import password_of_user, user_with_id
from mapshelf.store.sign_in import (
    SESSION_SCOPES,
    SESSIONS_OF_USER,
    refuse_changed,
    refuse_system,
    refuse_unproved,
)


class PostgresSessions(DatabaseUser):
    """See ``contract.Sessions``."""

    def add_session(  # noqa: PLR0913 - the facts of one row
        self,
        user_id: int,
        digest: bytes,
        label: str,
        expires: int,
        replacing: bytes | None,
        *,
        proof: SignInProof = NO_PROOF,
    ) -> Token:
        """See ``Store``. Waits for concurrent changes to the user."""
        now = self._clock()
        with self._connections.writing() as link:
            user = refuse_system(user_with_id(link, user_id, "FOR SHARE"))
            refuse_changed(user, password_of_user(link, user_id), proof.encoded)
            refuse_unproved(link.shared_rows, user_id, proof)
            _delete_sessions(
                link,
                "expires <= %s OR digest = %s OR id IN (SELECT id FROM tokens"
                " WHERE user_id = %s AND kind = 'session' ORDER BY id DESC OFFSET %s)",
                (now, replacing, user_id, SESSIONS_OF_USER - 1),
            )
            link.execute(
                "INSERT INTO tokens (user_id, digest, label, scopes, created, expires, kind)"
                " VALUES (%s, %s, %s, %s, %s, %s, 'session')",
                (user_id, digest, label, SESSION_SCOPES, now, expires),
            )
            (row,) = link.rows(f"SELECT {TOKEN} FROM {FROM_TOKENS} WHERE t.digest = %s", (digest,))
            return token_of_row(row)

    def end_session(self, user_id: int, token_id: int) -> None:
        """See ``Store``."""
        with self._connections.writing() as link:
            if not _delete_sessions(link, "id = %s AND user_id = %s", (token_id, user_id)):
                raise NotFound("there is no such session")

    def end_sessions(self, user_id: int, keep: int | None) -> int:
        """See ``Store``."""
        with self._connections.writing() as link:
            return end_sessions_of(link, user_id, keep)

    def end_all_access(self, *, tokens: bool) -> None:
        """See ``Store``. Waits for all changes to users, in the order of locks that they have."""
        with self._connections.writing() as link:
            LockedCounters(link)
            link.rows("SELECT id FROM users ORDER BY id FOR UPDATE")
            if tokens:
                delete_grants(link, "TRUE", ())
                link.execute(REVOKE.format(now="%s"), (self._clock(),))
            for statement in SHORT_LIVED:
                link.execute(statement)


def end_sessions_of(link: Link, user_id: int, keep: int | None) -> int:
    """End all sessions of a user except the one with the id ``keep``; return how many."""
    return _delete_sessions(
        link, "user_id = %s AND id IS DISTINCT FROM %s::bigint", (user_id, keep)
    )


def _delete_sessions(link: Link, condition: str, parameters: Row) -> int:
    """Delete sessions; return how many. A fixed order of locks prevents deadlocks."""
    rows = link.rows(
        f"SELECT id FROM tokens WHERE kind = 'session' AND ({condition}) ORDER BY id FOR UPDATE",
        parameters,
    )
    link.execute("DELETE FROM tokens WHERE id = ANY(%s)", ([row[0] for row in rows],))
    return len(rows)
