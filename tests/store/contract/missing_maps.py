"""Tests of ``contract.Sources.remove_sources``: a map whose file is missing comes back with it."""

from dataclasses import replace

import pytest

from mapshelf.errors import MapHidden, NotFound
from mapshelf.model import (
    CollectionDetails,
    DecisionKind,
    Map,
    MapDetails,
    MapDraft,
    MapsOfClosedAccount,
    Reason,
    Visibility,
    Vote,
)
from mapshelf.store import Store
from tests.store.clock import Clock
from tests.store.contract.publishing import PeopleSuite
from tests.store.contract.suite import ALL, CHANGED, UNCHANGED, present, put, title, verdicts
from tests.store.drafts import outline, source

FILE = source("a.mm")
DRAFT = title("t", source=FILE, content=b"1", outline=outline("1"), owner="ann")


def missing(store: Store) -> None:
    """Record that the file of ``DRAFT`` is missing."""
    assert store.remove_sources([FILE.path]) == 1


class MissingMapsContract(PeopleSuite):
    """Maps whose files are missing from their folder."""

    @pytest.fixture
    def shown(self, store: Store, ann: int, bob: int) -> Map:
        """A map in a folder that people have edited, voted for and collected."""
        made = put(store, DRAFT)
        details = MapDetails(description="mine", tags=("x",), visibility=Visibility.UNLISTED)
        store.edit_map(made.file_id, details)
        store.report_map(made.file_id, bob, Reason.SPAM, "")
        store.add_collection(bob, CollectionDetails("c"), [made.file_id])
        return store.set_vote(made.file_id, bob, Vote.UP)

    def test_a_missing_map_is_nowhere(self, store: Store, shown: Map, ann: int, bob: int) -> None:
        missing(store)
        assert present(store) == {}
        assert store.find_map(shown.id) is None
        assert store.unpublished_maps(ann) == []
        assert store.removed_maps(None) == store.removed_maps(ann) == []
        assert store.open_ids([shown.id]) == frozenset()
        assert store.reported_maps(10) == []
        assert store.changes(0, ALL)[-1].map is None
        (collection,) = store.collections_of(bob)
        assert store.collected_maps(collection.id) == []
        for refused in (
            lambda: store.undo_removal(shown.file_id),
            lambda: store.remove_map(shown.file_id, ann),
            lambda: store.edit_map(shown.file_id, MapDetails(title="x")),
            lambda: store.set_vote(shown.file_id, bob, Vote.DOWN),
            lambda: store.decide(shown.file_id, DecisionKind.HIDE, bob),
        ):
            with pytest.raises(NotFound):
                refused()
        assert store.check() == []

    def test_a_map_comes_back_with_its_file(self, store: Store, shown: Map, bob: int) -> None:
        for _ in range(2):
            missing(store)
            revision = store.revision()
            assert verdicts(store.put_maps([DRAFT])) == [CHANGED]
            assert store.find_map(shown.id) == shown
            assert store.sources_below(b"/maps", b"", ALL) == [FILE]
            (change,) = store.changes(revision, ALL)
            assert change.file_id == shown.file_id
            assert verdicts(store.put_maps([DRAFT])) == [UNCHANGED]
        (collection,) = store.collections_of(bob)
        assert store.collected_maps(collection.id) == [shown]
        assert store.vote_of(shown.file_id, bob) is Vote.UP
        assert len(store.reported_maps(10)) == 1

    def test_a_map_comes_back_with_a_changed_file(self, store: Store, shown: Map) -> None:
        missing(store)
        file = replace(FILE, size=9, digest=b"n" * 32)
        store.put_maps([replace(DRAFT, title="new", source=file, content=b"2", description="no")])
        assert store.find_map(shown.id) == replace(shown, title="new")
        content = store.content(shown.file_id)
        assert content
        assert content.content == b"2"

    def test_a_map_comes_back_with_a_renamed_file(self, store: Store, shown: Map) -> None:
        missing(store)
        renamed = source("b.mm", digest=FILE.digest)
        assert store.move_source(FILE.path, renamed)
        assert store.find_map(shown.id) is None
        store.put_maps([replace(DRAFT, source=renamed)])
        assert store.find_map(shown.id) == shown
        assert store.sources([FILE.path, renamed.path]) == {renamed.path: renamed}

    def test_other_files_may_take_the_path(self, store: Store, shown: Map) -> None:
        others = [source(name, digest=name.encode() * 8) for name in ("b.mm", "c.mm")]
        second, third = (put(store, title(one.name, source=one)) for one in others)
        for other in others:
            assert not store.move_source(other.path, replace(other, path=FILE.path))
            missing(store)
            assert not store.move_source(b"/maps/unknown", replace(other, path=FILE.path))
            assert FILE.path in store.sources([FILE.path])
            assert store.move_source(other.path, replace(other, path=FILE.path))
        assert present(store) == {third.id: third}
        back = [FILE, others[0]]
        for file, found in zip(back, (shown, second), strict=True):
            (kept,) = store.sources_of(file.digest)
            assert kept.is_gone
            assert kept.path.startswith(FILE.path + b"/")
            moved = replace(file, path=b"/maps/new/" + file.path[-4:])
            assert store.move_source(kept.path, moved)
            store.put_maps([title(found.title, source=moved)])
        assert present(store) == {one.id: one for one in (shown, second, third)}
        assert store.check() == []

    def test_a_map_comes_back_with_its_record(self, store: Store, shown: Map) -> None:
        missing(store)
        store.put_maps([MapDraft(id=shown.id, views=5)])
        assert store.find_map(shown.id) is None
        store.put_maps([title("t", id=shown.id, visibility=Visibility.PUBLISHED)])
        assert store.find_map(shown.id) == replace(shown, views=5)
        assert store.edit_map(shown.file_id, MapDetails(title="x")).title == "x"

    def test_a_map_with_another_file_stays(self, store: Store, shown: Map) -> None:
        other = source("b.mm")
        store.put_maps([MapDraft(id=shown.id, source=other)])
        assert store.remove_sources([FILE.path]) == 0
        assert store.find_map(shown.id) == shown
        assert store.remove_sources([other.path]) == 1
        assert store.find_map(shown.id) is None

    def test_a_hidden_map_comes_back_hidden(
        self, store: Store, shown: Map, ann: int, bob: int
    ) -> None:
        decision = store.decide(shown.file_id, DecisionKind.HIDE, bob)
        missing(store)
        assert [one.id for one in store.decisions(10)] == [decision.id]
        store.put_maps([replace(DRAFT, visibility=Visibility.PUBLISHED)])
        back = store.find_map(shown.id)
        assert back == replace(shown, visibility=Visibility.PRIVATE)
        with pytest.raises(MapHidden):
            store.edit_map(shown.file_id, MapDetails(visibility=Visibility.PUBLISHED))
        missing(store)
        assert store.undo_decision(decision.id).visibility is Visibility.REMOVED
        assert store.find_map(shown.id) is None
        store.put_maps([DRAFT])
        assert store.find_map(shown.id) == shown

    def test_a_removed_map_stays_removed(self, store: Store, shown: Map, ann: int) -> None:
        store.remove_map(shown.file_id, ann)
        missing(store)
        assert store.removed_maps(None) == []
        with pytest.raises(NotFound):
            store.undo_removal(shown.file_id)
        store.put_maps([DRAFT])
        assert store.find_map(shown.id) is None
        assert [one.map.id for one in store.removed_maps(ann)] == [shown.id]
        assert store.undo_removal(shown.file_id) == shown

    def test_a_deleted_map_comes_back_only_if_that_is_undone(
        self, store: Store, shown: Map, bob: int
    ) -> None:
        decision = store.decide(shown.file_id, DecisionKind.DELETE, bob)
        missing(store)
        store.put_maps([DRAFT])
        assert store.find_map(shown.id) is None
        missing(store)
        assert store.undo_decision(decision.id).visibility is Visibility.REMOVED
        assert store.find_map(shown.id) is None
        store.put_maps([DRAFT])
        assert store.find_map(shown.id) == shown

    def test_missing_maps_are_deleted_in_the_end(
        self, store: Store, shown: Map, clock: Clock
    ) -> None:
        missing(store)
        clock.now += 10
        store.put_maps([title("u", source=source("b.mm"))])
        store.remove_sources([source("b.mm").path])
        gone = list(store.sources([FILE.path, source("b.mm").path]).values())
        assert store.purge_removed(clock.now) == 0  # only who looks for the files may do that
        assert store.long_missing(b"/maps", clock.now - 10, b"", ALL) == []
        assert store.purge_missing(gone, clock.now - 10) == 0
        assert [one.path for one in store.long_missing(b"/maps", clock.now, b"", ALL)] == [
            FILE.path
        ]
        assert store.long_missing(b"/maps", clock.now, FILE.path, ALL) == []
        assert store.long_missing(b"/map", clock.now, b"", ALL) == []
        assert store.purge_missing([], clock.now) == 0
        assert store.purge_missing(gone, clock.now) == 1
        assert store.sources([FILE.path]) == {}
        assert store.check() == []
        assert put(store, DRAFT).id != shown.id
        assert store.sources([source("b.mm").path])

    def test_a_map_with_several_missing_files_is_deleted_if_all_are_looked_for(
        self, store: Store, shown: Map, clock: Clock
    ) -> None:
        other = source("b.mm", path=b"/elsewhere/b.mm")
        store.put_maps([MapDraft(id=shown.id, source=other)])
        assert store.remove_sources([FILE.path, other.path]) == 1
        clock.now += 1
        (gone,) = store.long_missing(b"/maps", clock.now, b"", ALL)
        assert store.purge_missing([gone], clock.now) == 0
        assert store.sources([FILE.path]) == {FILE.path: gone}
        both = list(store.sources([FILE.path, other.path]).values())
        assert store.purge_missing(both, clock.now) == 1
        assert store.changes(0, ALL)[-1].map is None
        assert store.check() == []

    def test_a_map_that_is_back_is_not_deleted(
        self, store: Store, shown: Map, clock: Clock
    ) -> None:
        missing(store)
        clock.now += 1
        gone = store.long_missing(b"/maps", clock.now, b"", ALL)
        store.put_maps([DRAFT])
        assert store.purge_missing(gone, clock.now) == 0
        assert store.find_map(shown.id) == shown

    def test_the_owner_may_leave_meanwhile(self, store: Store, shown: Map, ann: int) -> None:
        missing(store)
        store.close_account(ann, MapsOfClosedAccount.REMOVE, None)
        while store.finish_closing():
            pass
        store.put_maps([replace(DRAFT, owner=None)])
        back = store.find_map(shown.id)
        assert back == replace(shown, owner="system")
