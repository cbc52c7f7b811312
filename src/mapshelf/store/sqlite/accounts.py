"""Users and tokens in SQLite."""

from collections.abc import Mapping, Sequence

import apsw

from mapshelf.errors import NotFound
from mapshelf.model import Credential, Role, Token, User
from mapshelf.store.columns import (
    FROM_TOKENS,
    TOKEN,
    USER,
    USER_OF_TOKEN,
    credential_of_row,
    token_of_row,
    user_of_row,
)
from mapshelf.store.moderation import SETTLE_DISABLING
from mapshelf.store.oauth import END_DEVICES
from mapshelf.store.reserved_names import give_reserved_name
from mapshelf.store.sqlite.database import DatabaseUser
from mapshelf.store.sqlite.user_rows import add_user_row, require_user
from mapshelf.store.token_limit import refuse_beyond


class SQLiteAccounts(DatabaseUser):
    """See ``contract.Accounts`` and ``contract.Credentials``."""

    tokens_version_age = 0.9

    def add_user(
        self, name: str, role: Role = Role.MEMBER, *, even_if_reserved: bool = False
    ) -> User:
        """See ``Store``."""
        now = self._clock()
        with self._database.writing() as database:
            given = even_if_reserved and give_reserved_name(
                lambda sql, values: database.execute(sql, values).fetchall(), name, role, now
            )
            return given or add_user_row(database, name, now, role)

    def users(self) -> list[User]:
        """See ``Store``."""
        return [
            user_of_row(row)
            for row in self._database.rows(
                f"SELECT {USER} FROM users WHERE closed IS NULL ORDER BY id"
            )
        ]

    def disable_user(self, name: str) -> User:
        """See ``Store``."""
        with self._database.writing() as database:
            user = require_user(database, name)
            database.execute(
                "UPDATE users SET disabled = 1 WHERE id = ? AND closed IS NULL", (user.id,)
            )
            database.execute(SETTLE_DISABLING, (user.id,))
            database.execute(END_DEVICES, (user.id,))
            return require_user(database, name)

    def enable_user(self, name: str) -> User:
        """See ``Store``."""
        with self._database.writing() as database:
            user = require_user(database, name)
            database.execute(
                "UPDATE users SET disabled = 0 WHERE id = ? AND closed IS NULL", (user.id,)
            )
            database.execute(SETTLE_DISABLING, (user.id,))
            return require_user(database, name)

    def set_role(self, name: str, role: Role) -> User:
        """See ``Store``."""
        with self._database.writing() as database:
            user = require_user(database, name)
            database.execute(
                "UPDATE users SET role = ? WHERE id = ? AND closed IS NULL", (role.value, user.id)
            )
            return require_user(database, name)

    def add_token(  # noqa: PLR0913 - the facts of one row, and a limit
        self,
        user: str,
        digest: bytes,
        *,
        label: str,
        scopes: str,
        expires: int | None,
        most: int | None = None,
    ) -> Token:
        """See ``Store``."""
        with self._database.writing() as database:
            owner = require_user(database, user)
            refuse_beyond(
                lambda sql, given: database.execute(sql, given).fetchall(), owner.id, most
            )
            database.execute(
                "INSERT INTO tokens (user_id, digest, label, scopes, created, expires)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (owner.id, digest, label, scopes, self._clock(), expires),
            )
            return _token(database, "t.digest = ?", digest)

    def tokens(self, user: str) -> list[Token]:
        """See ``Store``."""
        with self._database.reading() as database:
            owner = require_user(database, user)
            rows = database.execute(
                f"SELECT {TOKEN} FROM {FROM_TOKENS} WHERE u.id = ? AND t.kind = 'personal'"
                " ORDER BY t.id",
                (owner.id,),
            )
            return [token_of_row(row) for row in rows]

    def revoke_token(self, token_id: int) -> Token:
        """See ``Store``."""
        with self._database.writing() as database:
            database.execute(
                "UPDATE tokens SET revoked = coalesce(revoked, ?) WHERE id = ?",
                (self._clock(), token_id),
            )
            return _token(database, "t.id = ?", token_id)

    def tokens_version(self) -> str:
        """See ``Store``."""
        return str(self._database.row("SELECT mark FROM token_mark")[0])

    def find_credentials(
        self, digests: Sequence[bytes], version: str = ""
    ) -> dict[bytes, Credential]:
        """See ``Store``."""
        with self._database.reading() as database:
            rows = database.executemany(
                f"SELECT t.digest, {USER_OF_TOKEN}, {TOKEN} FROM {FROM_TOKENS} WHERE t.digest = ?",
                [(digest,) for digest in digests],
            )
            return {row[0]: credential_of_row(row[1:]) for row in rows}

    def touch_tokens(self, used: Mapping[int, int]) -> None:
        """See ``Store``."""
        with self._database.writing() as database:
            database.executemany(
                "UPDATE tokens SET last_used = max(coalesce(last_used, 0), ?) WHERE id = ?",
                [(when, token_id) for token_id, when in used.items()],
            )


def _token(database: apsw.Connection, condition: str, key: object) -> Token:
    row = database.execute(
        f"SELECT {TOKEN} FROM {FROM_TOKENS} WHERE {condition}", (key,)
    ).fetchone()
    if row is None:
        raise NotFound("there is no such token")
    return token_of_row(row)
