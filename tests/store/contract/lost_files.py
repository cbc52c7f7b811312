"""Tests of the files that were lost lately, and of moves that are uncertain."""

import pytest

from mapshelf.model import Map, MapDetails, Source, Visibility
from mapshelf.store import Store
from mapshelf.store.lost_files import LOST_WITHIN
from tests.store.clock import Clock
from tests.store.contract.copied_files import COPY, FILE, SAME, draft
from tests.store.contract.publishing import PeopleSuite
from tests.store.contract.suite import ALL, present, put
from tests.store.drafts import source

PRIVATE = MapDetails(visibility=Visibility.PRIVATE)
MOVED = source("moved.mm", digest=SAME)


class LostFilesContract(PeopleSuite):
    """Files of unpublished maps that are perhaps elsewhere."""

    @pytest.fixture
    def secret(self, store: Store, ann: int) -> Map:
        """A private map of ann's, of ``FILE``. Another one with this content is published."""
        found = put(store, draft(FILE))
        put(store, draft(COPY))
        return store.edit_map(found.file_id, PRIVATE)

    def lost(self, store: Store, limit: int = ALL) -> list[tuple[bytes, int]]:
        return store.lost_lately(SAME, limit)

    def test_those_of_unpublished_maps_are_remembered_for_an_hour(
        self, store: Store, secret: Map, clock: Clock
    ) -> None:
        unknown = source("unknown.mm", digest=SAME)
        other = Source(FILE.path, FILE.name, 1, 1, b"o" * 32)
        store.note_lost([FILE, COPY, unknown, other])
        assert self.lost(store) == [(FILE.path, FILE.modified)]
        assert self.lost(store, 0) == store.lost_lately(b"o" * 32, ALL) == []
        # It is still known as lost after it was found at another place, by a guess.
        assert store.move_source(FILE.path, MOVED)
        assert self.lost(store) == [(FILE.path, FILE.modified)]
        clock.now += LOST_WITHIN - 1
        assert self.lost(store)
        clock.now += 1
        assert self.lost(store) == []
        store.note_lost([])
        clock.now -= 1
        assert self.lost(store) == [], "old ones are deleted"

    def test_each_map_is_remembered_once_for_a_content(self, store: Store, secret: Map) -> None:
        store.note_lost([FILE])
        assert store.move_source(FILE.path, MOVED)
        store.note_lost([MOVED])
        assert self.lost(store) == [(MOVED.path, MOVED.modified)]

    def test_published_and_deleted_maps_do_not_count(self, store: Store, secret: Map) -> None:
        store.note_lost([FILE])
        store.edit_map(secret.file_id, MapDetails(visibility=Visibility.PUBLISHED))
        assert self.lost(store) == []
        store.edit_map(secret.file_id, PRIVATE)
        assert self.lost(store)
        store.remove_sources([FILE.path])
        assert self.lost(store), "it is missing"
        store.delete_maps([secret.id])
        assert self.lost(store) == []

    @pytest.mark.parametrize("missing", [False, True])
    def test_a_map_that_is_moved_without_certainty_is_private_at_once(
        self, store: Store, secret: Map, missing: bool
    ) -> None:
        """The process may end before the file is read."""
        (public,) = (one for one in present(store).values() if one.id != secret.id)
        if missing:
            store.remove_sources([COPY.path])
        revision = store.revision()
        assert store.move_source(COPY.path, MOVED, uncertain=True)
        assert [one.file_id for one in store.changes(revision, ALL)] == [public.file_id]
        moved = put(store, draft(MOVED))
        assert (moved.id, moved.visibility) == (public.id, Visibility.PRIVATE)
        written = source("moved.mm", digest=b"n" * 32)
        assert put(store, draft(written)).visibility is Visibility.PRIVATE
        shown = store.edit_map(moved.file_id, MapDetails(visibility=Visibility.PUBLISHED))
        assert put(store, draft(written)) == shown
        assert store.check() == []

    def test_a_removed_map_that_is_moved_without_certainty_stays_removed(
        self, store: Store, secret: Map, ann: int
    ) -> None:
        store.remove_map(secret.file_id, ann)
        assert store.move_source(FILE.path, MOVED, uncertain=True)
        assert [one.map.id for one in store.removed_maps(ann)] == [secret.id]
        assert store.undo_removal(secret.file_id).visibility is Visibility.PRIVATE

    @pytest.mark.parametrize("state", ["private", "removed", "missing"])
    def test_files_of_unpublished_maps_are_found_by_their_names(
        self, store: Store, clock: Clock, ann: int, state: str
    ) -> None:
        some = [put(store, draft(source(f"{one}/Plan.mm"))) for one in "abc"]
        put(store, draft(source("a/plans.mm")))
        for one in some[:2]:
            store.edit_map(one.file_id, PRIVATE)
            if state == "removed":
                store.remove_map(one.file_id, ann)
        if state == "missing":
            store.remove_sources([source(f"{one}/Plan.mm").path for one in "abc"])
        clock.now += LOST_WITHIN - 1
        expected = [b"/maps/a/Plan.mm", b"/maps/b/Plan.mm"]
        found = store.unpublished_named(["plan.mm", "other.mm"], ALL)
        assert sorted(one.path for one in found) == expected
        assert {one.is_gone for one in found} == {state == "missing"}
        assert len(store.unpublished_named(["plan.mm"], 1)) == 1
        assert store.unpublished_named(["plans.mm"], ALL) == []
        clock.now += 1
        assert bool(store.unpublished_named(["plan.mm"], ALL)) is (state != "missing")
