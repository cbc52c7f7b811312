"""Tests of ``contract.CollectionModeration``."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from mapshelf.errors import AlreadyDecided, CollectionHidden, Conflict, NotFound, TooManyReports
from mapshelf.model import (
    DAY,
    AuditEntry,
    AuditEvent,
    Collection,
    CollectionDetails,
    DecisionKind,
    MapsOfClosedAccount,
    Reason,
    Report,
    Visibility,
)
from mapshelf.store import Store
from tests.store.clock import Clock
from tests.store.contract.publishing import PeopleSuite
from tests.store.contract.suite import ALL

PUBLISHED, PRIVATE = Visibility.PUBLISHED, Visibility.PRIVATE
HIDE, DISMISS = DecisionKind.HIDE, DecisionKind.DISMISS


def collection_of(store: Store, owner: int, title: str = "Java") -> Collection:
    return store.add_collection(owner, CollectionDetails(title, "", PUBLISHED), [])


def seen_by(store: Store, found: Collection) -> Visibility:
    after = store.find_collection(found.id)
    assert after
    return after.visibility


class CollectionModerationContract(PeopleSuite):
    """Reports of collections, and decisions about them."""

    def test_a_report_of_a_collection_waits_for_a_decision(
        self, store: Store, ann: int, bob: int, clock: Clock
    ) -> None:
        first, second = (collection_of(store, ann, title) for title in "ab")
        cat = store.add_user("cat").id
        store.report_collection(second.id, bob, Reason.SPAM, "Buy!")
        clock.now += 1
        store.report_collection(first.id, bob, Reason.OTHER, "")
        store.report_collection(second.id, bob, Reason.ILLEGAL, "no, worse")
        store.report_collection(second.id, cat, Reason.SPAM, "too")
        assert store.count_reported_collections() == 2
        one, other = store.reported_collections(10)
        assert (one.collection, other.collection) == (second, first)
        assert one.reports == (
            Report(Reason.ILLEGAL, "no, worse", clock.now - 1, "bob"),
            Report(Reason.SPAM, "too", clock.now, "cat"),
        )
        assert (one.count, one.hidden) == (2, False)
        assert store.reported_collections(1) == [one]
        assert store.collection_reports_of(bob) == [
            (second.id, Report(Reason.ILLEGAL, "no, worse", clock.now - 1, "bob")),
            (first.id, Report(Reason.OTHER, "", clock.now, "bob")),
        ]
        decision = store.decide_about_collection(second.id, DISMISS, cat)
        assert (decision.kind, decision.reports, decision.decided_by) == (DISMISS, 2, "cat")
        assert store.count_reported_collections() == 1
        assert store.collection_decisions(9) == [decision]
        with pytest.raises(AlreadyDecided):
            store.decide_about_collection(second.id, DISMISS, cat)
        assert store.undo_collection_decision(decision.id) == second
        assert store.count_reported_collections() == 2
        assert store.collection_decisions(9) == []
        assert store.check() == []

    def test_a_hidden_collection_is_private_until_that_is_undone(
        self, store: Store, ann: int, bob: int, clock: Clock
    ) -> None:
        found = collection_of(store, ann)
        store.report_collection(found.id, bob, Reason.SPAM, "old")
        decision = store.decide_about_collection(found.id, HIDE, bob)
        assert decision.collection.visibility is seen_by(store, found) is PRIVATE
        assert store.is_collection_hidden(found.id)
        with pytest.raises(CollectionHidden):
            store.edit_collection(found.id, CollectionDetails(visibility=PUBLISHED))
        named = CollectionDetails(title="Other")
        assert store.edit_collection(found.id, named).title == "Other"
        with pytest.raises(AlreadyDecided):
            store.decide_about_collection(found.id, HIDE, bob)
        store.report_collection(found.id, bob, Reason.SPAM, "new")
        (again,) = store.reported_collections(9)
        assert (again.hidden, [one.note for one in again.reports]) == (True, ["new"])
        assert store.undo_collection_decision(decision.id).visibility is PUBLISHED
        assert not store.is_collection_hidden(found.id)
        (again,) = store.reported_collections(9)
        assert [one.note for one in again.reports] == ["new"], "the newer text stays"
        assert seen_by(store, found) is PUBLISHED
        store.decide_about_collection(found.id, HIDE, bob)
        clock.now += 40 * DAY
        store.purge_decisions(clock.now - 30 * DAY)
        assert [one.kind for one in store.collection_decisions(9)] == [HIDE]
        store.remove_collection(found.id)
        assert store.collection_decisions(9) == []
        assert store.check() == []

    def test_a_hidden_collection_that_its_owner_makes_private_stays_so(
        self, store: Store, ann: int, bob: int
    ) -> None:
        found = collection_of(store, ann)
        decision = store.decide_about_collection(found.id, HIDE, bob)
        entry = AuditEntry(AuditEvent.COLLECTION_CHANGED, "c", ann, "ann", "192.0.2.1")
        for _ in range(2):  # the second time, nothing changes
            with store.auditing(entry):
                store.edit_collection(found.id, CollectionDetails(visibility=PRIVATE))
        assert [one.count for one in store.audit_records(0, 0, 10)] == [1]
        assert store.undo_collection_decision(decision.id).visibility is PRIVATE
        shown = CollectionDetails(visibility=PUBLISHED)
        assert store.edit_collection(found.id, shown).visibility is PUBLISHED

    def test_making_a_hidden_collection_private_says_nothing_about_other_hidden_ones(
        self, store: Store, ann: int, bob: int
    ) -> None:
        first, second = (collection_of(store, ann, title) for title in "ab")
        _, decision = (store.decide_about_collection(one.id, HIDE, bob) for one in (first, second))
        store.edit_collection(first.id, CollectionDetails(visibility=PRIVATE))
        assert store.undo_collection_decision(decision.id).visibility is PUBLISHED

    def test_old_dismissals_of_collections_are_forgotten(
        self, store: Store, ann: int, bob: int, clock: Clock
    ) -> None:
        found = collection_of(store, ann)
        store.report_collection(found.id, bob, Reason.SPAM, "")
        store.decide_about_collection(found.id, DISMISS, bob)
        assert store.purge_decisions(clock.now) == 0
        assert store.purge_decisions(clock.now + 1) == 1
        assert store.collection_decisions(9) == []
        assert store.collection_reports_of(bob) == []

    def test_invalid_reports_and_decisions_of_collections_are_refused(
        self, store: Store, ann: int, bob: int
    ) -> None:
        found = collection_of(store, ann)
        attempts: list[Callable[[str], object]] = [
            lambda wrong: store.report_collection(wrong, bob, Reason.SPAM, ""),
            lambda wrong: store.decide_about_collection(wrong, HIDE, bob),
            store.undo_collection_decision,
        ]
        for wrong in ("none", "\0", "", "x" * 99):
            for attempt in attempts:
                with pytest.raises(NotFound):
                    attempt(wrong)
        with pytest.raises(NotFound):
            store.report_collection(found.id, 10**9, Reason.SPAM, "")
        with pytest.raises(Conflict):
            store.report_collection(found.id, ann, Reason.SPAM, "")
        for kind in (DecisionKind.DELETE, DecisionKind.DISABLE):
            with pytest.raises(Conflict):
                store.decide_about_collection(found.id, kind, bob)
        store.disable_user("bob")
        with pytest.raises(Conflict):
            store.decide_about_collection(found.id, HIDE, bob)
        assert seen_by(store, found) is PUBLISHED
        assert store.reported_collections(9) == []

    def test_reports_of_collections_are_bounded(
        self, store: Store, ann: int, bob: int, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("mapshelf.store.collection_moderation.REPORTS_A_DAY", 2)
        some = [collection_of(store, ann, str(number)) for number in range(3)]
        for found in (*some[:2], some[0]):
            store.report_collection(found.id, bob, Reason.SPAM, "")
        with pytest.raises(TooManyReports):
            store.report_collection(some[2].id, bob, Reason.SPAM, "")
        clock.now += DAY + 1
        store.report_collection(some[2].id, bob, Reason.SPAM, "")

    def test_reports_of_collections_of_a_clock_that_was_ahead_do_not_count(
        self, store: Store, ann: int, bob: int, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("mapshelf.store.collection_moderation.REPORTS_A_DAY", 2)
        some = [collection_of(store, ann, str(number)) for number in range(4)]
        clock.now += 400 * DAY
        for found in some[:2]:
            store.report_collection(found.id, bob, Reason.SPAM, "")
        clock.now -= 400 * DAY
        for found in some[2:]:
            store.report_collection(found.id, bob, Reason.SPAM, "")
        assert store.count_reported_collections() == 4

    def test_of_two_simultaneous_hides_of_a_collection_one_succeeds(
        self, store: Store, ann: int, bob: int
    ) -> None:
        found = collection_of(store, ann)
        cat = store.add_user("cat").id

        def hidden(user: int) -> bool:
            try:
                store.decide_about_collection(found.id, HIDE, user)
            except AlreadyDecided:
                return False
            return True

        with ThreadPoolExecutor(2) as pool:
            assert sum(pool.map(hidden, (bob, cat))) == 1
        (decision,) = store.collection_decisions(9)
        assert store.undo_collection_decision(decision.id).visibility is PUBLISHED

    def test_reports_of_collections_outlive_the_account(
        self, store: Store, ann: int, bob: int
    ) -> None:
        found, own = collection_of(store, ann), collection_of(store, bob)
        store.report_collection(found.id, bob, Reason.SPAM, "stays")
        store.report_collection(own.id, ann, Reason.SPAM, "goes")
        store.close_account(bob, MapsOfClosedAccount.REMOVE, None)
        (one,) = store.reported_collections(9)
        assert [(report.note, report.reporter) for report in one.reports] == [("stays", None)]
        assert store.collection_reports_of(bob) == []

    def test_decisions_about_collections_are_in_the_audit_log(
        self, store: Store, ann: int, bob: int
    ) -> None:
        found = collection_of(store, ann)
        target = f"collection {found.id}"
        with store.auditing(AuditEntry(AuditEvent.COLLECTION_HIDDEN, target, bob)):
            decision = store.decide_about_collection(found.id, HIDE, bob)
        with store.auditing(AuditEntry(AuditEvent.DECISION_UNDONE, "", bob)):
            store.undo_collection_decision(decision.id)
        noted = [(one.entry.event, one.entry.target) for one in store.audit_records(0, 0, ALL)]
        assert noted == [
            (AuditEvent.COLLECTION_HIDDEN, target),
            (AuditEvent.DECISION_UNDONE, target),
        ]
