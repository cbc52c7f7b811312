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

ENDED_AT_ONCE: Final = 500
"""Rows that a statement of ``UNCOPIED`` deletes. In PostgreSQL, each deleted token changes the mark
of the tokens again, which takes the longer the more a transaction deletes: with tens of thousands,
minutes."""

UNCOPIED: Final = tuple(
    f"DELETE FROM {table} WHERE {key} IN"
    f" (SELECT {key} FROM {table} WHERE {condition} LIMIT {ENDED_AT_ONCE})"
    for table, key, condition in (
        ("one_time_links", "digest", "TRUE"),
        ("authorization_codes", "digest", "TRUE"),
        ("device_requests", "digest", "TRUE"),
        ("passkey_challenges", "digest", "TRUE"),
        ("tokens", "id", f"grant_id IS NOT NULL OR NOT ({TOKENS.transferred})"),
        ("refresh_tokens", "id", "TRUE"),
        ("grants", "id", "TRUE"),
    )
)
"""Delete some credentials that a transfer does not copy. Each statement is repeated until there are
none, then comes the next one.

Personal tokens have no grant. But a transfer of a former version gave one of them that of an access
token with the same id: it is deleted, and copied again.
"""

REVOKE: Final = "UPDATE tokens SET revoked = {now} WHERE kind = 'personal' AND revoked IS NULL"
"""Revokes all personal tokens; ``now`` is a placeholder."""
