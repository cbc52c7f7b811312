"""The access of everybody: the SQL statements that end it in both databases.

A catalogue that was restored from an earlier copy has the credentials of then. Some of them may
have ended since, and nobody knows which ones if the catalogue of today is lost.
"""

from typing import Final

SHORT_LIVED: Final = (
    "DELETE FROM tokens WHERE kind = 'session'",
    "DELETE FROM one_time_links",
    "DELETE FROM authorization_codes",
    "DELETE FROM device_requests",
    "DELETE FROM passkey_challenges",
)
"""Delete temporary and single-use credentials. They may have ended, or been used, since a copy was
made, and must not become valid again."""

REVOKE: Final = "UPDATE tokens SET revoked = {now} WHERE kind = 'personal' AND revoked IS NULL"
"""Revokes all personal tokens; ``now`` is a placeholder."""
