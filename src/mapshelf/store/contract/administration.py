"""Administration: reports, moderation decisions, the audit log, and account deletion.

Every method is one transaction. A change to a map is one change in the feed.
"""

from contextlib import AbstractContextManager
from typing import Protocol

from mapshelf.model import (
    LARGEST_ID,
    AuditEntry,
    AuditRecord,
    Collection,
    CollectionDecision,
    Decision,
    DecisionKind,
    Map,
    MapsOfClosedAccount,
    Reason,
    Report,
    ReportedCollection,
    ReportedMap,
    Vote,
)


class Moderation(Protocol):
    """Stores reports of maps, and the decisions of administrators about them."""

    def report_map(self, file_id: int, user_id: int, reason: Reason, note: str) -> None:
        """Report a map. A user has one open report per map; another report replaces it.

        Raises:
            NotFound: there is no such map, or it is removed; or there is no such user.
            Conflict: it is the user's own map.
            TooManyReports: the user has reported ``REPORTS_A_DAY`` maps within a day.
        """

    def reported_maps(self, limit: int) -> list[ReportedMap]:
        """Return up to ``limit`` maps with open reports, longest waiting first.

        Removed maps are left out.
        """

    def count_reported_maps(self) -> int:
        """Return how many maps have open reports."""

    def is_hidden(self, file_id: int) -> bool:
        """Return whether an administrator has hidden this map."""

    def decide(self, file_id: int, kind: DecisionKind, user_id: int) -> Decision:
        """Apply a decision to a map and close all its open reports.

        A hidden map is private. Consumers of the feed MUST see it as such, and imports and
        ``edit_map`` MUST NOT change its visibility. A deleted map is removed, and ``undo_removal``
        MUST NOT restore it.

        Raises:
            NotFound: there is no such map, or it is removed; or there is no such user.
            Conflict: the administrator is disabled, or would disable themselves or ``system``.
            AlreadyDecided: this decision is already in force, or there is no report to dismiss.
        """

    def undo_decision(self, decision_id: int) -> Map:
        """Undo a decision and reopen its reports; return its map.

        Raises:
            NotFound: the decision does not exist or was purged.
        """

    def decisions(self, limit: int, before: int = LARGEST_ID) -> list[Decision]:
        """Return up to ``limit`` decisions that can be undone, with ids below ``before``.

        The newest comes first.
        """

    def purge_decisions(self, before: int) -> int:
        """Delete dismissals and user bans from before this time; return how many were deleted.

        Users stay disabled. A decision in force for a map is kept as long as the map exists.
        """


class CollectionModeration(Protocol):
    """Stores reports of collections, and the decisions of administrators about them."""

    def report_collection(self, public_id: str, user_id: int, reason: Reason, note: str) -> None:
        """Report a collection. As for maps, a user has one open report per collection.

        Raises:
            NotFound: there is no such collection, or no such user.
            Conflict: it is the user's own.
            TooManyReports: the user has reported ``REPORTS_A_DAY`` collections within a day.
        """

    def reported_collections(self, limit: int) -> list[ReportedCollection]:
        """Return up to ``limit`` collections with open reports, longest waiting first."""

    def count_reported_collections(self) -> int:
        """Return how many collections have open reports."""

    def is_collection_hidden(self, public_id: str) -> bool:
        """Return whether an administrator has hidden this collection."""

    def decide_about_collection(
        self, public_id: str, kind: DecisionKind, user_id: int
    ) -> CollectionDecision:
        """Hide a collection or dismiss its reports; either closes all its open reports.

        A hidden collection is private, and ``edit_collection`` MUST NOT change its visibility. If
        that says it is private, it stays so when the decision is undone.

        Raises:
            NotFound: there is no such collection, or no such user.
            Conflict: the administrator is disabled, or the kind applies only to maps.
            AlreadyDecided: it is already hidden, or there is no report to dismiss.
        """

    def undo_collection_decision(self, decision_id: str) -> Collection:
        """Undo a decision and reopen its reports; return its collection.

        Raises:
            NotFound: the decision does not exist or was purged.
        """

    def collection_decisions(self, limit: int) -> list[CollectionDecision]:
        """Return up to ``limit`` decisions that can be undone, newest first.

        ``purge_decisions`` deletes dismissals of collection reports, too.
        """

    def collection_reports_of(self, user_id: int) -> list[tuple[str, Report]]:
        """Return the reports by a user in order, each with the id of its collection."""


