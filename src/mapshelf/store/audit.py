"""The audit log: the SQL statements that both databases share.

The size of the log is bounded. Events that anyone can repeat at will are counted in one row per
hour; only the newest failed sign-ins and the newest actions of each user are kept; and all records
expire. No user can therefore displace the records of others.
"""

from typing import Final

from mapshelf.model import HOUR, AuditEntry, AuditEvent, AuditRecord
from mapshelf.store.publishing_queries import Read
from mapshelf.store.tables import Row

REPEATED: Final = frozenset(
    {
        AuditEvent.SIGN_IN_FAILED,
        AuditEvent.TOKEN_MADE,
        AuditEvent.TOKEN_REVOKED,
        AuditEvent.MAP_CHANGED,
        AuditEvent.MAP_REPLACED,
        AuditEvent.MAP_REMOVED,
        AuditEvent.MAP_RESTORED,
        AuditEvent.MAP_REPORTED,
        AuditEvent.COLLECTION_CHANGED,
        AuditEvent.COLLECTION_REPORTED,
        AuditEvent.SEARCH_CHANGED,
        AuditEvent.DATA_EXPORTED,
    }
)
"""Events that are counted in one row if they repeat within an hour."""

MOST_FAILURES: Final = 10_000
"""Rows of failed sign-ins to keep; up to ``_CHECKED`` more may remain."""

MOST_OF_USER: Final = 50_000
"""Rows of one user's actions to keep; up to ``_CHECKED`` more may remain."""

MOST_RECORDS: Final = 1_000_000
"""Maximum number of rows in the log."""

ROWS_AT_ONCE: Final = 10_000
"""Rows deleted in one transaction, so that other writers get their turn."""

_CHECKED: Final = 100
"""New rows between two checks of these limits."""

_COLUMNS: Final = "id, at, last, count, event, target, user_id, user_name, address"


def write_entry(read: Read, at: int, entry: AuditEntry) -> None:
    """Write an entry; ``read`` runs a statement of a write transaction."""
    facts = (entry.event.value, entry.address, entry.target, entry.user_id)
    if entry.event in REPEATED and read(
        "UPDATE audit SET count = count + 1, last = ? WHERE id = (SELECT max(id) FROM audit"
        " WHERE event = ? AND address = ? AND target = ? AND user_id IS NOT DISTINCT FROM ?"
        " AND at > ?) RETURNING id",
        (at, *facts, at - HOUR),
    ):
        return
    rows = read(
        "INSERT INTO audit (event, address, target, user_id, user_name, at, last, count)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, 1) RETURNING id",
        (*facts, entry.user, at, at),
    )
    if rows[0][0] % _CHECKED:
        return
    if entry.event is AuditEvent.SIGN_IN_FAILED:
        _forget_failures(read)
    elif entry.user_id is not None:
        _forget_excess(read, entry.user_id)


def audit_records(read: Read, since: int, after: int, limit: int) -> list[AuditRecord]:
    """See ``contract.AuditLog``."""
    rows = read(
        f"SELECT {_COLUMNS} FROM audit WHERE last >= ? AND id > ? ORDER BY id LIMIT ?",
        (since, after, limit),
    )
    return [_record(row) for row in rows]


def audit_records_of(read: Read, user_id: int, after: int, limit: int) -> list[AuditRecord]:
    """See ``contract.AuditLog``."""
    rows = read(
        f"SELECT {_COLUMNS} FROM audit WHERE user_id = ? AND id > ? ORDER BY id LIMIT ?",
        (user_id, after, limit),
    )
    return [_record(row) for row in rows]


def purge_audit(read: Read, before: int) -> int:
    """See ``contract.AuditLog``."""
    old = read(
        "DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at < ? AND last < ?"
        " ORDER BY at LIMIT ?) RETURNING id",
        (before, before, ROWS_AT_ONCE),
    )
    excess = read("SELECT id FROM audit ORDER BY id DESC LIMIT 1 OFFSET ?", (MOST_RECORDS,))
    if excess:
        old += read(
            "DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE id <= ?"
            " ORDER BY id LIMIT ?) RETURNING id",
            (excess[0][0], ROWS_AT_ONCE),
        )
    return len(old)


def _forget_failures(read: Read) -> None:
    failed = "event = 'sign_in.failed'"
    oldest = read(
        f"SELECT id FROM audit WHERE {failed} ORDER BY id DESC LIMIT 1 OFFSET ?", (MOST_FAILURES,)
    )
    for (last,) in oldest:
        read(f"DELETE FROM audit WHERE {failed} AND id <= ? RETURNING id", (last,))


def _forget_excess(read: Read, user_id: int) -> None:
    oldest = read(
        "SELECT id FROM audit WHERE user_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?",
        (user_id, MOST_OF_USER),
    )
    for (last,) in oldest:
        read("DELETE FROM audit WHERE user_id = ? AND id <= ? RETURNING id", (user_id, last))


def _record(row: Row) -> AuditRecord:
    number, at, last, count, event, target, user_id, user, address = row
    entry = AuditEntry(AuditEvent(event), target, user_id, user, address)
    return AuditRecord(number, at, last, count, entry)
