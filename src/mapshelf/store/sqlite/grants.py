"""OAuth authorization codes, grants and tokens in SQLite."""

import apsw

from mapshelf.errors import NotFound
from mapshelf.model import AuthorizationCode, Grant, NewTokens
from mapshelf.store.oauth import (
    ACCESS_TOKENS_OF_GRANT,
    CODE,
    FRESH,
    FROM_GRANTS,
    GRANT,
    GRANTS_OF_USER,
    REFRESH_TOKENS_OF_GRANT,
    SUPERSEDED,
    USED_CODES_KEPT,
    code_of_row,
    grant_of_row,
    is_repeated,
    refuse_disabled,
    row_of_code,
    scopes_of_tokens,
)
from mapshelf.store.sqlite.database import DatabaseUser
from mapshelf.store.sqlite.user_rows import user_with_id
from mapshelf.store.tables import Row


class SQLiteGrants(DatabaseUser):
    """See ``contract.Grants``."""

    def add_code(self, code: AuthorizationCode) -> None:
        """See ``Store``."""
        now = self._clock()
        with self._database.writing() as database:
            refuse_disabled(user_with_id(database, code.user_id))
            require_program(database, code.program_id)
            database.execute(
                f"INSERT INTO authorization_codes ({CODE}) VALUES (?, ?, ?, ?, ?, ?, ?)",
                row_of_code(code),
            )
            database.execute(
                "DELETE FROM authorization_codes WHERE expires <= iif(used IS NULL, ?, ?)",
                (now, now - USED_CODES_KEPT),
            )

    def use_code(self, digest: bytes, tokens: NewTokens, now: int, grace: int = 0) -> Grant | None:
        """See ``Store``."""
        with self._database.writing() as database:
            row = database.execute(
                f"SELECT used, grant_id, {CODE} FROM authorization_codes WHERE digest = ?",
                (digest,),
            ).fetchone()
            if row is None:
                return None
            used, grant_id, code = row[0], row[1], code_of_row(row[2:])
            if used is not None and not (
                is_repeated(used, now, grace) and _is_fresh(database, grant_id)
            ):
                delete_grants(database, "id = ?", (grant_id,))
                return None
            if code.expires <= now or user_with_id(database, code.user_id).disabled:
                return None
            if used is not None:
                return _extended(database, grant_id, tokens, self._clock())
            grant = new_grant(
                database,
                code.user_id,
                code.program_id,
                code.scopes,
                tokens=tokens,
                now=self._clock(),
            )
            database.execute(
                "UPDATE authorization_codes SET used = ?, grant_id = ? WHERE digest = ?",
                (now, grant.id, digest),
            )
            return grant

    def use_refresh_token(
        self, digest: bytes, tokens: NewTokens, now: int, grace: int
    ) -> Grant | None:
        """See ``Store``."""
        with self._database.writing() as database:
            row = database.execute(
                f"SELECT grant_id, expires, used, {SUPERSEDED.format(now='?')}"
                " FROM refresh_tokens AS r WHERE digest = ?",
                (now, digest),
            ).fetchone()
            if row is None:
                return None
            grant_id, expires, used, superseded = row
            grant = _grant(database, grant_id)
            # A program that has received the next token has no reason to repeat its request.
            if used is not None and (superseded or not is_repeated(used, now, grace)):
                delete_grants(database, "id = ?", (grant_id,))
                return None
            if expires <= now or user_with_id(database, grant.user_id).disabled:
                return None
            if used is None:
                database.execute(
                    "UPDATE refresh_tokens SET used = ? WHERE grant_id = ? AND used IS NULL",
                    (now, grant_id),
                )
            return _extended(database, grant_id, tokens, self._clock())

    def withdraw_grants(self, user_id: int, program_id: str) -> None:
        """See ``Store``."""
        key = (user_id, program_id)
        with self._database.writing() as database:
            deleted = delete_grants(database, "user_id = ? AND program_id = ?", key)
            for table in ("authorization_codes", "device_requests"):
                database.execute(f"DELETE FROM {table} WHERE user_id = ? AND program_id = ?", key)
                deleted += database.changes()
            if not deleted:
                raise NotFound("this program has not been authorized")

    def revoke_program_token(self, digest: bytes, program_id: str) -> bool:
        """See ``Store``."""
        of_program = "(SELECT id FROM grants WHERE program_id = ?)"
        with self._database.writing() as database:
            database.execute(
                f"DELETE FROM tokens WHERE digest = ? AND grant_id IN {of_program}",
                (digest, program_id),
            )
            if database.changes():
                return True
            condition = (
                "program_id = ? AND id IN (SELECT grant_id FROM refresh_tokens WHERE digest = ?)"
            )
            if not delete_grants(database, condition, (program_id, digest)):
                self._database.audit_entries.drop()
                return False
            return True


