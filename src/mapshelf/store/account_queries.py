"""Read accounts, sign-in data and programs: the SQL queries that both databases share."""

from mapshelf.model import (
    CLOCK_TOLERANCE,
    AuthorizationCode,
    DeviceRequest,
    Grant,
    Identity,
    OneTimeLink,
    Passkey,
    PasswordRecord,
    Program,
    Token,
    User,
    user_keys,
)
from mapshelf.store.columns import (
    FROM_TOKENS,
    IDENTITY,
    PASSKEY,
    PASSKEY_OF_USER,
    TOKEN,
    USER,
    USER_OF_TOKEN,
    link_of_row,
    token_of_row,
    user_of_row,
)
from mapshelf.store.oauth import (
    CODE,
    DEVICE,
    FROM_GRANTS,
    GRANT,
    PROGRAM,
    UNUSED,
    code_of_row,
    device_of_row,
    grant_of_row,
    program_of_row,
)
from mapshelf.store.reserved_names import RESERVED
from mapshelf.store.shared_methods import SharedMethods
from mapshelf.store.sign_in import ADDRESSES_KEPT, GOOD_LINKS


class AccountQueries(SharedMethods):
    """The read-only methods of ``contract.SignIn`` and ``contract.Programs``."""

    def password_of(self, name: str) -> PasswordRecord | None:
        """See ``Store``."""
        query = f"SELECT password, {USER} FROM users WHERE name_key = ? AND NOT {RESERVED}"
        for key in user_keys(name):
            for encoded, *user in self._read(query, (key,)):
                return PasswordRecord(user_of_row(tuple(user)), encoded)
        return None

    def invitations(self, now: int) -> list[OneTimeLink]:
        """See ``Store``."""
        rows = self._read(
            f"{GOOD_LINKS} AND l.kind = 'invitation' ORDER BY l.created, l.digest", (now,)
        )
        return [link_of_row(row, None) for row in rows]

    def sessions(self, user_id: int) -> list[Token]:
        """See ``Store``."""
        rows = self._read(
            f"SELECT {TOKEN} FROM {FROM_TOKENS} WHERE t.user_id = ? AND t.kind = 'session'"
            " ORDER BY t.id DESC",
            (user_id,),
        )
        return [token_of_row(row) for row in rows]

    def passkeys(self, user_id: int) -> list[Passkey]:
        """See ``Store``."""
        rows = self._read(
            f"SELECT {PASSKEY} FROM passkeys WHERE user_id = ? ORDER BY created, id", (user_id,)
        )
        return [Passkey(*row) for row in rows]

    def find_passkey(self, passkey_id: bytes) -> tuple[Passkey, User] | None:
        """See ``Store``."""
        rows = self._read(
            f"SELECT {PASSKEY_OF_USER}, {USER_OF_TOKEN} FROM passkeys AS p"
            " JOIN users AS u ON u.id = p.user_id WHERE p.id = ?",
            (passkey_id,),
        )
        return (Passkey(*rows[0][:6]), user_of_row(rows[0][6:])) if rows else None

    def identities(self, user_id: int) -> list[Identity]:
        """See ``Store``."""
        rows = self._read(
            f"SELECT {IDENTITY} FROM identities WHERE user_id = ?"
            " ORDER BY created, issuer, subject",
            (user_id,),
        )
        return [Identity(*row) for row in rows]

    def is_known_address(self, key: bytes, now: int) -> bool:
        """See ``Store``."""
        query = "SELECT 1 FROM known_addresses WHERE key = ? AND last > ?"
        return bool(self._read(query, (key, now - ADDRESSES_KEPT)))

    def programs(self) -> list[Program]:
        """See ``Store``."""
        rows = self._read(f"SELECT {PROGRAM} FROM programs ORDER BY created, id", ())
        return [program_of_row(row) for row in rows]

    def program(self, program_id: str) -> Program | None:
        """See ``Store``."""
        rows = self._read(f"SELECT {PROGRAM} FROM programs WHERE id = ?", (program_id,))
        return program_of_row(rows[0]) if rows else None

    def unused_programs(self, before: int) -> list[str]:
        """See ``Store``."""
        rows = self._read(UNUSED, (before, self._now() + CLOCK_TOLERANCE))
        return [str(row[0]) for row in rows]

    def code(self, digest: bytes) -> AuthorizationCode | None:
        """See ``Store``."""
        rows = self._read(f"SELECT {CODE} FROM authorization_codes WHERE digest = ?", (digest,))
        return code_of_row(rows[0]) if rows else None

    def refreshed_grant(self, digest: bytes) -> Grant | None:
        """See ``Store``."""
        rows = self._read(
            f"SELECT {GRANT} FROM {FROM_GRANTS} JOIN refresh_tokens AS r ON r.grant_id = g.id"
            " WHERE r.digest = ?",
            (digest,),
        )
        return grant_of_row(rows[0]) if rows else None

    def grants(self, user_id: int, now: int) -> list[Grant]:
        """See ``Store``."""
        rows = self._read(
            f"SELECT {GRANT} FROM {FROM_GRANTS} WHERE g.user_id = ? AND g.expires > ?"
            " ORDER BY g.id DESC",
            (user_id, now),
        )
        return [grant_of_row(row) for row in rows]

    def device_request(self, user_code: str, now: int) -> DeviceRequest | None:
        """See ``Store``."""
        rows = self._read(
            f"SELECT {DEVICE} FROM device_requests"
            " WHERE user_code = ? AND expires > ? AND user_id IS NULL AND NOT denied",
            (user_code, now),
        )
        return device_of_row(rows[0]) if rows else None
