"""End tokens, grants and other ways to sign in, on request, when a password changes, in SQLite.

``passwords.py`` ends the sessions.
"""

from collections.abc import Collection

import apsw

from mapshelf.model import Access
from mapshelf.store.sqlite.grants import delete_grants


def end_access(
    database: apsw.Connection, user_id: int, ending: Collection[Access], now: int
) -> None:
    """End the credentials named by ``ending``; see ``contract.Passwords.set_password``."""
    if Access.PROGRAMS in ending:
        delete_grants(database, "user_id = ?", (user_id,))
        for table in ("authorization_codes", "device_requests"):
            database.execute(f"DELETE FROM {table} WHERE user_id = ?", (user_id,))
        database.execute(
            "UPDATE tokens SET revoked = ?"
            " WHERE user_id = ? AND kind = 'personal' AND revoked IS NULL",
            (now, user_id),
        )
    if Access.WAYS in ending:
        for table in ("passkeys", "identities"):
            database.execute(f"DELETE FROM {table} WHERE user_id = ?", (user_id,))