def require_program(database: apsw.Connection, program_id: str) -> None:
    """Check that there is a program with this id.

    Raises:
        NotFound: there is none.
    """
    if not database.execute("SELECT 1 FROM programs WHERE id = ?", (program_id,)).fetchone():
        raise NotFound("there is no such program")


def delete_grants(database: apsw.Connection, condition: str, parameters: Row) -> int:
    """Delete grants with all their tokens; return how many."""
    grants = f"(SELECT id FROM grants WHERE {condition})"
    database.execute(f"DELETE FROM tokens WHERE grant_id IN {grants}", parameters)
    database.execute(f"DELETE FROM grants WHERE id IN {grants}", parameters)
    return database.changes()


def new_grant(  # noqa: PLR0913 - the facts of one row
    database: apsw.Connection,
    user_id: int,
    program_id: str,
    scopes: str,
    *,
    tokens: NewTokens,
    now: int,
) -> Grant:
    """Add a grant with its first tokens."""
    delete_grants(
        database,
        "user_id = ? AND (expires <= ? OR id IN"
        " (SELECT id FROM grants WHERE user_id = ? ORDER BY id DESC LIMIT -1 OFFSET ?))",
        (user_id, now, user_id, GRANTS_OF_USER - 1),
    )
    rows: list[Row] = database.execute(
        "INSERT INTO grants (user_id, program_id, scopes, created, expires)"
        " VALUES (?, ?, ?, ?, ?) RETURNING id",
        (user_id, program_id, scopes, now, tokens.refresh_expires),
    ).fetchall()
    grant = _grant(database, rows[0][0])
    _add_tokens(database, grant, tokens, now)
    return _grant(database, grant.id)


def _is_fresh(database: apsw.Connection, grant_id: int | None) -> bool:
    """Return whether a grant has issued tokens only once, or has been withdrawn."""
    rows: list[Row] = database.execute(FRESH.format(grant="?"), (grant_id,)).fetchall()
    return bool(rows[0][0])


def _extended(
    database: apsw.Connection, grant_id: int | None, tokens: NewTokens, now: int
) -> Grant | None:
    """Add tokens to a grant that has not been withdrawn; delete it if it has too many."""
    if grant_id is None:
        return None
    database.execute(
        "DELETE FROM refresh_tokens WHERE grant_id = ? AND expires <= ?", (grant_id, now)
    )
    rows: list[Row] = database.execute(
        "SELECT count(*) FROM refresh_tokens WHERE grant_id = ?", (grant_id,)
    ).fetchall()
    if rows[0][0] >= REFRESH_TOKENS_OF_GRANT:
        delete_grants(database, "id = ?", (grant_id,))
        return None
    _add_tokens(database, _grant(database, grant_id), tokens, now)
    return _grant(database, grant_id)


def _grant(database: apsw.Connection, grant_id: int) -> Grant:
    rows: list[Row] = database.execute(
        f"SELECT {GRANT} FROM {FROM_GRANTS} WHERE g.id = ?", (grant_id,)
    ).fetchall()
    return grant_of_row(rows[0])


def _add_tokens(database: apsw.Connection, grant: Grant, tokens: NewTokens, now: int) -> None:
    scopes = scopes_of_tokens(tokens, grant.scopes)
    database.execute(
        "INSERT INTO tokens"
        " (user_id, digest, label, scopes, created, expires, kind, grant_id)"
        " VALUES (?, ?, ?, ?, ?, ?, 'access', ?)",
        (
            grant.user_id,
            tokens.access,
            grant.program,
            scopes,
            now,
            tokens.access_expires,
            grant.id,
        ),
    )
    database.execute(
        "INSERT INTO refresh_tokens (digest, grant_id, expires) VALUES (?, ?, ?)",
        (tokens.refresh, grant.id, tokens.refresh_expires),
    )
    database.execute(
        "UPDATE grants SET expires = max(expires, ?) WHERE id = ?",
        (tokens.refresh_expires, grant.id),
    )
    database.execute(
        "DELETE FROM tokens WHERE id IN (SELECT id FROM tokens WHERE grant_id = ?"
        " ORDER BY id DESC LIMIT -1 OFFSET ?)",
        (grant.id, ACCESS_TOKENS_OF_GRANT),
    )
