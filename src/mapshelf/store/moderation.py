"""Moderation of maps: the rules and SQL statements that both databases share.

A hidden map is private, and its owner cannot change that: ``publishing.edit_map`` checks for the
decision. Consumers of the change feed drop it like any map that becomes private.
"""

from dataclasses import replace
from typing import Final

from mapshelf.errors import AlreadyDecided, Conflict, NotFound, TooManyReports
from mapshelf.model import (
    CLOCK_TOLERANCE,
    DAY,
    SYSTEM_USER,
    Decision,
    DecisionKind,
    Map,
    MapDraft,
    Reason,
    Report,
    ReportedMap,
    Visibility,
    about_map,
    name_key,
)
from mapshelf.store.columns import FROM_MAPS, MAP, map_of_row
from mapshelf.store.missing_maps import is_missing
from mapshelf.store.oauth import END_DEVICES
from mapshelf.store.publishing import (
    Transaction,
    find_removed_too,
    remove_map,
    require_map,
    require_user,
    undo_removal,
)
from mapshelf.store.publishing_queries import Read
from mapshelf.store.tables import Row

SETTLE_DISABLING: Final = (
    "UPDATE decisions SET user_id = NULL WHERE user_id = ? AND kind = 'disable'"
)
"""Run after a user is disabled or enabled by name. Undoing an earlier decision then has no effect
on the user, whose row is written first so that no decision is made or undone meanwhile."""

REPORTS_A_DAY: Final = 20
"""Maps that a user may report within a day."""

REPORTS_SHOWN: Final = 20
"""Reports of a map returned at once."""

_HIDDEN: Final = "SELECT 1 FROM decisions AS d WHERE d.kind = 'hide' AND d.file_id = "


# -- reports -----------------------------------------------------------------------------------


def report_map(
    database: Transaction, file_id: int, user_id: int, reason: Reason, note: str
) -> None:
    """See ``contract.Moderation``."""
    found, user = require_map(database, file_id), require_user(database, user_id)
    if name_key(found.owner) == name_key(user.name):
        raise Conflict("nobody can report a map of their own")
    known = database.rows(
        "SELECT id FROM reports WHERE file_id = ? AND user_id = ? AND decision_id IS NULL",
        (file_id, user_id),
    )
    if known:
        database.execute(
            "UPDATE reports SET reason = ?, note = ? WHERE id = ?", (reason.value, note, *known[0])
        )
        return
    refuse_many_reports(database, user_id, "reports", REPORTS_A_DAY)
    database.execute(
        "INSERT INTO reports (file_id, user_id, reason, note, created) VALUES (?, ?, ?, ?, ?)",
        (file_id, user_id, reason.value, note, database.now),
    )


