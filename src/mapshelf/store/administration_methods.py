"""The methods of ``contract.Administration``, for both databases: each is one transaction."""

from contextlib import AbstractContextManager

from mapshelf.model import (
    LARGEST_ID,
    AuditEntry,
    AuditRecord,
    Decision,
    DecisionKind,
    Map,
    MapsOfClosedAccount,
    Reason,
    Report,
    ReportedMap,
    Vote,
)
from mapshelf.store import (
    account_deletion,
    audit,
    lookalikes,
    moderation,
    publishing_queries,
    user_data,
)
from mapshelf.store.shared_methods import SharedMethods


class AdministrationMethods(SharedMethods):
    """See ``contract.Administration``."""

    def report_map(self, file_id: int, user_id: int, reason: Reason, note: str) -> None:
        """See ``Store``."""
        with self._changing() as database:
            moderation.report_map(database, file_id, user_id, reason, note)

    def reported_maps(self, limit: int) -> list[ReportedMap]:
        """See ``Store``."""
        return moderation.reported_maps(self._read, limit)

    def count_reported_maps(self) -> int:
        """See ``Store``."""
        return moderation.count_reported_maps(self._read)

    def is_hidden(self, file_id: int) -> bool:
        """See ``Store``."""
        return publishing_queries.is_hidden(self._read, file_id)

    def decide(self, file_id: int, kind: DecisionKind, user_id: int) -> Decision:
        """See ``Store``."""
        with self._changing() as database:
            return moderation.decide(database, file_id, kind, user_id)

    def undo_decision(self, decision_id: int) -> Map:
        """See ``Store``."""
        with self._changing() as database:
            return moderation.undo_decision(database, decision_id)

    def decisions(self, limit: int, before: int = LARGEST_ID) -> list[Decision]:
        """See ``Store``."""
        return moderation.decisions(self._read, limit, before)

    def purge_decisions(self, before: int) -> int:
        """See ``Store``."""
        with self._changing() as database:  # as ``decide``, which locks the same rows
            return moderation.purge_decisions(database, before)

    def close_account(self, user_id: int, maps: MapsOfClosedAccount, checked: str | None) -> None:
        """See ``Store``."""
        with self._changing() as database:
            account_deletion.close_account(database, user_id, maps, checked)

    def finish_closing(self) -> bool:
        """See ``Store``."""
        if not account_deletion.is_anything_left(self._read):
            return False
        with self._changing() as database:
            return account_deletion.finish_closing(database)

    def add_skeletons(self) -> bool:
        """See ``Store``."""
        if not lookalikes.lacks_skeletons(self._read):
            return False
        with self._changing() as database:
            return lookalikes.add_skeletons(database.rows)

    def auditing(self, *entries: AuditEntry) -> AbstractContextManager[None]:
        """See ``Store``."""
        return self._audit_entries().auditing(*entries)

    def add_audit_entry(self, entry: AuditEntry) -> None:
        """See ``Store``."""
        with self._adding() as database:
            audit.write_entry(database.rows, database.now, entry)

    def audit_records(self, since: int, after: int, limit: int) -> list[AuditRecord]:
        """See ``Store``."""
        return audit.audit_records(self._read, since, after, limit)

    def audit_records_of(self, user_id: int, after: int, limit: int) -> list[AuditRecord]:
        """See ``Store``."""
        return audit.audit_records_of(self._read, user_id, after, limit)

    def purge_audit(self, before: int) -> int:
        """See ``Store``."""
        with self._adding() as database:
            return audit.purge_audit(database.rows, before)

    def maps_of(self, user_id: int, after: int, limit: int) -> list[Map]:
        """See ``Store``."""
        return user_data.maps_of(self._read, user_id, after, limit)

    def votes_of(self, user_id: int, after: int, limit: int) -> list[tuple[int, str, Vote]]:
        """See ``Store``."""
        return user_data.votes_of(self._read, user_id, after, limit)

    def reports_of(self, user_id: int, after: int, limit: int) -> list[tuple[int, str, Report]]:
        """See ``Store``."""
        return user_data.reports_of(self._read, user_id, after, limit)
