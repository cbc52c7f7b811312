"""Passkeys in PostgreSQL, and the challenges that authenticators sign.

Adding or removing a passkey first locks the row of the user, as in ``identities.py``.
"""

from mapshelf.errors import AlreadyExists, NotFound
from mapshelf.model import CLOCK_TOLERANCE, Passkey
from mapshelf.store.columns import PASSKEY
from mapshelf.store.postgres.database import DatabaseUser
from mapshelf.store.postgres.user_rows import CHANGING, keep_a_way, user_with_id
from mapshelf.store.sign_in import MOST_KEYS, PASSKEYS_OF_USER, refuse_another, refuse_system


class PostgresPasskeys(DatabaseUser):
    """See ``contract.Passkeys``."""

    def add_challenge(self, digest: bytes, now: int, expires: int) -> None:
        """See ``Store``."""
        with self._connections.writing() as link:
            link.execute(
                "DELETE FROM passkey_challenges WHERE digest IN (SELECT digest"
                " FROM passkey_challenges WHERE expires <= %s OR digest IN (SELECT digest"
                " FROM passkey_challenges ORDER BY expires DESC OFFSET %s)"
                " FOR UPDATE SKIP LOCKED)",
                (now, MOST_KEYS - 1),
            )
            link.execute("INSERT INTO passkey_challenges VALUES (%s, %s)", (digest, expires))

    def use_challenge(self, digest: bytes, now: int, lifetime: int) -> bool:
        """See ``Store``."""
        with self._connections.writing() as link:
            deleted = link.execute(
                "DELETE FROM passkey_challenges"
                " WHERE digest = %s AND expires > %s AND expires <= %s",
                (digest, now, now + lifetime + CLOCK_TOLERANCE),
            )
            return deleted.rowcount > 0

    def add_passkey(self, user_id: int, passkey: Passkey) -> None:
        """See ``Store``."""
        with self._connections.writing() as link:
            user = refuse_system(user_with_id(link, user_id, CHANGING))
            rows = link.rows("SELECT id FROM passkeys WHERE user_id = %s", (user_id,))
            refuse_another(user, len(rows), PASSKEYS_OF_USER)
            added = link.execute(
                f"INSERT INTO passkeys ({PASSKEY}, user_id) VALUES (%s, %s, %s, %s, %s, %s, %s)"
                " ON CONFLICT DO NOTHING",
                (
                    *(passkey.id, passkey.public_key, passkey.sign_count, passkey.name),
                    *(passkey.created, passkey.last_used, user_id),
                ),
            )
            if not added.rowcount:
                raise AlreadyExists("this passkey is registered already")

    def note_passkey_use(self, passkey_id: bytes, sign_count: int, now: int) -> bool:
        """See ``Store``."""
        with self._connections.writing() as link:
            noted = link.execute(
                "UPDATE passkeys SET sign_count = %s, last_used = %s WHERE id = %s"
                " AND (sign_count < %s OR (sign_count = 0 AND %s = 0))",
                (sign_count, now, passkey_id, sign_count, sign_count),
            )
            return noted.rowcount > 0

    def remove_passkey(self, user_id: int, passkey_id: bytes) -> None:
        """See ``Store``."""
        with self._connections.writing() as link:
            user_with_id(link, user_id, CHANGING)
            deleted = link.execute(
                "DELETE FROM passkeys WHERE id = %s AND user_id = %s", (passkey_id, user_id)
            )
            if not deleted.rowcount:
                raise NotFound("there is no such passkey")
            keep_a_way(link, user_id)
