"""Users and tokens in PostgreSQL."""

import time
from collections.abc import Mapping, Sequence
from typing import Final

from mapshelf.errors import NotFound, StoreError
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
from mapshelf.store.postgres.counters import LockedCounters
from mapshelf.store.postgres.database import DatabaseUser
from mapshelf.store.postgres.link import Link, with_placeholders
from mapshelf.store.postgres.user_rows import (
    CHANGING,
    add_user_row,
    require_user,
    user_with_id,
)
from mapshelf.store.reserved_names import give_reserved_name
from mapshelf.store.token_limit import refuse_beyond

_RUN: Final = (
    "extract(epoch FROM pg_postmaster_start_time())"
    " || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())"
    " || '/' || concat_ws('.', pg_relation_filenode('token_mark'), pg_relation_filenode('tokens'),"
    " pg_relation_filenode('users'))"
)
"""The run of the server, the database, and the files of the tables. One of them changes when a
backup takes the place of the database or a table, and when a table is truncated."""

_TRIED_AGAIN_AFTER: Final = 60.0
"""Seconds between attempts to choose a mark while the server refuses writes."""


class PostgresAccounts(DatabaseUser):
    """See ``contract.Accounts`` and ``contract.Credentials``."""

    tokens_version_age = 2.0
    _mark_due = 0.0
    """When (``time.monotonic``) to try again to choose a mark."""

    def add_user(
        self, name: str, role: Role = Role.MEMBER, *, even_if_reserved: bool = False
    ) -> User:
        """See ``Store``."""
        with self._connections.writing() as link:
            LockedCounters(link)
            now = self._clock()
            given = even_if_reserved and give_reserved_name(link.shared_rows, name, role, now)
            return given or add_user_row(link, name, now, role)

    def users(self) -> list[User]:
        """See ``Store``."""
        rows = self._rows(f"SELECT {USER} FROM users WHERE closed IS NULL ORDER BY id")
        return [user_of_row(row) for row in rows]

    def disable_user(self, name: str) -> User:
        """See ``Store``."""
        with self._connections.writing() as link:
            user = require_user(link, name)
            # Device requests are allowed and used while the row of the user is locked.
            link.execute(
                "UPDATE users SET disabled = TRUE WHERE id = %s AND closed IS NULL", (user.id,)
            )
            link.execute(with_placeholders(SETTLE_DISABLING), (user.id,))
            link.execute(with_placeholders(END_DEVICES), (user.id,))
            return require_user(link, name)

    def enable_user(self, name: str) -> User:
        """See ``Store``."""
        with self._connections.writing() as link:
            user = require_user(link, name)
            link.execute(
                "UPDATE users SET disabled = FALSE WHERE id = %s AND closed IS NULL", (user.id,)
            )
            link.execute(with_placeholders(SETTLE_DISABLING), (user.id,))
            return require_user(link, name)

    def set_role(self, name: str, role: Role) -> User:
        """See ``Store``."""
        with self._connections.writing() as link:
            user = require_user(link, name)
            link.execute(
                "UPDATE users SET role = %s WHERE id = %s AND closed IS NULL",
                (role.value, user.id),
            )
            return require_user(link, name)

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
        with self._connections.writing() as link:
            # One at a time, so that the limit holds, and later tokens have higher ids.
            owner = user_with_id(link, require_user(link, user).id, CHANGING)
            refuse_beyond(link.shared_rows, owner.id, most)
            link.execute(
                "INSERT INTO tokens (user_id, digest, label, scopes, created, expires)"
                " VALUES (%s, %s, %s, %s, %s, %s)",
                (owner.id, digest, label, scopes, self._clock(), expires),
            )
            return _token(link, "t.digest = %s", digest)

    def tokens(self, user: str) -> list[Token]:
        """See ``Store``."""

        def read(link: Link) -> list[Token]:
            rows = link.rows(
                f"SELECT {TOKEN} FROM {FROM_TOKENS} WHERE u.id = %s AND t.kind = 'personal'"
                " ORDER BY t.id",
                (require_user(link, user).id,),
            )
            return [token_of_row(row) for row in rows]

        return self._connections.read(read)

    def revoke_token(self, token_id: int) -> Token:
        """See ``Store``."""
        with self._connections.writing() as link:
            link.execute(
                "UPDATE tokens SET revoked = coalesce(revoked, %s) WHERE id = %s",
                (self._clock(), token_id),
            )
            return _token(link, "t.id = %s", token_id)

    def tokens_version(self) -> str:
        """See ``Store``. Read from the primary.

        If a backup took the place of the database, tokens that were made after it are gone, and the
        mark may be the same as before. So each run of the server chooses another one.
        """
        mark, run, current = self._connections.ask_primary(f"mark, run, {_RUN} FROM token_mark")
        if run == current:
            return str(mark)
        if time.monotonic() > self._mark_due:
            try:
                return self._new_mark()
            except StoreError:  # the disk may be full
                self._mark_due = time.monotonic() + _TRIED_AGAIN_AFTER
        return f"{mark}/{current}"  # no standby has this version

    def _new_mark(self) -> str:
        """Choose a mark for this run of the server, unless another process has; return it."""
        with self._connections.writing() as link:
            # If it were lost with the run of the server, the next one would choose another.
            link.execute("SET LOCAL synchronous_commit TO off")
            link.execute(
                f"UPDATE token_mark SET mark = gen_random_uuid()::text, run = {_RUN}"
                f" WHERE run <> {_RUN}"
            )
            ((mark,),) = link.required_rows("SELECT mark FROM token_mark")
            return str(mark)

    def find_credentials(
        self, digests: Sequence[bytes], version: str = ""
    ) -> dict[bytes, Credential]:
        """See ``Store``.

        A standby is trusted if it has this version, because it then has every earlier revocation.
        """
        query = (
            f"SELECT t.digest, {USER_OF_TOKEN}, {TOKEN}, (SELECT mark FROM token_mark)"
            f" FROM {FROM_TOKENS} WHERE t.digest = ANY(%s)"
        )
        rows, standby = self._connections.read_nearby(
            lambda link: (link.rows(query, (list(digests),)), link.standby)
        )
        if standby:
            rows = [row for row in rows if row[-1] == version]
            missing = list(set(digests).difference(row[0] for row in rows))
            if missing:
                rows += self._rows(query, (missing,))
        return {row[0]: credential_of_row(row[1:-1]) for row in rows}

    def touch_tokens(self, used: Mapping[int, int]) -> None:
        """See ``Store``."""
        with self._connections.writing() as link:
            # Never waits for requests that hold a token (``Connections.check``): one use of it is
            # not worth a deadlock.
            rows = link.rows(
                "SELECT id FROM tokens WHERE id = ANY(%s) ORDER BY id"
                " FOR NO KEY UPDATE SKIP LOCKED",
                (list(used),),
            )
            free = [token_id for (token_id,) in rows]
            link.execute(
                "UPDATE tokens SET last_used = greatest(last_used, used.at)"
                " FROM unnest(%s::bigint[], %s::bigint[]) AS used (id, at)"
                " WHERE tokens.id = used.id",
                (free, [used[token_id] for token_id in free]),
            )


def _token(link: Link, condition: str, key: bytes | int) -> Token:
    rows = link.rows(
        f"SELECT {TOKEN} FROM {FROM_TOKENS} WHERE {condition}",
        (key,),
    )
    if not rows:
        raise NotFound("there is no such token")
    return token_of_row(rows[0])