class AuditLog(Protocol):
    """Records who did what, to what, and from where."""

    def auditing(self, *entries: AuditEntry) -> AbstractContextManager[None]:
        """Record ``entries`` with every transaction of the calling thread in this context.

        They MUST be part of each transaction that the thread commits in the context, unless it
        changed nothing: either all of it is stored or nothing.
        """

    def add_audit_entry(self, entry: AuditEntry) -> None:
        """Record an event that changes nothing else.

        Failed sign-ins are bounded: identical ones within an hour share one row, and only the
        newest rows are kept.
        """

    def audit_records(self, since: int, after: int, limit: int) -> list[AuditRecord]:
        """Return up to ``limit`` records since ``since`` with an id above ``after``, ascending.

        ``since`` is in milliseconds since 1970-01-01 UTC.
        """

    def audit_records_of(self, user_id: int, after: int, limit: int) -> list[AuditRecord]:
        """Return up to ``limit`` records of a user's actions, with an id above ``after``."""

    def purge_audit(self, before: int) -> int:
        """Delete records from before this time and those over the limit; return how many.

        Each call deletes at most a few thousand: repeat it until it returns 0.
        """


class ClosedAccounts(Protocol):
    """Deletes accounts."""

    def close_account(self, user_id: int, maps: MapsOfClosedAccount, checked: str | None) -> None:
        """Close an account, so that sign-in is no longer possible.

        The same transaction ends all its sessions, tokens, grants and links. ``finish_closing``
        completes the deletion. Until then the name stays reserved.

        Args:
            user_id: id of the user.
            maps: what to do with the maps that the user uploaded. Maps from folders and records are
                always transferred to ``system``.
            checked: the encoded hash that the password was checked against, ``None`` if the user
                has no password.

        Raises:
            NotFound: there is no such user, or the account is deleted.
            Conflict: the user is ``system``, or the password has changed.
            LastAdministrator: no enabled administrator would remain.
        """

    def finish_closing(self) -> bool:
        """Process part of the remaining work for closed accounts; return whether there was any.

        Votes are withdrawn and the counts adjusted. Maps are deleted, or transferred to ``system``
        unchanged. Finally the user is erased and the name released.

        But if the user owned maps that were not uploaded, the name MUST be reserved from the moment
        when no map has it: an import may name the user again. Nobody can register a reserved name,
        or one that looks like it (``Passwords.register``); nobody has it, and it is not listed.
        Imports that name it as an owner mean ``SYSTEM_USER``. ``Accounts.add_user`` can give it
        away.

        MUST be cheap if there is nothing to do.
        """


class UserNames(Protocol):
    """Prepares the check that new names do not look like those of users."""

    def add_skeletons(self) -> bool:
        """Note what the names of some users look like; return whether it was not noted of any.

        After an upgrade, the next registration would do it for all. MUST be cheap if there is
        nothing to do.
        """


class UserData(Protocol):
    """Reads the data of a user in pages, for an export."""

    def maps_of(self, user_id: int, after: int, limit: int) -> list[Map]:
        """Return up to ``limit`` maps of a user with a ``file_id`` above ``after``, ascending.

        Includes maps of any visibility and removed maps.
        """

    def votes_of(self, user_id: int, after: int, limit: int) -> list[tuple[int, str, Vote]]:
        """Return votes of a user, paged like ``maps_of``, with ``file_id`` and id of each map."""

    def reports_of(self, user_id: int, after: int, limit: int) -> list[tuple[int, str, Report]]:
        """Return reports by a user, paged by report number, each with the id of its map."""


class Administration(
    Moderation, CollectionModeration, AuditLog, ClosedAccounts, UserNames, UserData, Protocol
):
    """All administration protocols."""
