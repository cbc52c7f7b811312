"""Passkeys in SQLite, and the challenges that authenticators sign."""

from mapshelf.errors import AlreadyExists, NotFound
from mapshelf.model import CLOCK_TOLERANCE, Passkey
from mapshelf.store.columns import PASSKEY
from mapshelf.store.sign_in import MOST_KEYS, PASSKEYS_OF_USER, refuse_another, refuse_system
from mapshelf.store.sqlite.database import DatabaseUser
from mapshelf.store.sqlite.user_rows import keep_a_way, user_with_id
from mapshelf.store.tables import Row


class SQLitePasskeys(DatabaseUser):
    """See ``contract.Passkeys``."""

    def add_challenge(self, digest: bytes, now: int, expires: int) -> None:
        """See ``Store``."""
        with self._database.writing() as database:
            database.execute("DELETE FROM passkey_challenges WHERE expires <= ?", (now,))
            database.execute(
                "DELETE FROM passkey_challenges WHERE digest IN (SELECT digest"
                " FROM passkey_challenges ORDER BY expires DESC LIMIT -1 OFFSET ?)",
                (MOST_KEYS - 1,),
            )
            database.execute("INSERT INTO passkey_challenges VALUES (?, ?)", (digest, expires))

    def use_challenge(self, digest: bytes, now: int, lifetime: int) -> bool:
        """See ``Store``."""
        with self._database.writing() as database:
            database.execute(
                "DELETE FROM passkey_challenges WHERE digest = ? AND expires > ? AND expires <= ?",
                (digest, now, now + lifetime + CLOCK_TOLERANCE),
            )
            return database.changes() > 0

    def add_passkey(self, user_id: int, passkey: Passkey) -> None:
        """See ``Store``."""
        with self._database.writing() as database:
            user = refuse_system(user_with_id(database, user_id))
            rows: list[Row] = database.execute(
                "SELECT id FROM passkeys WHERE user_id = ?", (user_id,)
            ).fetchall()
            refuse_another(user, len(rows), PASSKEYS_OF_USER)
            database.execute(
                f"INSERT INTO passkeys ({PASSKEY}, user_id) VALUES (?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                (
                    *(passkey.id, passkey.public_key, passkey.sign_count, passkey.name),
                    *(passkey.created, passkey.last_used, user_id),
                ),
            )
            if not database.changes():
                raise AlreadyExists("this passkey is registered already")

    def note_passkey_use(self, passkey_id: bytes, sign_count: int, now: int) -> bool:
        """See ``Store``."""
        with self._database.writing() as database:
            database.execute(
                "UPDATE passkeys SET sign_count = ?1, last_used = ?2 WHERE id = ?3"
                " AND (sign_count < ?1 OR (sign_count = 0 AND ?1 = 0))",
                (sign_count, now, passkey_id),
            )
            return database.changes() > 0

    def remove_passkey(self, user_id: int, passkey_id: bytes) -> None:
        """See ``Store``."""
        with self._database.writing() as database:
            database.execute(
                "DELETE FROM passkeys WHERE id = ? AND user_id = ?", (passkey_id, user_id)
            )
            if not database.changes():
                raise NotFound("there is no such passkey")
            keep_a_way(database, user_id)
