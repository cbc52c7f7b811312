"""Administration: reports, decisions about them, the audit log, accounts that are deleted.

Every method is one transaction. A change of a map is one change in the feed.
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
    """Keeps what people report, and what administrators decide about that."""

    def report_map(self, file_id: int, user_id: int, reason: Reason, note: str) -> None:
        """Report a map. Of each user and map, one report is open: another replaces its words.

        Raises:
            NotFound: there is no such map, or it is removed; or there is no such user.
            Conflict: it is the user's own map.
            TooManyReports: the user has reported ``REPORTS_A_DAY`` maps within a day.
        """

    def reported_maps(self, limit: int) -> list[ReportedMap]:
        """Return up to ``limit`` maps with open reports, those first that wait longest.

        Removed maps are not among them.
        """

    def count_reported_maps(self) -> int:
        """Return how many maps have open reports."""

    def decide(self, file_id: int, kind: DecisionKind, user_id: int) -> Decision:
        """Do something about a map, which closes all its open reports.

        A hidden map is private: MUST be so for whatever follows the feed, and no import and no
        ``edit_map`` MUST change who sees it. A deleted one is removed, and no ``undo_removal`` MUST
        bring it back.

        Raises:
            NotFound: there is no such map, or it is removed; or there is no such user.
            Conflict: who decides is disabled, or would disable themselves, or ``system``.
            AlreadyDecided: somebody has done this already, or there is no report to dismiss.
        """

    def undo_decision(self, decision_id: int) -> Map:
        """Undo a decision; return its map. Its reports are open again.

        Raises:
            NotFound: there is no such decision (any longer).
        """

    def decisions(self, limit: int, before: int = LARGEST_ID) -> list[Decision]:
        """Return up to ``limit`` decisions that can be undone with ids below ``before``.

        The last comes first.
        """

    def purge_decisions(self, before: int) -> int:
        """Forget dismissals, and users that were disabled, from before this time; return how many.

        Users stay disabled. What is in force for a map is kept as long as the map.
        """


class CollectionModeration(Protocol):
    """Keeps what people report of collections, and what administrators decide about that."""

    def report_collection(self, public_id: str, user_id: int, reason: Reason, note: str) -> None:
        """Report a collection. Of each user and collection, one report is open, as of a map.

        Raises:
            NotFound: there is no such collection, or no such user.
            Conflict: it is the user's own.
            TooManyReports: the user has reported ``REPORTS_A_DAY`` collections within a day.
        """

    def reported_collections(self, limit: int) -> list[ReportedCollection]:
        """Return up to ``limit`` collections with open reports, those first that wait longest."""

    def count_reported_collections(self) -> int:
        """Return how many collections have open reports."""

    def decide_about_collection(
        self, public_id: str, kind: DecisionKind, user_id: int
    ) -> CollectionDecision:
        """Hide a collection, or dismiss what was reported of it; this closes all open reports.

        A hidden collection is private, and no ``edit_collection`` MUST change who sees it.

        Raises:
            NotFound: there is no such collection, or no such user.
            Conflict: who decides is disabled, or the kind is for maps alone.
            AlreadyDecided: it is hidden already, or there is no report to dismiss.
        """

    def undo_collection_decision(self, decision_id: str) -> Collection:
        """Undo a decision; return its collection. Its reports are open again.

        Raises:
            NotFound: there is no such decision (any longer).
        """

    def collection_decisions(self, limit: int) -> list[CollectionDecision]:
        """Return up to ``limit`` decisions that can be undone, the last first.

        ``purge_decisions`` forgets dismissals here, too.
        """

    def collection_reports_of(self, user_id: int) -> list[tuple[str, Report]]:
        """Return the reports of a user in order, each with the id of its collection."""


class AuditLog(Protocol):
    """Notes who did what to what, and from where."""

    def auditing(self, *entries: AuditEntry) -> AbstractContextManager[None]:
        """Have the calling thread note ``entries`` with what it writes in the context.

        They MUST be part of each transaction that the thread commits in the context, unless
        that changed nothing: either all is kept or nothing.
        """

    def add_audit_entry(self, entry: AuditEntry) -> None:
        """Note something that changes nothing else.

        Failures of signing in are bounded: the same ones within an hour count as one row, and only
        the newest rows are kept.
        """

    def audit_records(self, since: int, after: int, limit: int) -> list[AuditRecord]:
        """Return up to ``limit`` records from ``since`` on with an id above ``after``, ascending.

        ``since`` is in milliseconds since 1970-01-01 UTC.
        """

    def audit_records_of(self, user_id: int, after: int, limit: int) -> list[AuditRecord]:
        """Return up to ``limit`` records of what a user did with an id above ``after``."""

    def purge_audit(self, before: int) -> int:
        """Delete records from before this time, and those that are too many; return how many.

        It deletes some thousands at most: call it again as long as there are any.
        """


class ClosedAccounts(Protocol):
    """Deletes accounts."""

    def close_account(self, user_id: int, maps: MapsOfClosedAccount, checked: str | None) -> None:
        """Delete an account: nobody can sign in to it any longer.

        In the same transaction all its sessions, tokens, grants and links end. ``finish_closing``
        does the rest. Until then the name is taken.

        Args:
            user_id: id of the user.
            maps: what becomes of the maps that the user uploaded. Maps of folders and records pass
                to ``system`` always.
            checked: the encoded hash with which the password was checked, ``None`` if the user has
                none.

        Raises:
            NotFound: there is no such user, or the account is deleted.
            Conflict: it is the user ``system``, or the password has changed.
            LastAdministrator: there would be no administrator left who is not disabled.
        """

    def finish_closing(self) -> bool:
        """Do some of what is left to do of deleted accounts; tell whether there was anything.

        Votes are taken back, and counts with them. Maps are deleted, or pass to ``system`` and stay
        as they are. At the end, the user is forgotten and the name is free. MUST be cheap if there
        is nothing to do.
        """


class UserData(Protocol):
    """Finds what belongs to a user, piece by piece, for the user to take along."""

    def maps_of(self, user_id: int, after: int, limit: int) -> list[Map]:
        """Return up to ``limit`` maps of a user with a ``file_id`` above ``after``, ascending.

        Whoever sees them, and removed ones too.
        """

    def votes_of(self, user_id: int, after: int, limit: int) -> list[tuple[int, str, Vote]]:
        """Return votes of a user in the same way, each with ``file_id`` and id of its map."""

    def reports_of(self, user_id: int, after: int, limit: int) -> list[tuple[int, str, Report]]:
        """Return reports of a user by their own number, each with the id of its map."""


class Administration(
    Moderation, CollectionModeration, AuditLog, ClosedAccounts, UserData, Protocol
):
    """All that moderators and administrators need."""
