"""Sessions in SQLite: rows of ``tokens`` that are deleted when they end."""

import apsw

from mapshelf.errors import NotFound
from mapshelf.model import NO_PROOF, SignInProof, Token
from mapshelf.store.all_access import REVOKE, SHORT_LIVED
from mapshelf.store.columns import FROM_TOKENS, TOKEN, token_of_row
from mapshelf.store.sign_in import (
    SESSION_SCOPES,
    SESSIONS_OF_USER,
    refuse_changed,
    refuse_system,
    refuse_unproved,
)
from mapshelf.store.sqlite.database import DatabaseUser
from mapshelf.store.sqlite.grants import delete_grants
from mapshelf.store.sqlite.user_rows import password_of_user, user_with_id
from mapshelf.store.tables import Row


class SQLiteSessions(DatabaseUser):
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
        """See ``Store``."""
        now = self._clock()
        with self._database.writing() as database:
            user = refuse_system(user_with_id(database, user_id))
            refuse_changed(user, password_of_user(database, user_id), proof.encoded)
            refuse_unproved(
                lambda sql, given: database.execute(sql, given).fetchall(), user_id, proof
            )
            database.execute(
                "DELETE FROM tokens WHERE kind = 'session' AND (expires <= ? OR digest = ?)",
                (now, replacing),
            )
            database.execute(
                "DELETE FROM tokens WHERE id IN (SELECT id FROM tokens"
                " WHERE user_id = ? AND kind = 'session' ORDER BY id DESC LIMIT -1 OFFSET ?)",
                (user_id, SESSIONS_OF_USER - 1),
            )
            database.execute(
                "INSERT INTO tokens (user_id, digest, label, scopes, created, expires, kind)"
                " VALUES (?, ?, ?, ?, ?, ?, 'session')",
                (user_id, digest, label, SESSION_SCOPES, now, expires),
            )
            rows: list[Row] = database.execute(
                f"SELECT {TOKEN} FROM {FROM_TOKENS} WHERE t.digest = ?", (digest,)
            ).fetchall()
            return token_of_row(rows[0])

    def end_session(self, user_id: int, token_id: int) -> None:
        """See ``Store``."""
        with self._database.writing() as database:
            database.execute(
                "DELETE FROM tokens WHERE id = ? AND user_id = ? AND kind = 'session'",
                (token_id, user_id),
            )
            if not database.changes():
                raise NotFound("there is no such session")

    def end_sessions(self, user_id: int, keep: int | None) -> int:
        """See ``Store``."""
        with self._database.writing() as database:
            return end_sessions_of(database, user_id, keep)

    def end_all_access(self, *, tokens: bool) -> None:
        """See ``Store``."""
        with self._database.writing() as database:
            for statement in SHORT_LIVED:
                database.execute(statement)
            if tokens:
                delete_grants(database, "TRUE", ())
                database.execute(REVOKE.format(now="?"), (self._clock(),))


def end_sessions_of(database: apsw.Connection, user_id: int, keep: int | None) -> int:
    """End all sessions of a user except the one with the id ``keep``; return how many."""
    database.execute(
        "DELETE FROM tokens WHERE user_id = ? AND kind = 'session' AND id IS NOT ?",
        (user_id, keep),
    )
    return database.changes()
