"""Tests of ``contract.ChangeFeed``."""

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given, settings
from hypothesis import strategies as st

from mapshelf.model import (
    Change,
    Map,
    MapDetails,
    MapDraft,
    Visibility,
)
from mapshelf.store import Store
from tests.examples import examples
from tests.store.contract.suite import (
    ALL,
    INHERITED,
    Open,
    Suite,
    put,
    random_writes,
    title,
    until_quiet,
)
from tests.store.drafts import complete


class ChangeFeedContract(Suite):
    """Revisions, changes, and waiting for them."""

    def test_each_store_has_its_own_permanent_identity(
        self, store: Store, reopen: Open, empty: Callable[[], Store]
    ) -> None:
        assert store.identity() == reopen().identity()
        assert store.identity() != empty().identity()

    def test_lineage_identifies_a_revision_of_a_store(
        self, store: Store, reopen: Open, empty: Callable[[], Store]
    ) -> None:
        other = empty()
        seen = {store.lineage(0), other.lineage(0)}
        for name in "ab":
            for one in (store, other):
                one.put_maps([title(name, id=name)])
                seen.add(one.lineage(one.revision()))
        assert len(seen) == 6
        revision = store.revision()
        lineage = store.lineage(revision)
        store.delete_maps(["a"])
        assert store.lineage(revision) == reopen().lineage(revision) == lineage
        assert store.lineage(store.revision()) not in seen
        assert store.lineage(store.revision() + 1) == store.lineage(0)

    def test_revision_is_that_of_the_newest_change(self, store: Store) -> None:
        store.put_maps([title("a", id="a"), title("b", id="b")])
        assert store.revision() == store.changes(0, ALL)[-1].revision > 0
        before = store.revision()
        store.delete_maps(["a"])
        assert store.revision() == store.changes(0, ALL)[-1].revision > before

    def test_a_change_shows_the_map_and_its_outline(self, store: Store) -> None:
        found = put(store, complete())
        (change,) = store.changes(0, ALL)
        assert change == Change(store.revision(), 77, found, complete().outline)
        bare = put(store, title("bare"))
        assert store.changes(change.revision, ALL) == [
            Change(store.revision(), bare.file_id, bare, None)
        ]

    def test_each_map_appears_once_at_its_latest_change(self, store: Store) -> None:
        store.put_maps([title(name, id=name) for name in "abc"])
        store.put_maps([MapDraft(id="a", views=5)])
        store.delete_maps(["b"])
        store.put_maps([MapDraft(id="a", views=6)])
        changes = store.changes(0, ALL)
        assert [change.file_id for change in changes] == [3, 2, 1]
        assert [change.map and change.map.views for change in changes] == [0, None, 6]
        assert [change.map is None for change in changes] == [False, True, False]

    def test_a_deletion_has_no_outline(self, store: Store) -> None:
        store.put_maps([complete()])
        store.delete_maps(["Complete"])
        assert store.changes(0, ALL) == [Change(store.revision(), 77, None, None)]
        assert store.outline(77) is None

    def test_a_map_recreated_after_deletion_is_one_change(self, store: Store) -> None:
        store.put_maps([complete()])
        store.delete_maps(["Complete"])
        found = put(store, complete())
        assert store.changes(0, ALL) == [Change(store.revision(), 77, found, complete().outline)]

    def test_withdrawn_maps_are_reported(self, store: Store, reopen: Open) -> None:
        assert (store.last_withdrawal(), store.withdrawn(0, ALL)) == (0, [])
        ann = store.add_user("ann").id
        maps = {name: put(store, title(name, id=name)) for name in "abcde"}
        assert store.last_withdrawal() == 0
        before = store.revision()
        found = []
        for name, hidden in (("c", "private"), ("a", "unlisted")):
            details = MapDetails(visibility=Visibility(hidden))
            store.edit_map(maps[name].file_id, details)
            found.append((store.revision(), maps[name].file_id, name))
        store.put_maps([MapDraft(id="e", views=3)])
        store.remove_map(maps["b"].file_id, ann)
        found.append((store.revision(), maps["b"].file_id, "b"))
        store.delete_maps(["d"])
        found.append((store.revision(), maps["d"].file_id, "d"))
        for one in (store, reopen()):
            assert one.last_withdrawal() == store.revision()
            assert one.withdrawn(before, ALL) == found
            assert one.withdrawn(before, 1) == found[:1]
            assert one.withdrawn(found[0][0], 2) == found[1:3]
            assert one.withdrawn(store.revision(), ALL) == []
        store.edit_map(maps["c"].file_id, MapDetails(visibility=Visibility.PUBLISHED))
        assert store.last_withdrawal() == found[-1][0]
        assert store.withdrawn(before, ALL) == found[1:], (
            "a map that is listed again is not withdrawn"
        )

    @settings(max_examples=examples(15), suppress_health_check=INHERITED)
    @given(seed=st.integers(0, 2**32), limit=st.integers(1, 7))
    def test_following_the_feed_in_steps_gives_the_current_state(
        self, store: Store, seed: int, limit: int
    ) -> None:
        mirror: dict[int, Map] = {found.file_id: found for found in store.maps(0, ALL)}
        revision = store.revision()
        for _ in random_writes(store, random.Random(seed)):
            changes = store.changes(revision, limit)
            revisions = [change.revision for change in changes]
            assert revisions == sorted(set(revisions))
            assert len(changes) <= limit
            for change in changes:
                assert change.revision > revision
                revision = change.revision
                if change.map is None:
                    mirror.pop(change.file_id, None)
                else:
                    mirror[change.file_id] = change.map
        while changes := store.changes(revision, limit):
            revision = changes[-1].revision
            for change in changes:
                mirror.pop(change.file_id, None)
                if change.map is not None:
                    mirror[change.file_id] = change.map
        assert sorted(mirror.values(), key=lambda found: found.file_id) == store.maps(0, ALL)
        assert revision == store.revision()

    def test_outlines_are_bounded_in_bytes(self, store: Store) -> None:
        """One call must fit into memory, however large the outlines are."""
        sizes = (40, 40, 0, 30, 200, 10, 0, 90)
        store.put_maps(
            [
                MapDraft(id=f"m{place}", title="m", outline=bytes(size) or None)
                for place, size in enumerate(sizes)
            ]
        )
        store.delete_maps(["m6"])
        found, revision = [], 0
        while changes := store.changes(revision, ALL, 100):
            found.append([len(change.outline or b"") for change in changes])
            revision = changes[-1].revision
        assert found == [[40, 40, 0], [30], [200], [10, 90, 0]]
        assert revision == store.revision()
        assert len(store.changes(0, 2, 100)) == 2
        assert len(store.changes(0, 5, 0)) == 1
        assert len(store.changes(0, ALL)) == len(sizes)

    def test_limit_zero_gives_nothing(self, store: Store) -> None:
        store.put_maps([title("a")])
        assert store.changes(0, 0) == []
        assert store.maps(0, 0) == []

    def test_waiting_ends_at_once_when_there_is_something_new(self, store: Store) -> None:
        store.put_maps([title("a"), title("b")])
        for after in (0, 1):
            until_quiet(store, store.revision())
            began = time.monotonic()
            assert store.wait(after, 60)
            assert time.monotonic() - began < 10

    def test_waiting_without_changes_ends_with_the_timeout(self, store: Store) -> None:
        until_quiet(store, 0)
        began = time.monotonic()
        assert not store.wait(0, 0.3)
        assert time.monotonic() - began > 0.2

    def test_waiting_is_ended_by_another_writer(self, store: Store, reopen: Open) -> None:
        writer = reopen()
        until_quiet(store, 0)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(store.wait, 0, 10)
            writer.put_maps([title("a")])
            assert waiting.result(5)
        assert store.revision() == 1

    def test_waiting_on_an_unreachable_store_raises_nothing(self, store: Store) -> None:
        store.close()
        store.wait(0, 0.1)
