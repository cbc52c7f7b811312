"""Tests of ``contract.Store.acting_on``, and of the check within ``undo_removal``."""

from collections.abc import Callable
from threading import Thread

import pytest

from mapshelf.errors import Forbidden, NotFound
from mapshelf.model import (
    DecisionKind,
    Map,
    MapDetails,
    MapDraft,
    Reason,
    RemovedMap,
    Visibility,
    Vote,
)
from mapshelf.store import Store
from tests.store.clock import Clock
from tests.store.contract.publishing import PeopleSuite, published
from tests.store.contract.suite import Open
from tests.store.drafts import upload

WRITES: dict[str, Callable[[Store, Map, int], object]] = {
    "an edit": lambda store, found, _: store.edit_map(found.file_id, MapDetails(title="Late")),
    "a removal": lambda store, found, user: store.remove_map(found.file_id, user),
    "a file": lambda store, found, user: store.replace_file(found.file_id, upload("late"), user),
    "the same file": lambda store, found, user: store.replace_file(found.file_id, upload(), user),
    "a vote": lambda store, found, user: store.set_vote(found.file_id, user, Vote.UP),
    "a report": lambda store, found, user: store.report_map(
        found.file_id, user, Reason.OTHER, "late"
    ),
    "a decision": lambda store, found, user: store.decide(found.file_id, DecisionKind.HIDE, user),
}


def only_of(owner: str, seen: list[Map | None]) -> Callable[[Map | None], None]:
    """Return a check that a map belongs to a user; it notes the maps that it was called with."""

    def check(found: Map | None) -> None:
        seen.append(found)
        if found is None or found.owner != owner:
            raise Forbidden("owner", "not yours")

    return check


def give(store: Store, found: Map, owner: str) -> None:
    store.put_maps([MapDraft(id=found.id, owner=owner)])


class MapCheckContract(PeopleSuite):
    """Writes to a map whose owner may have changed."""

    @pytest.mark.parametrize("write", WRITES)
    def test_nothing_of_a_map_is_written_once_it_belongs_to_somebody_else(
        self, store: Store, ann: int, bob: int, write: str
    ) -> None:
        seen: list[Map | None] = []
        found = published(store, ann)
        acting = store.acting_on(found.file_id, only_of("ann", seen))
        give(store, found, "bob")
        before, versions = store.find_map(found.id), store.versions(found.file_id)
        assert before is not None
        with pytest.raises(Forbidden):
            WRITES[write](acting, found, ann)
        assert seen == [before] == [store.find_map(found.id)]
        assert store.versions(found.file_id) == versions
        assert store.count_reported_maps() == 0
        assert acting.find_map(found.id) == before  # reading needs no permission

    @pytest.mark.parametrize("write", WRITES)
    def test_what_the_check_permits_is_written(
        self, store: Store, ann: int, bob: int, write: str
    ) -> None:
        seen: list[Map | None] = []
        found = published(store, ann)
        other = bob if write in ("a vote", "a report") else ann
        WRITES[write](store.acting_on(found.file_id, only_of("ann", seen)), found, other)
        assert seen == [found]

    def test_the_check_is_told_of_a_removal(self, store: Store, ann: int) -> None:
        seen: list[Map | None] = []
        found = published(store, ann)
        store.remove_map(found.file_id, ann)
        with pytest.raises(Forbidden):
            WRITES["an edit"](store.acting_on(found.file_id, only_of("ann", seen)), found, ann)
        assert seen == [None]

    @pytest.mark.slow
    def test_no_map_gets_another_owner_between_the_check_and_the_write(
        self, store: Store, reopen: Open, ann: int, bob: int
    ) -> None:
        found, other = published(store, ann), reopen()
        giving = Thread(target=give, args=(other, found, "bob"))

        def check(now: Map | None) -> None:
            assert now == found
            giving.start()
            giving.join(0.1)
            assert giving.is_alive()

        changed = store.acting_on(found.file_id, check).replace_file(
            found.file_id, upload("in time"), ann
        )
        giving.join(20)
        assert changed.owner == "ann"
        assert store.find_map(found.id) != changed

    def test_undoing_a_removal_is_permitted_in_its_transaction(
        self, store: Store, ann: int, bob: int, clock: Clock
    ) -> None:
        seen: list[RemovedMap] = []

        def refuse(removed: RemovedMap) -> None:
            seen.append(removed)
            raise NotFound("not yours")

        found = published(store, ann, visibility=Visibility.UNLISTED)
        store.remove_map(found.file_id, bob)
        with pytest.raises(NotFound):
            store.undo_removal(found.file_id, permit=refuse)
        assert seen == store.removed_maps(None)
        assert (seen[0].removed, seen[0].removed_by) == (clock.now, "bob")
        assert store.undo_removal(found.file_id) == found
