"""Moderation of collections: the rules and SQL statements that both databases share.

Like a hidden map, a hidden collection is private and has a decision; ``map_collections`` checks for
one before it changes the visibility. Reports and decisions first write the row of the collection,
which serializes concurrent ones.
"""

from typing import Final

from mapshelf.errors import AlreadyDecided, Conflict, NotFound
from mapshelf.model import (
    Collection,
    CollectionDecision,
    DecisionKind,
    Reason,
    Report,
    ReportedCollection,
    Visibility,
    about_collection,
    is_public_id,
    name_key,
)
from mapshelf.store.map_collections import (
    COLLECTION,
    FROM_COLLECTIONS,
    collection_of_row,
    is_hidden,
    lock_collection,
    require_collection,
)
from mapshelf.store.moderation import REPORTS_A_DAY, REPORTS_SHOWN, refuse_many_reports
from mapshelf.store.publishing import Transaction, free_id, require_user
from mapshelf.store.shared_methods import SharedMethods
from mapshelf.store.tables import Row

_OF_COLLECTION: Final = len(Collection.__dataclass_fields__)
"""The columns of a collection in a query result."""


class CollectionModerationMethods(SharedMethods):
    """See ``contract.CollectionModeration``; each method is one transaction."""

    def report_collection(self, public_id: str, user_id: int, reason: Reason, note: str) -> None:
        """See ``Store``."""
        with self._adding() as database:
            _report(database, public_id, user_id, reason, note)

    def reported_collections(self, limit: int) -> list[ReportedCollection]:
        """See ``Store``."""
        rows = self._read(
            f"SELECT {COLLECTION}, r.reports FROM {FROM_COLLECTIONS}"
            " JOIN (SELECT collection_id, count(*) AS reports, min(created) AS first"
            " FROM collection_reports WHERE decision_id IS NULL GROUP BY collection_id) AS r"
            " ON r.collection_id = c.id ORDER BY r.first, c.id LIMIT ?",
            (limit,),
        )
        return [self._reported(row) for row in rows]

    def count_reported_collections(self) -> int:
        """See ``Store``."""
        ((count,),) = self._read(
            "SELECT count(DISTINCT collection_id) FROM collection_reports"
            " WHERE decision_id IS NULL",
            (),
        )
        return int(count)

    def is_collection_hidden(self, public_id: str) -> bool:
        """See ``Store``."""
        return is_hidden(self._read, public_id)

    def decide_about_collection(
        self, public_id: str, kind: DecisionKind, user_id: int
    ) -> CollectionDecision:
        """See ``Store``."""
        with self._adding() as database:
            return _decide(database, public_id, kind, user_id)

    def undo_collection_decision(self, decision_id: str) -> Collection:
        """See ``Store``."""
        with self._adding() as database:
            return _undo(database, decision_id)

    def collection_decisions(self, limit: int) -> list[CollectionDecision]:
        """See ``Store``."""
        rows = self._read(
            f"SELECT {COLLECTION}, d.id, d.kind, d.decided, b.name,"
            " (SELECT count(*) FROM collection_reports AS r WHERE r.decision_id = d.id)"
            f" FROM {FROM_COLLECTIONS} JOIN collection_decisions AS d ON d.collection_id = c.id"
            " JOIN users AS b ON b.id = d.decided_by ORDER BY d.decided DESC, d.id LIMIT ?",
            (limit,),
        )
        return [_decision_of_row(row) for row in rows]

    def collection_reports_of(self, user_id: int) -> list[tuple[str, Report]]:
        """See ``Store``."""
        rows = self._read(
            "SELECT r.collection_id, r.reason, r.note, r.created, u.name"
            " FROM collection_reports AS r JOIN users AS u ON u.id = r.user_id"
            " WHERE r.user_id = ? ORDER BY r.created, r.id",
            (user_id,),
        )
        return [(row[0], _report_of_row(row[1:])) for row in rows]

    def _reported(self, row: Row) -> ReportedCollection:
        found, count = collection_of_row(row[:_OF_COLLECTION]), row[_OF_COLLECTION]
        rows = self._read(
            "SELECT r.reason, r.note, r.created, u.name FROM collection_reports AS r"
            " LEFT JOIN users AS u ON u.id = r.user_id"
            " WHERE r.collection_id = ? AND r.decision_id IS NULL"
            " ORDER BY r.created, r.id LIMIT ?",
            (found.id, REPORTS_SHOWN),
        )
        reports = tuple(_report_of_row(one) for one in rows)
        return ReportedCollection(found, is_hidden(self._read, found.id), reports, int(count))


