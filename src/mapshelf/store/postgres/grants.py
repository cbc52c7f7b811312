"""OAuth authorization codes, grants and tokens in PostgreSQL.

Writers lock the row of the user first, then the program, then grants, then codes and tokens. The
fixed order serializes the programs of a user and prevents deadlocks.
"""

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
from mapshelf.store.postgres.database import DatabaseUser
from mapshelf.store.postgres.link import Link, Row
from mapshelf.store.postgres.user_rows import CHANGING, user_with_id


class PostgresGrants(DatabaseUser):
    """See ``contract.Grants``."""

    def add_code(self, code: AuthorizationCode) -> None:
        """See ``Store``."""
        now = self._clock()
        with self._connections.writing() as link:
            refuse_disabled(user_with_id(link, code.user_id, CHANGING))
            require_program(link, code.program_id)
            link.execute(
                f"INSERT INTO authorization_codes ({CODE}) VALUES (%s, %s, %s, %s, %s, %s, %s)",
                row_of_code(code),
            )
            link.execute(
                "DELETE FROM authorization_codes WHERE digest IN"
                " (SELECT digest FROM authorization_codes"
                " WHERE expires <= CASE WHEN used IS NULL THEN %s ELSE %s END"
                " FOR UPDATE SKIP LOCKED)",
                (now, now - USED_CODES_KEPT),
            )

    def use_code(self, digest: bytes, tokens: NewTokens, now: int, grace: int = 0) -> Grant | None:
        """See ``Store``."""
        query = f"SELECT used, grant_id, {CODE} FROM authorization_codes WHERE digest = %s"
        with self._connections.writing() as link:
            found = link.rows(query, (digest,))
            if not found:
                return None
            code = code_of_row(found[0][2:])
            user = user_with_id(link, code.user_id, CHANGING)
            found = link.rows(query, (digest,))
            if not found:
                return None
            used, grant_id = found[0][:2]
            if used is not None and not (
                is_repeated(used, now, grace) and _is_fresh(link, grant_id)
            ):
                delete_grants(link, "id = %s", (grant_id,))
                return None
            if code.expires <= now or user.disabled:
                return None
            if used is not None:
                return _extended(link, grant_id, tokens, self._clock())
            grant = new_grant(
                link, code.user_id, code.program_id, code.scopes, tokens=tokens, now=self._clock()
            )
            if grant is not None:
                link.execute(
                    "UPDATE authorization_codes SET used = %s, grant_id = %s WHERE digest = %s",
                    (now, grant.id, digest),
                )
            return grant

    def use_refresh_token(
        self, digest: bytes, tokens: NewTokens, now: int, grace: int
    ) -> Grant | None:
        """See ``Store``."""
        with self._connections.writing() as link:
            owner = _user_of_refresh_token(link, digest)
            if owner is None:
                return None
            user = user_with_id(link, owner, CHANGING)
            rows = link.rows(
                f"SELECT g.id, r.expires, r.used, {SUPERSEDED.format(now='%s')} FROM grants AS g"
                " JOIN refresh_tokens AS r ON r.grant_id = g.id WHERE r.digest = %s"
                " FOR UPDATE OF g",
                (now, digest),
            )
            if not rows:
                return None
            grant_id, expires, used, superseded = rows[0]
            # A program that has received the next token has no reason to repeat its request.
            if used is not None and (superseded or not is_repeated(used, now, grace)):
                delete_grants(link, "id = %s", (grant_id,))
                return None
            if expires <= now or user.disabled:
                return None
            if used is None:
                link.execute(
                    "UPDATE refresh_tokens SET used = %s WHERE grant_id = %s AND used IS NULL",
                    (now, grant_id),
                )
            return _extended(link, grant_id, tokens, self._clock())

    def withdraw_grants(self, user_id: int, program_id: str) -> None:
        """See ``Store``."""
        key = (user_id, program_id)
        with self._connections.writing() as link:
            user_with_id(link, user_id, CHANGING)
            deleted = delete_grants(link, "user_id = %s AND program_id = %s", key)
            for table in ("authorization_codes", "device_requests"):
                deleted += link.execute(
                    f"DELETE FROM {table} WHERE digest IN (SELECT digest FROM {table}"
                    " WHERE user_id = %s AND program_id = %s ORDER BY digest FOR UPDATE)",
                    key,
                ).rowcount
            if not deleted:
                raise NotFound("this program has not been authorized")

    def revoke_program_token(self, digest: bytes, program_id: str) -> bool:
        """See ``Store``."""
        of_program = "(SELECT id FROM grants WHERE program_id = %s)"
        with self._connections.writing() as link:
            deleted = link.execute(
                f"DELETE FROM tokens WHERE digest = %s AND grant_id IN {of_program}",
                (digest, program_id),
            )
            if deleted.rowcount:
                return True
            owner = _user_of_refresh_token(link, digest)
            if owner is None:
                self._connections.audit_entries.drop()
                return False
            user_with_id(link, owner, CHANGING)
            condition = (
                "program_id = %s AND id IN (SELECT grant_id FROM refresh_tokens WHERE digest = %s)"
            )
            if not delete_grants(link, condition, (program_id, digest)):
                self._connections.audit_entries.drop()
                return False
            return True


