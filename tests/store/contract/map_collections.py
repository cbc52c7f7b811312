"""Tests of ``contract.Collections``."""

import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from mapshelf.errors import Conflict, NotFound, TooManyCollections
from mapshelf.model import (
    MOST_COLLECTED,
    AuditEntry,
    AuditEvent,
    Collection,
    CollectionDetails,
    Map,
    MapsOfClosedAccount,
    Visibility,
)
from mapshelf.store import Store
from tests.store.clock import Clock
from tests.store.contract.publishing import PeopleSuite, published
from tests.store.contract.sign_in import all_at_once
from tests.store.contract.suite import ALL, Open, put, title
from tests.store.drafts import upload

PUBLISHED = Visibility.PUBLISHED
HOSTILE = "<b>'; DROP TABLE maps; -- 予定 \U0001f600 %s ? {0}"


def made(store: Store, owner: int, *maps: Map, **details: Any) -> Collection:
    said = CollectionDetails(**{"title": "Java", **details})
    return store.add_collection(owner, said, [one.file_id for one in maps])


def titles(store: Store, collection: Collection) -> str:
    return "".join(one.title for one in store.collected_maps(collection.id))


class CollectionsContract(PeopleSuite):
    """Ordered lists of maps that users create."""

    @pytest.fixture
    def maps(self, store: Store) -> list[Map]:
        return [put(store, title(letter, owner="bob")) for letter in "abcde"]

    def test_a_collection_is_as_it_was_made(
        self, store: Store, ann: int, maps: list[Map], clock: Clock
    ) -> None:
        some = [maps[2], maps[0]]
        found = made(store, ann, *some, title=HOSTILE, text=HOSTILE, visibility=PUBLISHED)
        assert found == Collection(
            found.id, HOSTILE, HOSTILE, "ann", PUBLISHED, clock.now, clock.now, None, 2
        )
        assert store.find_collection(found.id) == found
        assert store.collected_maps(found.id) == some
        empty = made(store, ann)
        assert (empty.visibility, empty.text, empty.maps) == (Visibility.PRIVATE, "", 0)
        assert store.check() == []

    def test_collections_need_existing_owners_and_maps(
        self, store: Store, ann: int, maps: list[Map]
    ) -> None:
        found = made(store, ann)
        changes: list[Callable[[str], object]] = [
            lambda wrong: store.edit_collection(wrong, CollectionDetails(title="x")),
            lambda wrong: store.collect(wrong, []),
            lambda wrong: store.arrange(wrong, []),
            lambda wrong: store.take_out(wrong, []),
            lambda wrong: store.move_collected(wrong, 1, 1),
            store.remove_collection,
            lambda wrong: store.pin_collection(wrong, pinned=True),
        ]
        for wrong in ("unknown1", "\0", "", "x" * 100):
            assert store.find_collection(wrong) is None
            assert store.collected_maps(wrong) == []
            for change in changes:
                with pytest.raises(NotFound):
                    change(wrong)
        for fill in (store.collect, store.arrange):
            with pytest.raises(NotFound):
                fill(found.id, [maps[0].file_id, 10**9])
        with pytest.raises(NotFound):
            store.add_collection(10**9, CollectionDetails(title="x"), [])
        with pytest.raises(Conflict):
            store.add_collection(ann, CollectionDetails(), [])
        with pytest.raises(Conflict):
            store.edit_collection(found.id, CollectionDetails(visibility=Visibility.REMOVED))
        assert titles(store, found) == ""

    def test_details_of_a_collection_change(self, store: Store, ann: int, clock: Clock) -> None:
        first = made(store, ann, text="kept")
        clock.now += 5
        said = CollectionDetails(title="Other", visibility=PUBLISHED)
        changed = store.edit_collection(first.id, said)
        assert (changed.title, changed.text, changed.visibility) == ("Other", "kept", PUBLISHED)
        assert (changed.created, changed.changed) == (first.created, clock.now)
        clock.now += 5
        assert store.edit_collection(first.id, said) == changed
        assert store.edit_collection(first.id, CollectionDetails(text="")).text == ""

    def test_maps_are_added_moved_and_taken_out(
        self, store: Store, ann: int, maps: list[Map], clock: Clock
    ) -> None:
        a, b, c, d, _ = (one.file_id for one in maps)
        found = made(store, ann, *maps[:2])
        store.collect(found.id, [b, d, c, d])
        assert titles(store, found) == "abdc"
        clock.now += 5
        assert store.collect(found.id, [a, b]).changed < clock.now
        for file_id, places, order in (
            (c, -1, "abcd"),
            (a, 1, "bacd"),
            (a, 100, "bcda"),
            (a, -(10**9), "abcd"),
            (a, -1, "abcd"),
            (10**9, 1, "abcd"),
        ):
            store.move_collected(found.id, file_id, places)
            assert titles(store, found) == order
        store.take_out(found.id, [b, d, 10**9])
        assert titles(store, found) == "ac"
        assert store.arrange(found.id, [d, a, b, a]).changed == clock.now
        assert titles(store, found) == "dab"
        assert store.arrange(found.id, []).maps == 0

    def test_removed_maps_wait_at_their_place_and_deleted_ones_go(
        self, store: Store, ann: int, bob: int, maps: list[Map]
    ) -> None:
        gone = published(store, bob, upload("x"), "x")
        a, b, *_ = maps
        found = made(store, ann, a, gone, b)
        store.remove_map(gone.file_id, bob)
        assert titles(store, found) == "ab"
        store.move_collected(found.id, b.file_id, -1)
        assert titles(store, found) == "ba"
        assert store.maps_with_ids([gone.id]) == []
        store.undo_removal(gone.file_id)
        assert titles(store, found) == "bxa"
        store.remove_map(gone.file_id, bob)
        assert store.purge_removed(2**60) == 1
        assert titles(store, found) == "ba"
        assert store.check() == []

    def test_only_published_maps_are_counted(self, store: Store, ann: int, bob: int) -> None:
        kinds = [PUBLISHED, Visibility.UNLISTED, Visibility.PRIVATE]
        maps = [published(store, bob, upload(kind), visibility=kind) for kind in kinds]
        assert made(store, ann, *maps).maps == 1

    def test_lists_of_collections(
        self, store: Store, ann: int, bob: int, maps: list[Map], clock: Clock
    ) -> None:
        for owner, name, visibility in (
            (ann, "1", PUBLISHED),
            (ann, "2", Visibility.UNLISTED),
            (bob, "3", PUBLISHED),
            (bob, "4", Visibility.PRIVATE),
            (ann, "5", PUBLISHED),
        ):
            made(store, owner, title=name, visibility=visibility)
            clock.now += 1

        def listed(owner: str | None, reader: int | None, offset: int = 0, limit: int = ALL) -> str:
            some, total = store.collections(owner, reader, offset, limit)
            assert total == store.collections(owner, reader, 0, 0)[1]
            return "".join(one.title for one in some) + f" of {total}"

        assert listed(None, None) == "531 of 3"
        assert listed(None, bob) == "5431 of 4"
        assert listed("ANN", None) == "51 of 2"
        assert listed("ANN", ann, 1, 1) == "2 of 3"
        assert listed("bob", ann, 7) == " of 1"
        assert listed("nobody", ann) == " of 0"
        zoe = store.add_user("Zo\u00eb").id
        made(store, zoe, title="6", visibility=PUBLISHED)
        assert listed(unicodedata.normalize("NFD", "Zo\u00eb"), ann) == "6 of 1"
        store.remove_collection(store.collections_of(zoe)[0].id)
        assert [one.title for one in store.collections_of(bob)] == ["4", "3"]
        first = store.collections_of(ann)[-1]
        store.collect(first.id, [maps[0].file_id])
        assert listed(None, None) == "153 of 3"

    def test_pinned_collections(
        self, store: Store, ann: int, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one, two, three = (
            made(store, ann, title=name, visibility=PUBLISHED) for name in ("1", "2", "3")
        )
        for found in (two, one):
            clock.now += 1
            assert store.pin_collection(found.id, pinned=True).pinned == clock.now
        assert [found.title for found in store.pinned_collections()] == ["2", "1"]
        clock.now += 1
        assert store.pin_collection(two.id, pinned=True).pinned == clock.now - 2
        store.edit_collection(two.id, CollectionDetails(visibility=Visibility.UNLISTED))
        assert [found.title for found in store.pinned_collections()] == ["1"]
        monkeypatch.setattr("mapshelf.store.map_collections.MOST_PINNED", 2)
        with pytest.raises(TooManyCollections):
            store.pin_collection(three.id, pinned=True)
        assert store.pin_collection(two.id, pinned=False).pinned is None
        store.pin_collection(three.id, pinned=True)
        store.remove_collection(one.id)
        assert [found.title for found in store.pinned_collections()] == ["3"]

    def test_no_more_are_pinned_at_the_same_moment(
        self, store: Store, reopen: Open, ann: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("mapshelf.store.map_collections.MOST_PINNED", 3)
        nodes = [store, reopen(), reopen(), reopen()]
        for _ in range(3):  # the first time, some still connect
            ids = [made(store, ann, title="x", visibility=PUBLISHED).id for _ in range(8)]
            pins = [partial(nodes[n % 4].pin_collection, one) for n, one in enumerate(ids)]
            tried = all_at_once(*(partial(pin, pinned=True) for pin in pins))
            refused = [one for one in tried if isinstance(one, TooManyCollections)]
            assert (len(tried), len(refused)) == (8, 5)
            assert len(store.pinned_collections()) == 3
            for one in ids:
                store.remove_collection(one)

    def test_collections_are_bounded(
        self, store: Store, ann: int, bob: int, maps: list[Map], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("mapshelf.store.map_collections.MOST_COLLECTIONS", 3)
        monkeypatch.setattr("mapshelf.store.map_collections.MOST_COLLECTED", 3)
        assert MOST_COLLECTED > 3

        def tried(_: int) -> bool:
            try:
                made(store, ann)
            except TooManyCollections:
                return False
            return True

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(tried, range(8))) == 3
        found = made(store, bob, *maps[:2])
        ids = [one.file_id for one in maps]

        def collected(file_id: int) -> bool:
            try:
                store.collect(found.id, [file_id])
            except TooManyCollections:
                return False
            return True

        with ThreadPoolExecutor(3) as pool:
            assert sum(pool.map(collected, ids[2:])) == 1
        with pytest.raises(TooManyCollections):
            store.arrange(found.id, ids[:4])
        with pytest.raises(TooManyCollections):
            made(store, bob, *maps)
        assert len(store.collected_maps(found.id)) == 3
        assert len(store.collections_of(bob)) == 1

    def test_collections_are_deleted_with_the_account_but_not_their_maps(
        self, store: Store, ann: int, bob: int, maps: list[Map]
    ) -> None:
        gone, kept = made(store, ann, *maps), made(store, bob, *maps)
        own = published(store, ann)
        store.collect(kept.id, [own.file_id])
        store.close_account(ann, MapsOfClosedAccount.REMOVE, None)
        assert store.find_collection(gone.id) is None
        while store.finish_closing():
            pass
        assert titles(store, kept) == "abcde"
        assert store.check() == []

    def test_maps_are_found_by_many_ids(self, store: Store, maps: list[Map]) -> None:
        asked = [maps[3].id, "unknown1", maps[0].id, "\0", maps[3].id, ""]
        assert store.maps_with_ids(asked) == [maps[3], maps[0]]
        assert store.maps_with_ids([]) == []

    def test_changes_of_collections_are_in_the_audit_log(
        self, store: Store, ann: int, maps: list[Map]
    ) -> None:
        with store.auditing(AuditEntry(AuditEvent.COLLECTION_MADE, "", ann)):
            found = made(store, ann)
        target = f"collection {found.id}"
        ids = [one.file_id for one in maps]
        for event, work in (
            (AuditEvent.COLLECTION_CHANGED, lambda: store.arrange(found.id, ids)),
            (AuditEvent.COLLECTION_CHANGED, lambda: store.arrange(found.id, ids)),
            (AuditEvent.COLLECTION_CHANGED, lambda: store.collect(found.id, ids)),
            (AuditEvent.COLLECTION_PINNED, lambda: store.pin_collection(found.id, pinned=True)),
            (AuditEvent.COLLECTION_PINNED, lambda: store.pin_collection(found.id, pinned=True)),
            (AuditEvent.COLLECTION_REMOVED, lambda: store.remove_collection(found.id)),
        ):
            with store.auditing(AuditEntry(event, target, ann)):
                work()
        noted = [(one.entry.event, one.entry.target) for one in store.audit_records(0, 0, ALL)]
        assert noted == [
            (event, target)
            for event in (
                AuditEvent.COLLECTION_MADE,
                AuditEvent.COLLECTION_CHANGED,
                AuditEvent.COLLECTION_PINNED,
                AuditEvent.COLLECTION_REMOVED,
            )
        ]
