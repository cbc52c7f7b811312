"""End the access of everybody at once: the SQL statements that both databases share.

A catalogue that was restored from an earlier copy has the credentials of then. Some of them may
have ended since, and nobody knows which ones if the catalogue of today is lost.
"""

from typing import Final

from mapshelf.store.publishing import Transaction

SHORT_LIVED: Final = (
    "DELETE FROM tokens WHERE kind = 'session'",
    "DELETE FROM one_time_links",
    "DELETE FROM authorization_codes",
    "DELETE FROM device_requests",
    "DELETE FROM passkey_challenges",
)
"""Delete temporary and single-use credentials. They may have ended, or been used, since a copy was
made, and must not become valid again."""

_LASTING: Final = (
    "DELETE FROM tokens WHERE kind <> 'personal'",
    "DELETE FROM grants",
)


def end_all_access(database: Transaction, *, tokens: bool) -> None:
    """See ``contract.AccessOfAll``."""
    for statement in SHORT_LIVED:
        database.execute(statement)
    if tokens:
        for statement in _LASTING:
            database.execute(statement)
        database.execute("UPDATE tokens SET revoked = ? WHERE revoked IS NULL", (database.now,))
