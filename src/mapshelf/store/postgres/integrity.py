"""Check a catalogue for faults that PostgreSQL itself does not prevent."""

from typing import Final

from mapshelf.store.postgres.link import Link

CHECK_TIMEOUT: Final = 600
"""Seconds for each statement of the check: it reads whole tables."""

CHECKS: Final = (
    (
        "the feed is at revision %s, and change %s is beyond",
        "SELECT q.revision, max(c.revision) FROM sequence AS q, (SELECT revision FROM maps"
        " UNION ALL SELECT revision FROM deleted) AS c GROUP BY q.revision"
        " HAVING max(c.revision) > q.revision",
    ),
    (
        "File_ID %s is the last used, and %s is beyond",
        "SELECT q.file_id, max(c.file_id) FROM sequence AS q, (SELECT file_id FROM maps"
        " UNION ALL SELECT file_id FROM deleted) AS c GROUP BY q.file_id"
        " HAVING max(c.file_id) > q.file_id",
    ),
    (
        "map %s is there and deleted",
        "SELECT m.id FROM maps AS m JOIN deleted AS d ON d.id = m.id OR d.file_id = m.file_id",
    ),
    (
        "revision %s stands for two changes",
        "SELECT m.revision FROM maps AS m JOIN deleted AS d ON d.revision = m.revision",
    ),
    (
        "row %s of maps refers to a row of users that is not there",
        "SELECT m.file_id FROM maps AS m LEFT JOIN users AS u ON u.id = m.owner_id"
        " WHERE u.id IS NULL",
    ),
    (
        "row %s of maps refers to a row of software that is not there",
        "SELECT m.file_id FROM maps AS m LEFT JOIN software AS s ON s.id = m.software_id"
        " WHERE s.id IS NULL AND m.software_id IS NOT NULL",
    ),
    (
        "PostgreSQL has found pages with wrong checksums: %s",
        "SELECT checksum_failures FROM pg_stat_database"
        " WHERE datname = current_database() AND checksum_failures > 0",
    ),
)
"""Messages, each with a query that returns no rows for a sound database."""


def faults(link: Link) -> list[str]:
    """Return a line for every fault found."""
    link.patience = CHECK_TIMEOUT
    with link.transaction():
        link.execute(f"SET LOCAL statement_timeout = '{CHECK_TIMEOUT}s'")
        return [message % row for message, sql in CHECKS for row in link.rows(sql)]