def refuse_many_reports(database: Transaction, user_id: int, table: str, most: int) -> None:
    """Check that a user has reported less than ``most`` things of a table within a day.

    Raises:
        TooManyReports: the user has reported so many.
    """
    ((count, first),) = database.rows(
        # Reports in the future come from a wrong clock; the clocks of nodes differ slightly.
        f"SELECT count(*), min(created) FROM {table} WHERE user_id = ? AND created > ?"
        " AND created <= ?",
        (user_id, database.now - DAY, database.now + CLOCK_TOLERANCE),
    )
    if count >= most:
        raise TooManyReports(max(1, -((database.now - DAY - first) // 1000)))


def reported_maps(read: Read, limit: int) -> list[ReportedMap]:
    """See ``contract.Moderation``."""
    rows = read(
        f"SELECT o.reports, CASE WHEN EXISTS ({_HIDDEN} m.file_id) THEN 1 ELSE 0 END,"
        f" CASE WHEN u.disabled THEN 1 ELSE 0 END, {MAP}"
        f" FROM {FROM_MAPS} JOIN (SELECT file_id, count(*) AS reports, min(id) AS first"
        " FROM reports WHERE decision_id IS NULL GROUP BY file_id) AS o ON o.file_id = m.file_id"
        " WHERE m.visibility <> 'removed' ORDER BY o.first LIMIT ?",
        (limit,),
    )
    return [_reported(read, row) for row in rows]


def count_reported_maps(read: Read) -> int:
    """See ``contract.Moderation``."""
    ((count,),) = read(
        "SELECT count(DISTINCT r.file_id) FROM reports AS r JOIN maps AS m"
        " ON m.file_id = r.file_id WHERE r.decision_id IS NULL AND m.visibility <> 'removed'",
        (),
    )
    return int(count)


def _reported(read: Read, row: Row) -> ReportedMap:
    count, hidden, disabled, *columns = row
    found = map_of_row(columns)
    rows = read(
        "SELECT r.reason, r.note, r.created, u.name FROM reports AS r"
        " LEFT JOIN users AS u ON u.id = r.user_id"
        " WHERE r.file_id = ? AND r.decision_id IS NULL ORDER BY r.id LIMIT ?",
        (found.file_id, REPORTS_SHOWN),
    )
    reports = tuple(
        Report(Reason(reason), note, created, name) for reason, note, created, name in rows
    )
    can_be_disabled = not disabled and name_key(found.owner) != SYSTEM_USER
    return ReportedMap(found, bool(hidden), can_be_disabled, reports, count)


# -- decisions ---------------------------------------------------------------------------------


def decide(database: Transaction, file_id: int, kind: DecisionKind, user_id: int) -> Decision:
    """See ``contract.Moderation``."""
    found, administrator = require_map(database, file_id), require_user(database, user_id)
    if administrator.disabled:  # if two administrators disable each other, one remains
        raise Conflict(f"the user {administrator.name} is disabled")
    set_by_people = int("visibility" in found.set_by_people)
    disabled = None
    if kind is DecisionKind.HIDE:
        if database.rows(f"{_HIDDEN} ?", (file_id,)):
            raise AlreadyDecided("this map is hidden already")
        _set_visibility(database, found, Visibility.PRIVATE, set_by_people=True)
    elif kind is DecisionKind.DELETE:
        remove_map(database, file_id, user_id)
    elif kind is DecisionKind.DISABLE:
        disabled = _disable_owner(database, file_id, administrator.id)
    rows = database.rows(
        "INSERT INTO decisions (file_id, kind, user_id, visibility, noted, decided, decided_by)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (
            file_id,
            kind.value,
            disabled,
            found.visibility.value,
            set_by_people,
            database.now,
            user_id,
        ),
    )
    closed = database.rows(
        "UPDATE reports SET decision_id = ? WHERE file_id = ? AND decision_id IS NULL RETURNING id",
        (rows[0][0], file_id),
    )
    if kind is DecisionKind.DISMISS and not closed:
        raise AlreadyDecided("there is no report about this map any longer")
    owner = found.owner if disabled else None
    return Decision(rows[0][0], kind, found, owner, database.now, administrator.name, len(closed))


def undo_decision(database: Transaction, decision_id: int) -> Map:
    """See ``contract.Moderation``."""
    named = database.rows(
        "SELECT user_id FROM decisions WHERE id = ? AND user_id IS NOT NULL", (decision_id,)
    )
    for row in named:  # somebody may disable the user by name at this moment
        database.execute("UPDATE users SET id = id WHERE id = ?", row)
    rows = database.rows(
        "UPDATE decisions SET id = id WHERE id = ?"
        " RETURNING file_id, kind, user_id, visibility, noted",
        (decision_id,),
    )
    if not rows:
        raise NotFound("there is no such decision")
    ((file_id, kind, user_id, visibility, set_by_people),) = rows
    # If a user has reported the map again since, the newer report is kept; the older one is deleted
    # with the decision.
    database.execute(
        "UPDATE reports SET decision_id = NULL WHERE decision_id = ? AND NOT EXISTS (SELECT 1"
        " FROM reports AS r WHERE r.file_id = reports.file_id AND r.user_id = reports.user_id"
        " AND r.decision_id IS NULL)",
        (decision_id,),
    )
    database.execute("DELETE FROM decisions WHERE id = ?", (decision_id,))
    if kind == DecisionKind.HIDE:
        _undo_hiding(database, file_id, Visibility(visibility), set_by_people=bool(set_by_people))
    elif kind == DecisionKind.DELETE and _is_removed(database, file_id):
        _undo_deletion(database, file_id)
    elif kind == DecisionKind.DISABLE:
        database.execute(
            "UPDATE users SET disabled = (1 = 0) WHERE id = ? AND closed IS NULL", (user_id,)
        )
    found = find_removed_too(database, file_id)
    database.audit_entries.about(about_map(found.id))
    return found


def decisions(read: Read, limit: int, before: int) -> list[Decision]:
    """See ``contract.Moderation``."""
    rows = read(
        "SELECT d.id, d.kind, x.name, d.decided, b.name,"
        " (SELECT count(*) FROM reports AS r WHERE r.decision_id = d.id),"
        f" {MAP} FROM {FROM_MAPS} JOIN decisions AS d ON d.file_id = m.file_id"
        " JOIN users AS b ON b.id = d.decided_by LEFT JOIN users AS x ON x.id = d.user_id"
        " WHERE d.id < ? ORDER BY d.id DESC LIMIT ?",
        (before, limit),
    )
    return [
        Decision(number, DecisionKind(kind), map_of_row(row), name, decided, by, reports)
        for number, kind, name, decided, by, reports, *row in rows
    ]


def purge_decisions(database: Transaction, before: int) -> int:
    """See ``contract.Moderation``."""
    rows = database.rows(
        "DELETE FROM decisions WHERE decided < ? AND kind IN ('disable', 'dismiss') RETURNING id",
        (before,),
    )
    old = database.rows(
        "SELECT DISTINCT collection_id FROM collection_decisions"
        " WHERE decided < ? AND kind = 'dismiss' ORDER BY collection_id",
        (before,),
    )
    for row in old:  # their rows first, as in ``collection_moderation``
        database.execute("UPDATE collections SET id = id WHERE id = ?", row)
    of_collections = database.rows(
        "DELETE FROM collection_decisions WHERE decided < ? AND kind = 'dismiss' RETURNING id",
        (before,),
    )
    return len(rows) + len(of_collections)


def _disable_owner(database: Transaction, file_id: int, administrator: int) -> int:
    """Disable the owner of a map; return the id.

    Raises:
        Conflict: the owner is the administrator, ``system``, or already disabled.
    """
    ((owner, name),) = database.rows(
        "SELECT u.id, u.name FROM users AS u JOIN maps AS m ON m.owner_id = u.id"
        " WHERE m.file_id = ?",
        (file_id,),
    )
    if owner == administrator or name_key(name) == SYSTEM_USER:
        raise Conflict("nobody can disable themselves or system")
    if not database.rows(
        "UPDATE users SET disabled = (1 = 1) WHERE id = ? AND NOT disabled RETURNING id", (owner,)
    ):
        raise AlreadyDecided("this user is disabled already")
    database.execute(END_DEVICES, (owner,))
    return int(owner)


def _set_visibility(
    database: Transaction, found: Map, visibility: Visibility, *, set_by_people: bool
) -> Map:
    """Change the visibility of a map; imports preserve it if it is ``set_by_people``."""
    key = frozenset({"visibility"})
    properties = found.set_by_people | key if set_by_people else found.set_by_people - key
    changed = replace(found, visibility=visibility, set_by_people=properties)
    with database.batch(MapDraft(id=found.id)) as rows:
        rows.inheritance.forget(found.file_id)
        rows.write_map(changed, rows.user(found.owner, database.now))
    return changed


def _undo_deletion(database: Transaction, file_id: int) -> None:
    if is_missing(database.rows, file_id):  # it comes back with its file
        database.execute("DELETE FROM removed WHERE file_id = ?", (file_id,))
    else:
        undo_removal(database, file_id)


def _undo_hiding(
    database: Transaction, file_id: int, visibility: Visibility, *, set_by_people: bool
) -> None:
    found = find_removed_too(database, file_id)
    if found.visibility is Visibility.REMOVED:
        for table in ("removed", "missing"):
            database.execute(
                f"UPDATE {table} SET visibility = ? WHERE file_id = ?", (visibility.value, file_id)
            )
        visibility = Visibility.REMOVED
    _set_visibility(database, found, visibility, set_by_people=set_by_people)


def _is_removed(database: Transaction, file_id: int) -> bool:
    return bool(database.rows("SELECT 1 FROM removed WHERE file_id = ?", (file_id,)))