def require_program(link: Link, program_id: str) -> None:
    """Check that there is a program with this id, and lock it against removal.

    Raises:
        NotFound: there is none.
    """
    if not link.rows("SELECT 1 FROM programs WHERE id = %s FOR KEY SHARE", (program_id,)):
        raise NotFound("there is no such program")


def delete_grants(link: Link, condition: str, parameters: Row) -> int:
    """Delete grants with all their tokens; return how many.

    Rows are locked in a fixed order to prevent deadlocks. No token can be added to a locked grant.
    """
    locked = f"SELECT id FROM grants WHERE {condition} ORDER BY id FOR UPDATE"
    grants = [row[0] for row in link.rows(locked, parameters)]
    _delete_tokens(link, "grant_id = ANY(%s)", (grants,))
    return link.execute("DELETE FROM grants WHERE id = ANY(%s)", (grants,)).rowcount


def new_grant(  # noqa: PLR0913 - the facts of one row
    link: Link, user_id: int, program_id: str, scopes: str, *, tokens: NewTokens, now: int
) -> Grant | None:
    """Add a grant with its first tokens; the caller has locked the user.

    Returns:
        ``None`` if the program has just been removed.
    """
    try:
        require_program(link, program_id)
    except NotFound:
        return None
    delete_grants(
        link,
        "user_id = %s AND (expires <= %s OR id IN"
        " (SELECT id FROM grants WHERE user_id = %s ORDER BY id DESC OFFSET %s))",
        (user_id, now, user_id, GRANTS_OF_USER - 1),
    )
    ((grant_id,),) = link.rows(
        "INSERT INTO grants (user_id, program_id, scopes, created, expires)"
        " VALUES (%s, %s, %s, %s, %s) RETURNING id",
        (user_id, program_id, scopes, now, tokens.refresh_expires),
    )
    _add_tokens(link, _grant(link, grant_id), tokens, now)
    return _grant(link, grant_id)


def _user_of_refresh_token(link: Link, digest: bytes) -> int | None:
    rows = link.rows(
        "SELECT g.user_id FROM grants AS g JOIN refresh_tokens AS r ON r.grant_id = g.id"
        " WHERE r.digest = %s",
        (digest,),
    )
    return int(rows[0][0]) if rows else None


def _is_fresh(link: Link, grant_id: int) -> bool:
    """Return whether a grant has issued tokens only once, or has been withdrawn."""
    ((fresh,),) = link.rows(FRESH.format(grant="%s"), (grant_id,))
    return bool(fresh)


def _extended(link: Link, grant_id: int, tokens: NewTokens, now: int) -> Grant | None:
    """Add tokens to a grant that has not been withdrawn; delete it if it has too many."""
    if not link.rows("SELECT 1 FROM grants WHERE id = %s FOR UPDATE", (grant_id,)):
        return None
    link.execute(
        "DELETE FROM refresh_tokens WHERE grant_id = %s AND expires <= %s", (grant_id, now)
    )
    of_grant = "SELECT count(*) FROM refresh_tokens WHERE grant_id = %s"
    ((count,),) = link.rows(of_grant, (grant_id,))
    if count >= REFRESH_TOKENS_OF_GRANT:
        delete_grants(link, "id = %s", (grant_id,))
        return None
    _add_tokens(link, _grant(link, grant_id), tokens, now)
    return _grant(link, grant_id)


def _grant(link: Link, grant_id: int) -> Grant:
    (row,) = link.rows(f"SELECT {GRANT} FROM {FROM_GRANTS} WHERE g.id = %s", (grant_id,))
    return grant_of_row(row)


def _add_tokens(link: Link, grant: Grant, tokens: NewTokens, now: int) -> None:
    scopes = scopes_of_tokens(tokens, grant.scopes)
    link.execute(
        "INSERT INTO tokens (user_id, digest, label, scopes, created, expires, kind, grant_id)"
        " VALUES (%s, %s, %s, %s, %s, %s, 'access', %s)",
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
    link.execute(
        "INSERT INTO refresh_tokens (digest, grant_id, expires) VALUES (%s, %s, %s)",
        (tokens.refresh, grant.id, tokens.refresh_expires),
    )
    link.execute(
        "UPDATE grants SET expires = greatest(expires, %s) WHERE id = %s",
        (tokens.refresh_expires, grant.id),
    )
    newest = "SELECT id FROM tokens WHERE grant_id = %s ORDER BY id DESC OFFSET %s"
    _delete_tokens(link, f"id IN ({newest})", (grant.id, ACCESS_TOKENS_OF_GRANT))


def _delete_tokens(link: Link, condition: str, parameters: Row) -> None:
    rows = link.rows(f"SELECT id FROM tokens WHERE {condition} ORDER BY id FOR UPDATE", parameters)
    link.execute("DELETE FROM tokens WHERE id = ANY(%s)", ([row[0] for row in rows],))
