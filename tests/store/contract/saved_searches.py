"""Tests of ``contract.SavedSearches``."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from mapshelf.errors import NotFound, TooManySearches
from mapshelf.model import AuditEntry, AuditEvent, MapsOfClosedAccount, SavedSearch
from mapshelf.store import Store
from tests.store.clock import Clock
from tests.store.contract.publishing import PeopleSuite
from tests.store.contract.suite import ALL

HOSTILE = "<b>'; DROP TABLE maps; -- 予定 \U0001f600 %s ? {0}"


class SavedSearchesContract(PeopleSuite):
    """Saved searches of users."""

    def test_a_search_is_as_it_was_saved(
        self, store: Store, ann: int, bob: int, clock: Clock
    ) -> None:
        first = store.save_search(ann, HOSTILE, "query=%25s&folder=a")
        assert first == SavedSearch(
            first.id, HOSTILE, "query=%25s&folder=a", "ann", clock.now, clock.now
        )
        assert store.find_saved_search(first.id) == first
        clock.now += 1
        second = store.save_search(ann, HOSTILE, "")
        other = store.save_search(bob, "of bob", "tag=x")
        assert store.saved_searches_of(ann) == [second, first]
        assert store.saved_searches_of(bob) == [other]
        assert store.check() == []

    def test_only_its_owner_changes_and_removes_it(
        self, store: Store, ann: int, bob: int, clock: Clock
    ) -> None:
        found = store.save_search(ann, "Java", "query=java")
        clock.now += 5
        named = store.edit_saved_search(ann, found.id, "Beans", None)
        assert (named.name, named.parameters) == ("Beans", "query=java")
        assert (named.created, named.changed) == (found.created, clock.now)
        changed = store.edit_saved_search(ann, found.id, None, "tag=java")
        assert (changed.name, changed.parameters) == ("Beans", "tag=java")
        clock.now += 5
        assert store.edit_saved_search(ann, found.id, "Beans", "tag=java") == changed
        attempts: list[Callable[[int, str], object]] = [
            lambda user, which: store.edit_saved_search(user, which, "x", "x"),
            store.remove_saved_search,
        ]
        for user, which in ((bob, found.id), *((ann, one) for one in ("none", "\0", "", "x" * 99))):
            for attempt in attempts:
                with pytest.raises(NotFound):
                    attempt(user, which)
        assert store.saved_searches_of(ann) == [changed]
        store.remove_saved_search(ann, found.id)
        assert store.find_saved_search(found.id) is None
        for wrong in (found.id, "\0", ""):
            assert store.find_saved_search(wrong) is None
        with pytest.raises(NotFound):
            store.save_search(10**9, "x", "")

    def test_saved_searches_are_bounded(
        self, store: Store, ann: int, bob: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("mapshelf.store.saved_searches.MOST_SEARCHES", 3)

        def tried(number: int) -> bool:
            try:
                store.save_search(ann, str(number), "")
            except TooManySearches:
                return False
            return True

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(tried, range(8))) == 3
        store.save_search(bob, "another's", "")
        store.remove_saved_search(ann, store.saved_searches_of(ann)[0].id)
        assert tried(9)
        assert len(store.saved_searches_of(ann)) == 3

    def test_saved_searches_are_deleted_with_the_account(
        self, store: Store, ann: int, bob: int
    ) -> None:
        gone, kept = (store.save_search(user, "Java", "") for user in (ann, bob))
        store.close_account(ann, MapsOfClosedAccount.REMOVE, None)
        assert store.find_saved_search(gone.id) is None
        assert store.saved_searches_of(ann) == []
        assert store.find_saved_search(kept.id) == kept

    def test_changes_of_saved_searches_are_in_the_audit_log(self, store: Store, ann: int) -> None:
        with store.auditing(AuditEntry(AuditEvent.SEARCH_SAVED, "", ann)):
            found = store.save_search(ann, "Java", "")
        target = f"search {found.id}"
        for name in ("Beans", "Beans"):
            with store.auditing(AuditEntry(AuditEvent.SEARCH_CHANGED, target, ann)):
                store.edit_saved_search(ann, found.id, name, None)
        with store.auditing(AuditEntry(AuditEvent.SEARCH_REMOVED, target, ann)):
            store.remove_saved_search(ann, found.id)
        noted = [(one.entry.event, one.count) for one in store.audit_records(0, 0, ALL)]
        assert noted == [
            (AuditEvent.SEARCH_SAVED, 1),
            (AuditEvent.SEARCH_CHANGED, 1),
            (AuditEvent.SEARCH_REMOVED, 1),
        ]
        assert [one.entry.target for one in store.audit_records(0, 0, ALL)] == [target] * 3
