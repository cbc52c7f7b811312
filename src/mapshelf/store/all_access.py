"""The access of everybody: the SQL statements that end it in both databases.

A catalogue that was restored from an earlier copy has the credentials of then. Some of them may
have ended since, and nobody knows which ones if the catalogue of today is lost. A catalogue that
moves back to where it was before finds its former credentials there, too.
"""

from typing import Final

from mapshelf.store.tables import TOKENS

SHORT_LIVED: Final = (
    "DELETE FROM tokens WHERE kind = 'session'",
    "DELETE FROM one_time_links",
    "DELETE FROM authorization_codes",
    "DELETE FROM device_requests",
    "DELETE FROM passkey_challenges",
)
"""Delete temporary and single-use credentials. They may have ended, or been used, since a copy was
made, and must not become valid again."""

UNCOPIED: Final = (
    *SHORT_LIVED,
    f"DELETE FROM tokens WHERE grant_id IS NOT NULL OR NOT ({TOKENS.transferred})",
    "DELETE FROM grants",
)
"""Delete all credentials that a transfer does not copy; refresh tokens go with their grants.

Personal tokens have no grant. But a transfer of a former version gave one of them that of an access
token with the same id: it is deleted, and copied again.
"""

REVOKE: Final = "UPDATE tokens SET revoked = {now} WHERE kind = 'personal' AND revoked IS NULL"
"""Revokes all personal tokens; ``now`` is a placeholder."""