def _report(database: Transaction, public_id: str, user_id: int, reason: Reason, note: str) -> None:
    found, user = lock_collection(database, public_id), require_user(database, user_id)
    if name_key(found.owner) == name_key(user.name):
        raise Conflict("nobody can report a collection of their own")
    changed = database.rows(
        "UPDATE collection_reports SET reason = ?, note = ?"
        " WHERE collection_id = ? AND user_id = ? AND decision_id IS NULL RETURNING id",
        (reason.value, note, public_id, user_id),
    )
    if changed:
        return
    refuse_many_reports(database, user_id, "collection_reports", REPORTS_A_DAY)
    report_id = free_id(database, "collection_reports")
    database.execute(
        "INSERT INTO collection_reports (id, collection_id, user_id, reason, note, created)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (report_id, public_id, user_id, reason.value, note, database.now),
    )


def _decide(
    database: Transaction, public_id: str, kind: DecisionKind, user_id: int
) -> CollectionDecision:
    found, administrator = lock_collection(database, public_id), require_user(database, user_id)
    if administrator.disabled:
        raise Conflict(f"the user {administrator.name} is disabled")
    if kind not in (DecisionKind.HIDE, DecisionKind.DISMISS):
        raise Conflict("a collection is hidden, or its reports are dismissed")
    if kind is DecisionKind.HIDE:
        if is_hidden(database.rows, public_id):
            raise AlreadyDecided("this collection is hidden already")
        _set_visibility(database, public_id, Visibility.PRIVATE)
    decision_id = free_id(database, "collection_decisions")
    database.execute(
        "INSERT INTO collection_decisions (id, collection_id, kind, visibility, decided,"
        " decided_by) VALUES (?, ?, ?, ?, ?, ?)",
        (decision_id, public_id, kind.value, found.visibility.value, database.now, user_id),
    )
    closed = database.rows(
        "UPDATE collection_reports SET decision_id = ?"
        " WHERE collection_id = ? AND decision_id IS NULL RETURNING id",
        (decision_id, public_id),
    )
    if kind is DecisionKind.DISMISS and not closed:
        raise AlreadyDecided("there is no report about this collection any longer")
    after = require_collection(database, public_id)
    return CollectionDecision(
        decision_id, kind, after, database.now, administrator.name, len(closed)
    )


def _undo(database: Transaction, decision_id: str) -> Collection:
    rows = (
        database.rows("SELECT collection_id FROM collection_decisions WHERE id = ?", (decision_id,))
        if is_public_id(decision_id)
        else []
    )
    if not rows:
        raise NotFound("there is no such decision")
    ((public_id,),) = rows
    lock_collection(database, public_id)
    # If a user has reported again since, the newer report is kept.
    database.execute(
        "UPDATE collection_reports SET decision_id = NULL WHERE decision_id = ? AND NOT EXISTS"
        " (SELECT 1 FROM collection_reports AS r"
        " WHERE r.collection_id = collection_reports.collection_id"
        " AND r.user_id = collection_reports.user_id AND r.decision_id IS NULL)",
        (decision_id,),
    )
    # Only now: until it is locked, its owner may make it private for good.
    gone = database.rows(
        "DELETE FROM collection_decisions WHERE id = ? RETURNING kind, visibility", (decision_id,)
    )
    if not gone:
        raise NotFound("there is no such decision")
    ((kind, visibility),) = gone
    if kind == DecisionKind.HIDE:
        _set_visibility(database, public_id, Visibility(visibility))
    database.audit_entries.about(about_collection(public_id))
    return require_collection(database, public_id)


def _set_visibility(database: Transaction, public_id: str, visibility: Visibility) -> None:
    database.execute(
        "UPDATE collections SET visibility = ? WHERE id = ?", (visibility.value, public_id)
    )


def _report_of_row(row: Row) -> Report:
    reason, note, created, name = row
    return Report(Reason(reason), note, created, name)


def _decision_of_row(row: Row) -> CollectionDecision:
    found = collection_of_row(row[:_OF_COLLECTION])
    number, kind, decided, by, reports = row[_OF_COLLECTION:]
    return CollectionDecision(number, DecisionKind(kind), found, decided, by, int(reports))
