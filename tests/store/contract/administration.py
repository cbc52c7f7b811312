"""Tests of ``contract.Administration``: reports, decisions, audit log, deleted accounts."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest

from mapshelf.errors import (
    AlreadyDecided,
    AlreadyExists,
    Conflict,
    LastAdministrator,
    MapDeleted,
    MapHidden,
    MapshelfError,
    NotFound,
    TooManyReports,
)
from mapshelf.model import (
    CLOCK_TOLERANCE,
    DAY,
    HOUR,
    SYSTEM_USER,
    AuditEntry,
    AuditEvent,
    DecisionKind,
    LinkKind,
    MapDetails,
    MapsOfClosedAccount,
    Reason,
    Report,
    Role,
    Visibility,
    Vote,
)
from mapshelf.store import Store
from mapshelf.store.audit import MOST_FAILURES
from mapshelf.store.moderation import REPORTS_A_DAY
from tests.store.clock import Clock
from tests.store.contract.oauth import PROGRAM, code, let_in, tokens
from tests.store.contract.publishing import PeopleSuite, published
from tests.store.contract.sign_in import add_link, all_at_once, begin, digest, known
from tests.store.contract.suite import ALL, Open, present, put, title
from tests.store.drafts import source, upload

HIDE, DELETE, DISABLE, DISMISS = DecisionKind
REMOVE, PASS_ON = MapsOfClosedAccount


def finish(store: Store) -> None:
    while store.finish_closing():
        pass


def named(store: Store, name: str) -> int:
    (user,) = (one.id for one in store.users() if one.name == name)
    return user


def entries(store: Store) -> list[AuditEntry]:
    return [record.entry for record in store.audit_records(0, 0, ALL)]


class ReportsContract(PeopleSuite):
    """Reports of maps."""

    def test_a_report_waits_for_a_decision(
        self, store: Store, ann: int, bob: int, clock: Clock
    ) -> None:
        first, second = (published(store, ann, upload(name)) for name in "ab")
        revision = store.revision()
        store.report_map(second.file_id, bob, Reason.SPAM, "Buy!")
        store.report_map(first.file_id, bob, Reason.OTHER, "")
        store.report_map(second.file_id, named(store, SYSTEM_USER), Reason.ILLEGAL, "so")
        assert store.count_reported_maps() == 2
        one, other = store.reported_maps(10)
        assert (one.map, other.map) == (second, first)
        assert one.reports == (
            Report(Reason.SPAM, "Buy!", clock.now, "bob"),
            Report(Reason.ILLEGAL, "so", clock.now, SYSTEM_USER),
        )
        assert (one.count, one.hidden, one.owner_can_be_disabled) == (2, False, True)
        assert store.reported_maps(1) == [one]
        assert store.revision() == revision

    def test_another_report_of_the_same_user_replaces_the_text(
        self, store: Store, ann: int, bob: int
    ) -> None:
        found = published(store, ann)
        store.report_map(found.file_id, bob, Reason.SPAM, "a")
        store.report_map(found.file_id, bob, Reason.PRIVACY, "b")
        (reported,) = store.reported_maps(10)
        assert [(one.reason, one.note) for one in reported.reports] == [(Reason.PRIVACY, "b")]

    def test_invalid_reports_are_refused(self, store: Store, ann: int, bob: int) -> None:
        found = published(store, ann)
        with pytest.raises(Conflict, match="own"):
            store.report_map(found.file_id, ann, Reason.SPAM, "")
        for file_id, user in ((99, bob), (found.file_id, 99)):
            with pytest.raises(NotFound):
                store.report_map(file_id, user, Reason.SPAM, "")
        store.remove_map(found.file_id, ann)
        with pytest.raises(NotFound):
            store.report_map(found.file_id, bob, Reason.SPAM, "")
        assert store.reported_maps(10) == []

    def test_reports_of_a_user_are_limited(self, store: Store, bob: int, clock: Clock) -> None:
        maps = [put(store, title(f"t{number}")) for number in range(REPORTS_A_DAY + 1)]
        for found in maps[:-1]:
            store.report_map(found.file_id, bob, Reason.SPAM, "")
            clock.now += 1000
        store.report_map(maps[0].file_id, bob, Reason.SPAM, "more words are no more reports")
        with pytest.raises(TooManyReports) as raised:
            store.report_map(maps[-1].file_id, bob, Reason.SPAM, "")
        clock.now += raised.value.retry_after * 1000 - 1000
        with pytest.raises(TooManyReports):
            store.report_map(maps[-1].file_id, bob, Reason.SPAM, "")
        clock.now += 1000
        store.report_map(maps[-1].file_id, bob, Reason.SPAM, "")
        assert store.count_reported_maps() == REPORTS_A_DAY + 1

    def test_reports_of_a_clock_that_was_ahead_do_not_count(
        self, store: Store, bob: int, clock: Clock
    ) -> None:
        maps = [put(store, title(f"t{number}")) for number in range(2 * REPORTS_A_DAY)]
        clock.now += 400 * DAY
        for found in maps[:REPORTS_A_DAY]:
            store.report_map(found.file_id, bob, Reason.SPAM, "")
        clock.now -= 400 * DAY
        store.report_map(maps[-1].file_id, bob, Reason.SPAM, "")
        assert store.count_reported_maps() == REPORTS_A_DAY + 1

    def test_reports_of_a_clock_that_is_slightly_ahead_count(
        self, store: Store, bob: int, clock: Clock
    ) -> None:
        maps = [put(store, title(f"t{number}")) for number in range(REPORTS_A_DAY + 1)]
        clock.now += CLOCK_TOLERANCE
        for found in maps[:-1]:
            store.report_map(found.file_id, bob, Reason.SPAM, "")
        clock.now -= CLOCK_TOLERANCE
        with pytest.raises(TooManyReports):
            store.report_map(maps[-1].file_id, bob, Reason.SPAM, "")

    def test_reports_of_removed_maps_wait_with_them(self, store: Store, ann: int, bob: int) -> None:
        found = published(store, ann)
        store.report_map(found.file_id, bob, Reason.SPAM, "")
        store.remove_map(found.file_id, ann)
        assert (store.reported_maps(10), store.count_reported_maps()) == ([], 0)
        store.undo_removal(found.file_id)
        assert len(store.reported_maps(10)) == store.count_reported_maps() == 1


class DecisionsContract(PeopleSuite):
    """Decisions of administrators about reports."""

    @pytest.mark.parametrize("visibility", [Visibility.PUBLISHED, Visibility.UNLISTED])
    @pytest.mark.parametrize("noted", [False, True])
    def test_a_hidden_map_is_private_until_that_is_undone(
        self, store: Store, bob: int, clock: Clock, visibility: Visibility, noted: bool
    ) -> None:
        found = put(store, title("t", id="t", owner="ann", visibility=visibility))
        if noted:
            found = store.edit_map(found.file_id, MapDetails(visibility=visibility))
        store.report_map(found.file_id, bob, Reason.SPAM, "")
        decision = store.decide(found.file_id, HIDE, bob)
        assert store.decisions(10) == [replace(decision, map=present(store)["t"])]
        assert (decision.decided, decision.decided_by, decision.reports) == (clock.now, "bob", 1)
        assert store.reported_maps(10) == []
        assert store.changes(0, ALL)[-1].map is None
        assert present(store)["t"].visibility is Visibility.PRIVATE
        assert store.is_hidden(found.file_id)
        for shown in (Visibility.PUBLISHED, Visibility.UNLISTED):
            with pytest.raises(MapHidden):
                store.edit_map(found.file_id, MapDetails(visibility=shown, title="x"))
            store.put_maps([title("t", id="t", visibility=shown)])
        edited = store.edit_map(found.file_id, MapDetails(tags=("x",)))
        assert edited.visibility is Visibility.PRIVATE
        with pytest.raises(AlreadyDecided):
            store.decide(found.file_id, HIDE, bob)
        back = store.undo_decision(decision.id)
        settled = found.set_by_people | {"tags"} if noted else {"tags"}
        assert back == replace(found, tags=("x",), set_by_people=frozenset(settled))
        assert store.find_map("t") == back
        assert not store.is_hidden(found.file_id)
        assert len(store.reported_maps(10)) == 1
        with pytest.raises(NotFound):
            store.undo_decision(decision.id)

    def test_a_hidden_map_that_its_owner_makes_private_stays_so(
        self, store: Store, ann: int, bob: int
    ) -> None:
        found = published(store, ann)
        decision = store.decide(found.file_id, HIDE, bob)
        entry = AuditEntry(AuditEvent.MAP_CHANGED, "map", ann, "ann", "192.0.2.1")
        for _ in range(2):  # the second time, nothing changes
            with store.auditing(entry):
                store.edit_map(found.file_id, MapDetails(visibility=Visibility.PRIVATE))
        assert [one.count for one in store.audit_records(0, 0, 10)] == [1]
        back = store.undo_decision(decision.id)
        assert back.visibility is Visibility.PRIVATE
        assert "visibility" in back.set_by_people
        store.edit_map(found.file_id, MapDetails(visibility=Visibility.PUBLISHED))

    def test_making_a_hidden_map_private_says_nothing_about_other_hidden_maps(
        self, store: Store, ann: int, bob: int
    ) -> None:
        first, second = (published(store, ann, upload(name)) for name in "ab")
        _, decision = (store.decide(one.file_id, HIDE, bob) for one in (first, second))
        store.edit_map(first.file_id, MapDetails(visibility=Visibility.PRIVATE))
        back = store.undo_decision(decision.id)
        assert (back.visibility, back.set_by_people) == (second.visibility, second.set_by_people)

    def test_a_hidden_map_that_its_owner_removes_comes_back_hidden(
        self, store: Store, ann: int, bob: int
    ) -> None:
        found = published(store, ann)
        decision = store.decide(found.file_id, HIDE, bob)
        store.remove_map(found.file_id, ann)
        assert store.undo_removal(found.file_id).visibility is Visibility.PRIVATE
        store.remove_map(found.file_id, ann)
        assert store.undo_decision(decision.id).visibility is Visibility.REMOVED
        assert store.undo_removal(found.file_id).visibility is Visibility.PUBLISHED

    def test_a_deleted_map_comes_back_by_its_decision_alone(
        self, store: Store, ann: int, bob: int
    ) -> None:
        found = published(store, ann)
        store.report_map(found.file_id, bob, Reason.SPAM, "")
        decision = store.decide(found.file_id, DELETE, bob)
        assert store.find_map(found.id) is None
        assert store.reported_maps(10) == []
        with pytest.raises(MapDeleted):
            store.undo_removal(found.file_id)
        with pytest.raises(NotFound):
            store.decide(found.file_id, HIDE, bob)
        assert store.undo_decision(decision.id) == found
        assert store.find_map(found.id) == found
        assert store.count_reported_maps() == 1

    def test_a_purged_map_takes_its_decisions_along(
        self, store: Store, ann: int, bob: int, clock: Clock
    ) -> None:
        found = published(store, ann)
        store.report_map(found.file_id, bob, Reason.SPAM, "")
        store.decide(found.file_id, DELETE, bob)
        assert store.purge_removed(clock.now + 1) == 1
        assert store.decisions(10) == []
        assert store.check() == []

    def test_an_owner_is_disabled_and_enabled_again(self, store: Store, ann: int, bob: int) -> None:
        found = published(store, ann)
        store.report_map(found.file_id, bob, Reason.SPAM, "")
        version = store.tokens_version()
        decision = store.decide(found.file_id, DISABLE, bob)
        assert decision.user == "ann"
        assert store.tokens_version() != version
        assert [one.disabled for one in store.users() if one.id == ann] == [True]
        assert store.find_map(found.id) == found
        with pytest.raises(AlreadyDecided):
            store.decide(found.file_id, DISABLE, bob)
        store.report_map(found.file_id, bob, Reason.SPAM, "again")
        assert not store.reported_maps(10)[0].owner_can_be_disabled
        store.undo_decision(decision.id)
        assert [one.disabled for one in store.users() if one.id == ann] == [False]

    @pytest.mark.parametrize("enabled", [False, True])
    def test_a_user_who_was_disabled_by_name_stays_so_if_an_older_decision_is_undone(
        self, store: Store, ann: int, bob: int, enabled: bool
    ) -> None:
        found = published(store, ann)
        decision = store.decide(found.file_id, DISABLE, bob)
        if enabled:
            store.enable_user("ann")
            store.decide(found.file_id, DISABLE, bob)
        else:
            store.disable_user("ann")
        store.undo_decision(decision.id)
        assert [one.disabled for one in store.users() if one.id == ann] == [True]
        assert store.check() == []

    def test_disabling_a_user_by_name_says_nothing_about_decisions_about_others(
        self, store: Store, ann: int, bob: int
    ) -> None:
        cat = store.add_user("cat").id
        decision = store.decide(published(store, ann).file_id, DISABLE, bob)
        store.decide(published(store, cat, upload("of cat")).file_id, DISABLE, bob)
        store.disable_user("cat")
        assert [one.user for one in store.decisions(9)] == [None, "ann"]
        store.undo_decision(decision.id)
        assert [one.name for one in store.users() if one.disabled] == ["cat"]

    def test_nobody_disables_themselves_or_system(self, store: Store, ann: int, bob: int) -> None:
        own, ours = published(store, ann), put(store, title("t"))
        for found in (own, ours):
            store.report_map(found.file_id, bob, Reason.SPAM, "")
            with pytest.raises(Conflict):
                store.decide(found.file_id, DISABLE, ann)
        assert store.decisions(10) == []
        assert store.count_reported_maps() == 2
        assert not any(one.disabled for one in store.users())

    def test_two_administrators_cannot_disable_each_other(
        self, store: Store, ann: int, bob: int
    ) -> None:
        hers, his = (published(store, user, upload(str(user))) for user in (ann, bob))
        store.decide(his.file_id, DISABLE, ann)
        with pytest.raises(Conflict, match="bob is disabled"):
            store.decide(hers.file_id, DISABLE, bob)
        assert [one.disabled for one in store.users() if one.id == ann] == [False]

    def test_reports_are_dismissed_once(self, store: Store, ann: int, bob: int) -> None:
        found = published(store, ann)
        store.report_map(found.file_id, bob, Reason.SPAM, "")
        revision = store.revision()
        decision = store.decide(found.file_id, DISMISS, ann)
        with pytest.raises(AlreadyDecided):
            store.decide(found.file_id, DISMISS, ann)
        assert [one.id for one in store.decisions(10)] == [decision.id]
        assert store.decisions(10, decision.id) == []
        store.undo_decision(decision.id)
        assert store.count_reported_maps() == 1
        assert store.revision() == revision

    def test_undoing_a_decision_leaves_one_open_report_per_user(
        self, store: Store, ann: int, bob: int
    ) -> None:
        found, cat = published(store, ann), store.add_user("cat").id
        store.report_map(found.file_id, bob, Reason.SPAM, "old")
        store.report_map(found.file_id, cat, Reason.SPAM, "of cat")
        decision = store.decide(found.file_id, DISMISS, ann)
        store.report_map(found.file_id, bob, Reason.ILLEGAL, "new")
        store.undo_decision(decision.id)
        (reported,) = store.reported_maps(10)
        assert [one.note for one in reported.reports] == ["of cat", "new"]
        assert store.check() == []

    def test_old_decisions_are_forgotten_unless_they_are_in_force(
        self, store: Store, ann: int, bob: int, clock: Clock
    ) -> None:
        first, second, third = (published(store, ann, upload(name)) for name in "abc")
        for found in (first, second, third):
            store.report_map(found.file_id, bob, Reason.SPAM, "")
        store.decide(first.file_id, HIDE, bob)
        store.decide(second.file_id, DISMISS, bob)
        store.decide(third.file_id, DISABLE, bob)
        assert store.purge_decisions(clock.now) == 0
        assert store.purge_decisions(clock.now + 1) == 2
        assert [one.kind for one in store.decisions(10)] == [HIDE]
        assert store.count_reported_maps() == 0
        assert [one.disabled for one in store.users() if one.id == ann] == [True]

    def test_of_simultaneous_decisions_one_is_made(
        self, store: Store, reopen: Open, ann: int, bob: int
    ) -> None:
        found = published(store, ann)
        stores = [store, reopen(), reopen()]

        def hide(number: int) -> bool:
            try:
                stores[number].decide(found.file_id, HIDE, bob)
            except AlreadyDecided:
                return False
            return True

        with ThreadPoolExecutor(3) as pool:
            assert sorted(pool.map(hide, range(3))) == [False, False, True]
        assert len(store.decisions(10)) == 1


class AuditContract(PeopleSuite):
    """The audit log."""

    def test_a_change_and_its_audit_record_are_atomic(
        self, store: Store, ann: int, clock: Clock
    ) -> None:
        found = published(store, ann)
        entry = AuditEntry(AuditEvent.MAP_REMOVED, f"map {found.id}", ann, "ann", "192.0.2.1")
        with store.auditing(entry):
            store.remove_map(found.file_id, ann)
        (record,) = store.audit_records(0, 0, ALL)
        assert record.entry == entry
        assert (record.at, record.last, record.count) == (clock.now, clock.now, 1)
        with pytest.raises(NotFound), store.auditing(entry):
            store.remove_map(found.file_id, ann)
        store.undo_removal(found.file_id)
        assert entries(store) == [entry], (
            "neither the failed change nor the later one is in the log"
        )

    def test_writes_without_an_audit_note_leave_no_record(self, store: Store, ann: int) -> None:
        store.remove_map(published(store, ann).file_id, ann)
        assert entries(store) == []

    def test_the_id_of_a_new_map_is_in_the_audit_log(self, store: Store, ann: int) -> None:
        entry = AuditEntry(AuditEvent.MAP_PUBLISHED, "", ann, "ann", "")
        with store.auditing(entry):
            found = published(store, ann)
        with store.auditing(entry):
            again = store.publish(upload(), MapDetails(title="again"), ann, None)
        assert again == (found, False)
        assert entries(store) == [replace(entry, target=f"map {found.id}")]

    def test_two_audit_notes_of_one_change_are_both_kept(self, store: Store, ann: int) -> None:
        both = [
            AuditEntry(AuditEvent.PASSWORD_CHANGED, "", ann, "ann"),
            AuditEntry(AuditEvent.ACCESS_ENDED, "tokens, programs", ann, "ann"),
        ]
        with store.auditing(*both):
            store.set_password(ann, "encoded", keep=None)
        with pytest.raises(NotFound), store.auditing(*both):
            store.set_password(99, "encoded", keep=None)
        store.set_password(ann, "other", keep=None)
        assert entries(store) == both

    def test_writes_without_effect_are_not_in_the_audit_log(self, store: Store, ann: int) -> None:
        found = published(store, ann)
        entry = AuditEntry(AuditEvent.MAP_CHANGED, f"map {found.id}", ann, "ann")
        with store.auditing(entry):
            store.edit_map(found.file_id, MapDetails())
        with store.auditing(entry):
            store.replace_file(found.file_id, upload(), ann)
        assert entries(store) == []
        with store.auditing(entry):
            store.edit_map(found.file_id, MapDetails(title="x"))
        assert entries(store) == [entry]

    def test_audit_notes_belong_to_their_thread(self, store: Store, ann: int, bob: int) -> None:
        maps = [published(store, ann, upload(f"n{number}")) for number in range(20)]

        def remove(number: int) -> None:
            user = (ann, bob)[number % 2]
            target = f"map {maps[number].id}"
            with store.auditing(AuditEntry(AuditEvent.MAP_REMOVED, target, user, str(user))):
                store.remove_map(maps[number].file_id, user)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(remove, range(20)))
        found = {entry.target: entry.user_id for entry in entries(store)}
        assert found == {f"map {one.id}": (ann, bob)[n % 2] for n, one in enumerate(maps)}

    def test_audit_records_are_read_in_pages(self, store: Store, ann: int, bob: int) -> None:
        for number in range(5):
            user = bob if number == 2 else ann
            store.add_audit_entry(AuditEntry(AuditEvent.TOKEN_MADE, f"token {number}", user, "x"))
        every = store.audit_records(0, 0, ALL)
        assert [one.entry.target for one in every] == [f"token {number}" for number in range(5)]
        assert store.audit_records(0, every[1].id, 2) == every[2:4]
        assert store.audit_records_of(ann, every[0].id, 2) == [every[1], every[3]]

    def test_audit_records_since_a_time(self, store: Store, ann: int, clock: Clock) -> None:
        store.add_audit_entry(AuditEntry(AuditEvent.TOKEN_MADE, "old", ann))
        clock.now += 10
        store.add_audit_entry(AuditEntry(AuditEvent.TOKEN_MADE, "new", ann))
        (record,) = store.audit_records(clock.now, 0, ALL)
        assert record.entry.target == "new"

    def test_repeated_audit_records_are_counted(self, store: Store, ann: int, clock: Clock) -> None:
        begin = clock.now
        for user, address in ((ann, "a"), (ann, "a"), (None, "a"), (ann, "b"), (ann, "a")):
            store.add_audit_entry(AuditEntry(AuditEvent.SIGN_IN_FAILED, "", user, "", address))
            clock.now += 1
        found = [
            (one.entry.user_id, one.entry.address, one.count)
            for one in store.audit_records(0, 0, ALL)
        ]
        assert found == [(ann, "a", 3), (None, "a", 1), (ann, "b", 1)]
        (first, *_) = store.audit_records(0, 0, ALL)
        assert (first.at, first.last) == (begin, begin + 4)
        clock.now = begin + HOUR
        store.add_audit_entry(AuditEntry(AuditEvent.SIGN_IN_FAILED, "", ann, "", "a"))
        assert len(entries(store)) == 4
        for _ in range(2):
            store.add_audit_entry(AuditEntry(AuditEvent.SIGN_IN, "", ann, "ann", "a"))
        assert len(entries(store)) == 6

    def test_audit_records_of_failures_evict_only_each_other(
        self, store: Store, ann: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("mapshelf.store.audit.MOST_FAILURES", 50)
        assert MOST_FAILURES > 50
        store.add_audit_entry(AuditEntry(AuditEvent.TOKEN_MADE, "kept", ann))
        for number in range(260):
            store.add_audit_entry(AuditEntry(AuditEvent.SIGN_IN_FAILED, address=f"a{number}"))
        found = entries(store)
        assert found[0].target == "kept"
        assert 50 <= len(found) - 1 < 150
        assert found[-1].address == "a259"

    def test_audit_records_of_a_user_evict_only_their_own(
        self, store: Store, ann: int, bob: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("mapshelf.store.audit.MOST_OF_USER", 50)
        store.add_audit_entry(AuditEntry(AuditEvent.TOKEN_MADE, "kept", bob))
        for number in range(260):
            store.add_audit_entry(AuditEntry(AuditEvent.TOKEN_MADE, f"t{number}", ann))
        found = entries(store)
        assert found[0].target == "kept"
        assert 50 <= len(found) - 1 < 150
        assert found[-1].target == "t259"

    def test_repeated_removing_and_restoring_is_two_audit_records(
        self, store: Store, ann: int
    ) -> None:
        mine = published(store, ann)
        for _ in range(3):
            with store.auditing(AuditEntry(AuditEvent.MAP_REMOVED, "it", ann)):
                store.remove_map(mine.file_id, ann)
            with store.auditing(AuditEntry(AuditEvent.MAP_RESTORED, "it", ann)):
                store.undo_removal(mine.file_id)
        records = store.audit_records(0, 0, 10)
        assert [(one.entry.event, one.count) for one in records] == [
            (AuditEvent.MAP_REMOVED, 3),
            (AuditEvent.MAP_RESTORED, 3),
        ]

    def test_a_refused_file_is_not_a_new_file_in_the_audit_log(
        self, store: Store, ann: int
    ) -> None:
        with store.auditing(AuditEntry(AuditEvent.MAP_REPLACED, "it", ann)):
            store.note_refused_upload(ann)
        assert entries(store) == []
        assert store.usage(ann).recent == 1

    def test_old_records_are_deleted(
        self, store: Store, ann: int, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.add_audit_entry(AuditEntry(AuditEvent.TOKEN_MADE, "old", ann))
        clock.now += 90 * DAY
        for number in range(3):
            store.add_audit_entry(AuditEntry(AuditEvent.TOKEN_MADE, f"new {number}", ann))
        assert store.purge_audit(clock.now) == 1
        assert store.purge_audit(clock.now) == 0
        monkeypatch.setattr("mapshelf.store.audit.MOST_RECORDS", 2)
        assert store.purge_audit(clock.now) == 1
        assert [entry.target for entry in entries(store)] == ["new 1", "new 2"]


class AccessOfAllContract(PeopleSuite):
    """Access that ends for everybody at once."""

    def test_sessions_and_links_of_all_end(self, store: Store, ann: int, bob: int) -> None:
        _give_access(store, ann, bob)
        store.end_all_access(tokens=False)
        assert known(store, 1, 2, 3, 4) == [False, False, True, True]
        assert [store.link(digest(number), 9) for number in (5, 6)] == [None, None]
        assert store.use_code(digest(7), tokens(8), 9) is None
        assert store.use_refresh_token(digest(104), tokens(8), 9, 0)

    def test_tokens_and_programs_of_all_end(self, store: Store, ann: int, bob: int) -> None:
        _give_access(store, ann, bob)
        store.revoke_token(store.tokens("ann")[0].id)
        (before,) = store.tokens("ann")
        version = store.tokens_version()
        store.end_all_access(tokens=True)
        assert store.tokens_version() != version
        assert known(store, 1, 2, 4) == [False] * 3
        assert store.tokens("ann") == [before], "revoked tokens keep their time"
        (token,) = store.tokens("bob")
        assert token.revoked is not None
        assert store.grants(ann, 9) == []
        assert store.use_refresh_token(digest(104), tokens(8), 9, 0) is None
        assert [one.id for one in store.programs()] == ["p1"]

    def test_nothing_remains_that_is_added_while_all_access_ends(
        self, store: Store, reopen: Open, ann: int
    ) -> None:
        other = reopen()
        (user,) = (one for one in store.users() if one.id == ann)
        store.add_program(PROGRAM)
        for _ in range(10):
            let_in(store, user, 1)
            store.add_code(code(user, 9))
            add_link(store, 5, None, 2**50)
            outcomes = all_at_once(
                partial(store.use_refresh_token, digest(101), tokens(2), 5, HOUR),
                partial(other.end_all_access, tokens=True),
                partial(store.use_code, digest(9), tokens(3), 5),
                partial(other.revoke_program_token, digest(101), "p1"),
                partial(begin, store, user, 4),
            )
            assert not any(isinstance(one, MapshelfError) for one in outcomes), outcomes
            assert not any(known(store, 1, 2, 3))
            assert store.grants(ann, 5) == []
            store.end_sessions(ann, None)  # it may have begun later


def _give_access(store: Store, ann: int, bob: int) -> None:
    """Let Ann and Bob have access, with the digests of these numbers.

    1 and 2 are sessions, 3 and 9 personal tokens, 4 a program, 5 and 6 links, 7 a code.
    """
    users = {user.id: user for user in store.users()}
    begin(store, users[ann], 1)
    begin(store, users[bob], 2)
    for name, number in (("ann", 3), ("bob", 9)):
        store.add_token(name, digest(number), label="", scopes="maps", expires=None)
    store.add_program(PROGRAM)
    let_in(store, users[ann], 4)
    add_link(store, 5, users[ann], 2**50)
    add_link(store, 6, None, 2**50)
    store.add_code(code(users[bob], 7))


class ClosedAccountsContract(PeopleSuite):
    """Accounts that are deleted."""

    def test_closing_an_account_ends_all_its_credentials_at_once(
        self, store: Store, ann: int
    ) -> None:
        store.set_password(ann, "encoded", keep=None)
        store.add_token("ann", b"t" * 32, label="", scopes="maps", expires=None)
        store.add_session(ann, b"s" * 32, "", 2**50, None)
        store.add_link(LinkKind.PASSWORD, b"l" * 32, ann, 2**50, None)
        store.add_link(LinkKind.INVITATION, b"i" * 32, None, 2**50, ann)
        version = store.tokens_version()
        store.close_account(ann, REMOVE, "encoded")
        assert store.tokens_version() != version
        assert store.find_credentials([b"t" * 32, b"s" * 32]) == {}
        assert store.link(b"l" * 32, 0) is store.link(b"i" * 32, 0) is None
        record = store.password_of("ann")
        assert record
        assert (record.user.disabled, record.encoded) == (True, None)
        with pytest.raises(Conflict):
            store.add_session(ann, b"n" * 32, "", 2**50, None)
        assert "ann" not in [one.name for one in store.users()]
        with pytest.raises(NotFound):
            store.close_account(ann, REMOVE, None)

    @pytest.mark.parametrize("checked", ["former", None])
    def test_an_account_is_closed_only_with_the_present_password(
        self, store: Store, ann: int, checked: str | None
    ) -> None:
        store.set_password(ann, "encoded", keep=None)
        store.add_token("ann", b"t" * 32, label="", scopes="maps", expires=None)
        with pytest.raises(Conflict):
            store.close_account(ann, REMOVE, checked)
        record = store.password_of("ann")
        assert record
        assert (record.user.disabled, record.encoded) == (False, "encoded")
        assert store.find_credentials([b"t" * 32])

    def test_a_closed_account_cannot_be_enabled(self, store: Store, ann: int) -> None:
        store.close_account(ann, REMOVE, None)
        store.enable_user("ann")
        store.set_role("ann", Role.ADMINISTRATOR)
        record = store.password_of("ann")
        assert record
        assert (record.user.disabled, record.user.role) == (True, Role.MEMBER)

    def test_a_closed_account_is_not_enabled_by_undoing_a_decision(
        self, store: Store, ann: int, bob: int
    ) -> None:
        decision = store.decide(published(store, ann).file_id, DISABLE, bob)
        store.close_account(ann, REMOVE, None)
        store.undo_decision(decision.id)
        record = store.password_of("ann")
        assert record
        assert record.user.disabled

    def test_uploaded_maps_of_a_closed_account_are_deleted(
        self, store: Store, ann: int, bob: int
    ) -> None:
        first, second = (published(store, ann, upload(name)) for name in "ab")
        kept = published(store, bob, upload("c"))
        folder = put(store, title("t", owner="ann", source=source()))
        store.remove_map(second.file_id, ann)
        store.close_account(ann, REMOVE, None)
        finish(store)
        assert present(store) == {
            kept.id: kept,
            folder.id: replace(folder, owner=SYSTEM_USER),
        }
        assert store.removed_maps(None) == []
        gone = {one.file_id for one in store.changes(0, ALL) if one.map is None}
        assert gone == {first.file_id, second.file_id}
        assert store.check() == []

    def test_uploaded_maps_of_a_closed_account_pass_to_system(self, store: Store, ann: int) -> None:
        first, second = (published(store, ann, upload(name)) for name in "ab")
        private = published(store, ann, upload("c"), visibility=Visibility.PRIVATE)
        store.remove_map(second.file_id, ann)
        store.close_account(ann, PASS_ON, None)
        finish(store)
        assert present(store) == {
            one.id: replace(one, owner=SYSTEM_USER) for one in (first, private)
        }
        assert store.removed_maps(None) == []
        (version,) = store.versions(first.file_id)
        assert version.created_by == f"deleted user {ann}"
        assert store.check() == []

    def test_votes_of_a_closed_account_are_withdrawn(
        self, store: Store, ann: int, bob: int
    ) -> None:
        up, down = put(store, title("t", thumbs_up=5)), put(store, title("u", thumbs_down=3))
        gone = put(store, title("v"))
        for found in (up, gone):
            store.set_vote(found.file_id, ann, Vote.UP)
        store.set_vote(down.file_id, ann, Vote.DOWN)
        store.set_vote(up.file_id, bob, Vote.UP)
        store.remove_map(gone.file_id, bob)
        store.close_account(ann, PASS_ON, None)
        finish(store)
        now = present(store)
        assert now[up.id] == replace(up, thumbs_up=6)
        assert now[down.id] == down
        assert store.undo_removal(gone.file_id) == gone
        assert store.vote_of(up.file_id, ann) is Vote.NONE
        assert store.put_maps([title("t", id=up.id, thumbs_up=6)])[0].verdict.name == "UNCHANGED"

    def test_closing_an_account_is_done_in_steps(
        self, store: Store, ann: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("mapshelf.store.account_deletion.MAPS_AT_ONCE", 2)
        for number in range(5):
            published(store, ann, upload(f"n{number}"))
        store.close_account(ann, REMOVE, None)
        left = []
        while store.finish_closing():
            left.append(len(present(store)))
        assert left == [3, 1, 0, 0]
        assert not store.finish_closing()

    def test_the_name_of_a_closed_account_is_free_when_no_map_has_it(
        self, store: Store, ann: int
    ) -> None:
        published(store, ann)
        store.close_account(ann, PASS_ON, None)
        for name in ("ann", "ANN"):
            with pytest.raises(AlreadyExists):
                store.add_user(name)
        finish(store)
        again = store.add_user("Ann")
        assert again.id != ann
        assert present(store).popitem()[1].owner == SYSTEM_USER

    def test_reports_of_a_closed_account_stay_without_its_name(
        self, store: Store, ann: int, bob: int
    ) -> None:
        found = published(store, ann)
        store.report_map(found.file_id, bob, Reason.SPAM, "")
        store.close_account(bob, REMOVE, None)
        (reported,) = store.reported_maps(10)
        assert reported.reports[0].reporter is None

    def test_writes_under_way_cannot_change_a_closed_account(
        self, store: Store, ann: int, bob: int
    ) -> None:
        found = published(store, bob)
        store.close_account(ann, REMOVE, None)
        for _ in range(2):
            for late in (
                lambda: store.set_vote(found.file_id, ann, Vote.UP),
                lambda: store.report_map(found.file_id, ann, Reason.SPAM, ""),
                lambda: store.remove_map(found.file_id, ann),
                lambda: store.publish(upload("late"), MapDetails(title="t"), ann, None),
            ):
                with pytest.raises(NotFound):
                    late()
            finish(store)
        assert present(store) == {found.id: found}

    def test_the_last_administrator_stays(self, store: Store, ann: int, bob: int) -> None:
        for name in ("ann", "bob"):
            store.set_role(name, Role.ADMINISTRATOR)
        store.disable_user("bob")
        with pytest.raises(LastAdministrator):
            store.close_account(ann, REMOVE, None)
        assert not next(one.disabled for one in store.users() if one.id == ann)
        store.enable_user("bob")
        store.close_account(ann, REMOVE, None)
        with pytest.raises(LastAdministrator):
            store.close_account(bob, REMOVE, None)
        with pytest.raises(Conflict):
            store.close_account(named(store, SYSTEM_USER), REMOVE, None)

    def test_the_last_two_administrators_cannot_both_close_their_accounts(
        self, store: Store, reopen: Open
    ) -> None:
        users = [store.add_user(name, Role.ADMINISTRATOR).id for name in ("a", "b")]
        stores = [store, reopen()]

        def close(number: int) -> bool:
            try:
                stores[number].close_account(users[number], REMOVE, None)
            except LastAdministrator:
                return False
            return True

        with ThreadPoolExecutor(2) as pool:
            assert sorted(pool.map(close, range(2))) == [False, True]


class UserDataContract(PeopleSuite):
    """Exports of the data of a user."""

    def test_all_maps_of_a_user_and_no_others(self, store: Store, ann: int, bob: int) -> None:
        mine = [
            published(store, ann, upload(name), visibility=visibility)
            for name, visibility in zip("abc", list(Visibility)[:3], strict=True)
        ]
        published(store, bob, upload("d"))
        store.remove_map(mine[1].file_id, ann)
        mine[1] = replace(mine[1], visibility=Visibility.REMOVED)
        assert store.maps_of(ann, 0, 10) == mine
        assert store.maps_of(ann, mine[0].file_id, 1) == [mine[1]]

    def test_all_votes_and_reports_of_a_user_and_no_others(
        self, store: Store, ann: int, bob: int, clock: Clock
    ) -> None:
        maps = [put(store, title(name)) for name in "ab"]
        for found, vote in zip(maps, (Vote.UP, Vote.DOWN), strict=True):
            store.set_vote(found.file_id, ann, vote)
            store.report_map(found.file_id, ann, Reason.SPAM, found.title)
        store.set_vote(maps[0].file_id, bob, Vote.DOWN)
        store.report_map(maps[0].file_id, bob, Reason.OTHER, "not mine")
        first, second = maps
        assert store.votes_of(ann, 0, 10) == [
            (first.file_id, first.id, Vote.UP),
            (second.file_id, second.id, Vote.DOWN),
        ]
        assert store.votes_of(ann, first.file_id, 10) == store.votes_of(ann, 0, 10)[1:]
        reports = store.reports_of(ann, 0, 10)
        assert [(public_id, report) for _, public_id, report in reports] == [
            (found.id, Report(Reason.SPAM, found.title, clock.now, "ann")) for found in maps
        ]
        assert store.reports_of(ann, reports[0][0], 1) == reports[1:]
