"""End tokens, grants and other ways to sign in, on request, when a password changes, in PostgreSQL.

``passwords.py`` ends the sessions. The caller has locked the row of the user; grants come before
codes and tokens, as in ``grants.py``.
"""

from collections.abc import Collection

from mapshelf.model import Access
from mapshelf.store.postgres.grants import delete_grants
from mapshelf.store.postgres.link import Link


def end_access(link: Link, user_id: int, ending: Collection[Access], now: int) -> None:
    """End the credentials named by ``ending``; see ``contract.Passwords.set_password``."""
    if Access.PROGRAMS in ending:
        delete_grants(link, "user_id = %s", (user_id,))
        for table in ("authorization_codes", "device_requests"):
            link.execute(
                f"DELETE FROM {table} WHERE digest IN (SELECT digest FROM {table}"
                " WHERE user_id = %s ORDER BY digest FOR UPDATE)",
                (user_id,),
            )
        link.execute(
            "UPDATE tokens SET revoked = %s WHERE id IN (SELECT id FROM tokens WHERE user_id = %s"
            " AND kind = 'personal' AND revoked IS NULL ORDER BY id FOR UPDATE)",
            (now, user_id),
        )
    if Access.WAYS in ending:
        for table in ("passkeys", "identities"):
            link.execute(f"DELETE FROM {table} WHERE user_id = %s", (user_id,))
