"""Tests of ``contract.Uploads`` and ``contract.MapsOfPeople``."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from mapshelf.errors import Conflict, Forbidden, NotFound
from mapshelf.formats.ndjson_records import format_record, parse_record
from mapshelf.model import (
    DAY,
    HOUR,
    SETTABLE,
    Change,
    KeptFile,
    Map,
    MapDetails,
    MapDraft,
    Origin,
    OriginalFile,
    UploadedFile,
    Usage,
    Version,
    Visibility,
)
from mapshelf.store import Store
from tests.store.clock import Clock
from tests.store.contract.suite import (
    ADDED,
    ALL,
    Open,
    Suite,
    present,
    put,
    title,
    verdicts,
)
from tests.store.drafts import LINK, PICTURE, outline, source, upload

UNPUBLISHED = [Visibility.UNLISTED, Visibility.PRIVATE]


def published(
    store: Store, user: int, file: UploadedFile | None = None, text: str = "Plan", **details: Any
) -> Map:
    found, new = store.publish(file or upload(), MapDetails(title=text, **details), user, None)
    assert new
    return found


class PeopleSuite(Suite):
    """A suite with two users who own maps."""

    @pytest.fixture
    def ann(self, store: Store) -> int:
        return store.add_user("ann").id

    @pytest.fixture
    def bob(self, store: Store) -> int:
        return store.add_user("bob").id


class UploadsContract(PeopleSuite):
    """Uploaded files, and their versions."""

    def test_an_upload_may_say_that_there_is_no_licence(self, store: Store, ann: int) -> None:
        found = published(store, ann, no_licence=True)
        assert found.set_by_people == {"title", "licence"}
        store.put_maps([MapDraft(id=found.id, licence_type_id=2)])
        assert present(store)[found.id].licence_type_id is None

    def test_an_upload_is_a_map_with_all_that_is_in_its_file(
        self, store: Store, ann: int, clock: Clock
    ) -> None:
        details = MapDetails(
            title="Plan",
            description="Ours",
            category_id=4,
            copyright="me",
            licence_type_id=3,
            tags=("a", "b c"),
            template=True,
            visibility=Visibility.PUBLISHED,
        )
        found, new = store.publish(upload(), details, ann, None)
        assert new
        assert found == present(store)[found.id] == store.find_map(found.id)
        assert found.set_by_people == SETTABLE.keys()
        for name in set(MapDetails.__slots__) - {"no_licence"}:
            assert getattr(found, name) == getattr(details, name), name
        assert (found.owner, found.category, found.software) == ("ann", "Business", "FreeMind")
        assert (found.size, found.date_added) == (200, clock.now)
        assert store.changes(0, ALL) == [
            Change(store.revision(), found.file_id, found, upload().outline)
        ]
        kept = OriginalFile("plan.mm", upload().digest, upload().content)
        assert store.content(found.file_id) == kept
        assert store.kept_file(found.file_id) == KeptFile(kept.name, kept.digest, len(kept.content))
        assert store.image(found.file_id, PICTURE) == b"picture of plan.mm"
        assert store.links_from(found.file_id) == [LINK]
        assert store.sources_of(upload().digest) == [], (
            "an import must not take it for a renamed file of a folder"
        )
        assert store.versions(found.file_id) == [
            Version(1, "plan.mm", upload().digest, 2048, clock.now, "ann", current=True)
        ]
        assert store.check() == []

    def test_imports_leave_alone_what_was_said_with_an_upload(self, store: Store, ann: int) -> None:
        """What was left to the file is changed."""
        file = upload(title="From the file", description="From the file", tags=("old",))
        details = MapDetails(title="Mine", category_id=4, visibility=Visibility.PRIVATE)
        found, _ = store.publish(file, details, ann, None)
        assert (found.title, found.description, found.tags) == ("Mine", "From the file", ("old",))
        record = MapDraft(
            id=found.id,
            title="Theirs",
            description="Theirs",
            category_id=2,
            category="Odd",
            tags=("new",),
            visibility=Visibility.PUBLISHED,
        )
        store.put_maps([record])
        assert present(store)[found.id] == replace(found, description="Theirs", tags=("new",))

    def test_a_refused_upload_leaves_nothing(self, store: Store, ann: int) -> None:
        for file, details, user, error in (
            (upload(), MapDetails(), ann, Conflict),
            (upload(), MapDetails(title="t", category_id=99), ann, NotFound),
            (upload(), MapDetails(title="t", visibility=Visibility.REMOVED), ann, Conflict),
            (upload(), MapDetails(title="t"), 99, NotFound),
        ):
            with pytest.raises(error):
                store.publish(file, details, user, None)
        store.disable_user("ann")
        with pytest.raises(Conflict, match="disabled"):
            store.publish(upload(), MapDetails(title="t"), ann, None)
        assert store.maps(0, ALL) == []
        assert store.revision() == 0
        assert store.usage(ann) == Usage(0, 0, 0, None)

    def test_the_same_file_within_a_day_returns_the_existing_map(
        self, store: Store, ann: int, bob: int, clock: Clock
    ) -> None:
        first = published(store, ann)
        clock.now += DAY - 1
        revision = store.revision()
        other = MapDetails(title="Another title")
        assert store.publish(upload(), other, ann, b"key") == (first, False)
        assert store.revision() == revision
        assert store.publish(upload(), other, bob, None)[1], "it is somebody else's"
        clock.now += 1
        again, new = store.publish(upload(), other, ann, None)
        assert new
        assert again.id != first.id

    def test_a_key_does_not_return_a_map_of_another_owner(
        self, store: Store, ann: int, bob: int
    ) -> None:
        key, details = b"k" * 32, MapDetails(title="Plan")
        first, _ = store.publish(upload("a"), details, ann, key)
        put(store, MapDraft(id=first.id, owner="bob"))
        assert store.uploaded(upload("b").digest, ann, key) is None
        _, new = store.publish(upload("b"), details, ann, key)
        assert new

    def test_the_same_key_within_a_day_returns_the_existing_map(
        self, store: Store, ann: int, bob: int, clock: Clock
    ) -> None:
        details = MapDetails(title="t")
        first, _ = store.publish(upload("a"), details, ann, b"key")
        clock.now += DAY - 1
        assert store.publish(upload("b"), details, ann, b"key") == (first, False)
        assert store.publish(upload("b"), details, bob, b"key")[1], "it is somebody else's"
        assert store.publish(upload("c"), details, ann, b"other")[1]
        clock.now += 1
        assert store.publish(upload("d"), details, ann, b"key")[1]

    def test_other_uploads_of_the_day_forget_no_key(
        self, store: Store, ann: int, bob: int, clock: Clock
    ) -> None:
        details = MapDetails(title="t")
        first, _ = store.publish(upload("a"), details, ann, b"key")
        clock.now += DAY - 1
        store.publish(upload("b"), details, bob, None)
        assert store.publish(upload("c"), details, ann, b"key") == (first, False)

    def test_an_upload_of_a_map_that_is_removed_is_new(self, store: Store, ann: int) -> None:
        details = MapDetails(title="t")
        first, _ = store.publish(upload(), details, ann, b"key")
        store.remove_map(first.file_id, ann)
        again, new = store.publish(upload(), details, ann, b"key")
        assert new
        assert again.id != first.id
        assert store.publish(upload("b"), details, ann, b"key") == (again, False)

    def test_the_map_of_a_repeated_upload_is_known_before_it(
        self, store: Store, ann: int, bob: int, clock: Clock
    ) -> None:
        file, key = upload(), b"k" * 32
        assert store.uploaded(file.digest, ann, key) is None
        found, _ = store.publish(file, MapDetails(title="Plan"), ann, key)
        revision = store.revision()
        assert store.uploaded(file.digest, ann, None) == found
        assert store.uploaded(b"other".ljust(32), ann, key) == found
        assert store.uploaded(b"other".ljust(32), ann, None) is None
        assert store.uploaded(file.digest, bob, key) is None
        assert store.revision() == revision
        clock.now += DAY
        assert store.uploaded(file.digest, ann, key) is None
        again, new = store.publish(file, MapDetails(title="Plan"), ann, key)
        assert new
        store.remove_map(again.file_id, ann)
        assert store.uploaded(file.digest, ann, key) is None

    def test_of_simultaneous_equal_uploads_one_is_new(
        self, store: Store, reopen: Open, ann: int
    ) -> None:
        stores = [store, reopen(), reopen(), reopen()]

        def send(one: Store) -> tuple[Map, bool]:
            return one.publish(upload(), MapDetails(title="t"), ann, b"key")

        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(send, stores))
        assert sorted(new for _, new in results) == [False, False, False, True]
        assert len({found.id for found, _ in results}) == len(store.maps(0, ALL)) == 1

    def test_a_check_in_the_transaction_can_refuse_an_upload(
        self, store: Store, reopen: Open, ann: int
    ) -> None:
        """Of simultaneous uploads, each sees those before it."""
        stores = [store, reopen(), reopen(), reopen()]

        def at_most_two(usage: Usage) -> None:
            if usage.maps >= 2:
                raise Conflict("full")

        def send(number: int) -> bool:
            file = replace(upload(), digest=bytes([number]) * 32)
            details = MapDetails(title="t")
            try:
                return stores[number].publish(file, details, ann, None, at_most_two)[1]
            except Conflict:
                return False

        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(send, range(4)))
        assert sorted(results) == [False, False, True, True]
        assert store.usage(ann).maps == store.usage(ann).recent == 2

    def test_a_check_in_the_transaction_can_refuse_another_file(
        self, store: Store, ann: int
    ) -> None:
        found = published(store, ann)
        seen = []

        def refuse(usage: Usage) -> None:
            seen.append(usage)
            raise Conflict("full")

        other = replace(upload(), digest=b"o" * 32)
        with pytest.raises(Conflict):
            store.replace_file(found.file_id, other, ann, refuse)
        assert [version.number for version in store.versions(found.file_id)] == [1]
        assert store.replace_file(found.file_id, upload(), ann, refuse) == found
        assert store.publish(upload(), MapDetails(title="t"), ann, None, refuse) == (found, False)
        assert [usage.recent for usage in seen] == [1]

    def test_another_file_is_a_new_version(
        self, store: Store, ann: int, bob: int, clock: Clock
    ) -> None:
        first = published(store, ann, description="Ours", tags=("a",))
        clock.now += 5
        revision = store.revision()
        other = upload("b.xmind", size=512, software="", images={}, links=())
        changed = store.replace_file(first.file_id, other, bob)
        assert changed == replace(first, size=50, software="", software_id=None)
        assert store.changes(revision, ALL) == [
            Change(store.revision(), first.file_id, changed, other.outline)
        ]
        kept = OriginalFile("b.xmind", other.digest, other.content)
        assert store.content(first.file_id) == store.version_file(first.file_id, 2) == kept
        assert store.image(first.file_id, PICTURE) is None
        assert store.links_from(first.file_id) == []
        assert store.versions(first.file_id) == [
            Version(2, "b.xmind", other.digest, 512, clock.now, "bob", current=True),
            Version(1, "plan.mm", upload().digest, 2048, clock.now - 5, "ann", current=False),
        ]
        former = store.version_file(first.file_id, 1)
        assert former == OriginalFile("plan.mm", upload().digest, upload().content)

    def test_a_restored_version_is_a_new_version(self, store: Store, ann: int) -> None:
        first = published(store, ann)
        store.replace_file(first.file_id, upload("b"), ann)
        assert store.replace_file(first.file_id, upload(), ann) == first
        numbers = [(one.number, one.name, one.current) for one in store.versions(first.file_id)]
        assert numbers == [(3, "plan.mm", True), (2, "b", False), (1, "plan.mm", False)]
        assert store.outline(first.file_id) == upload().outline

    def test_uploading_the_current_file_changes_nothing(self, store: Store, ann: int) -> None:
        first = published(store, ann)
        revision = store.revision()
        assert store.replace_file(first.file_id, upload(), ann) == first
        assert store.revision() == revision
        assert len(store.versions(first.file_id)) == 1

    def test_another_file_with_the_same_facts_is_a_change(self, store: Store, ann: int) -> None:
        first = published(store, ann)
        revision = store.revision()
        same = upload(digest=b"d" * 32, content=b"other bytes")
        assert store.replace_file(first.file_id, same, ann) == first
        assert store.revision() == revision + 1
        content = store.content(first.file_id)
        assert content
        assert content.content == b"other bytes"

    def test_ten_versions_are_kept(self, store: Store, ann: int) -> None:
        first = published(store, ann, upload("0"))
        for number in range(1, 13):
            store.replace_file(first.file_id, upload(str(number)), ann)
        versions = store.versions(first.file_id)
        assert [(one.number, one.name) for one in versions] == [
            (number + 1, str(number)) for number in range(12, 2, -1)
        ]
        assert store.version_file(first.file_id, 3) is None
        for one in versions:
            file = store.version_file(first.file_id, one.number)
            assert file == OriginalFile(one.name, one.digest, upload(one.name).content)

    def test_files_of_folders_are_not_replaced(self, store: Store, ann: int) -> None:
        draft = title("t", source=source(), content=b"packed", owner="ann")
        found = put(store, draft)
        with pytest.raises(Conflict, match="folder"):
            store.replace_file(found.file_id, upload(), ann)
        assert store.versions(found.file_id) == []
        assert store.version_file(found.file_id, 1) is None
        with pytest.raises(NotFound):
            store.replace_file(99, upload(), ann)
        assert store.content(found.file_id) == OriginalFile("a.mm", source().digest, b"packed")

    def test_refused_files_count_as_uploads(self, store: Store, ann: int, clock: Clock) -> None:
        store.note_refused_upload(ann)
        store.note_refused_upload(ann)
        assert store.usage(ann) == Usage(maps=0, size=0, recent=2, first=clock.now)
        with pytest.raises(NotFound):
            store.note_refused_upload(99)

    def test_uploads_of_a_clock_that_was_ahead_do_not_count(
        self, store: Store, ann: int, clock: Clock
    ) -> None:
        clock.now += 365 * DAY
        store.note_refused_upload(ann)
        clock.now -= 365 * DAY
        store.note_refused_upload(ann)
        assert store.usage(ann) == Usage(maps=0, size=0, recent=1, first=clock.now)

    def test_usage_counts_stored_files_and_uploads_of_the_last_hour(
        self, store: Store, ann: int, bob: int, clock: Clock
    ) -> None:
        put(store, title("imported", owner="ann"))
        began = clock.now
        none: dict[str, bytes] = {}
        first = published(store, ann, upload("a", size=100, images=none))
        published(store, ann, upload("b", size=10, images=none))
        published(store, bob, upload("c", size=1000))
        clock.now += 1
        store.replace_file(first.file_id, upload("d", size=1, images=none), ann)
        assert store.usage(ann) == Usage(maps=2, size=111, recent=3, first=began)
        store.remove_map(first.file_id, ann)
        assert store.usage(ann) == Usage(1, 10, 3, began, removed=101, removed_maps=1)
        clock.now = began + HOUR
        assert store.usage(ann) == Usage(1, 10, 1, began + 1, removed=101, removed_maps=1)
        clock.now += 1
        assert store.usage(ann) == Usage(1, 10, 0, None, removed=101, removed_maps=1)
        store.purge_removed(clock.now)
        assert store.usage(ann) == Usage(1, 10, 0, None)

    def test_pictures_count_with_the_files_that_they_are_in(
        self, store: Store, ann: int, bob: int
    ) -> None:
        """For a map in a folder, neither counts."""
        put(store, title("imported", owner="ann", source=source(), images={PICTURE: b"x" * 9}))
        one, two = PICTURE, PICTURE[::-1]
        first = published(store, ann, upload("a", size=100, images={one: b"x" * 7, two: b"y" * 5}))
        published(store, ann, upload("b", size=10, images={one: b"x" * 7}))
        published(store, bob, upload("c", size=1000, images={one: b"z" * 100}))
        assert store.usage(ann).size == 110 + 7 + 5 + 7
        assert store.usage(ann, first.file_id).size == 110 + 7, (
            "pictures of a file to replace do not count"
        )
        seen: list[Usage] = []
        other = upload("d", size=1000, images={"ab" * 32: b"w" * 50})
        store.replace_file(first.file_id, other, ann, seen.append)
        assert [usage.size for usage in seen] == [110 + 7]
        assert store.usage(ann).size == 1110 + 50 + 7, "those of earlier versions are not kept"
        store.remove_map(first.file_id, ann)
        usage = store.usage(ann)
        assert (usage.size, usage.removed) == (10 + 7, 1100 + 50)

    def test_a_removed_map_is_restored_only_within_the_quota(self, store: Store, ann: int) -> None:
        found = published(store, ann, upload("a", size=100, images={}))
        published(store, ann, upload("b", size=10, images={}))
        store.remove_map(found.file_id, ann)
        revision, seen = store.revision(), []

        def refuse(usage: Usage) -> None:
            seen.append(usage)
            raise Forbidden("maps", "too much")

        with pytest.raises(Forbidden):
            store.undo_removal(found.file_id, refuse)
        assert [(usage.maps, usage.size, usage.removed) for usage in seen] == [(2, 110, 0)]
        assert store.find_map(found.id) is None
        assert store.revision() == revision
        assert store.undo_removal(found.file_id).visibility is found.visibility


class VisibilityContract(PeopleSuite):
    """Who can find a map, and that the feed has only published ones."""

    @pytest.mark.parametrize("visibility", UNPUBLISHED)
    def test_unpublished_maps_are_not_in_the_feed(
        self, store: Store, ann: int, visibility: Visibility
    ) -> None:
        hidden = published(store, ann, visibility=visibility)
        assert store.changes(0, ALL) == [Change(store.revision(), hidden.file_id, None, None)]
        assert store.map_count() == 0
        assert store.find_map(hidden.id) == hidden
        assert store.maps(0, ALL) == [hidden]

    def test_everybody_may_see_what_is_published_or_unlisted(self, store: Store, ann: int) -> None:
        maps = {
            one: published(store, ann, upload(f"{one}.mm"), visibility=one)
            for one in (Visibility.PUBLISHED, *UNPUBLISHED)
        }
        removed = published(store, ann, upload("removed.mm"))
        store.remove_map(removed.file_id, ann)
        asked = [removed.id, "unkn0wn0", *(one.id for one in maps.values())]
        shown = {maps[one].id for one in (Visibility.PUBLISHED, Visibility.UNLISTED)}
        assert store.open_ids(asked) == shown
        assert store.open_ids([]) == frozenset()

    def test_a_map_is_open_since_it_was_last_hidden(self, store: Store, ann: int) -> None:
        found = published(store, ann)
        assert store.open_since(found.id) == 0
        store.edit_map(found.file_id, MapDetails(visibility=Visibility.UNLISTED))
        assert store.open_since(found.id) == 0
        store.edit_map(found.file_id, MapDetails(visibility=Visibility.PRIVATE))
        hidden = store.revision()
        assert store.open_since(found.id) is None
        store.edit_map(found.file_id, MapDetails(visibility=Visibility.PUBLISHED))
        assert store.open_since(found.id) == hidden
        store.remove_map(found.file_id, ann)
        removed = store.revision()
        assert store.open_since(found.id) is None
        store.undo_removal(found.file_id)
        assert store.open_since(found.id) == removed
        assert store.open_since("unkn0wn0") is None

    @pytest.mark.parametrize("visibility", UNPUBLISHED)
    def test_a_map_leaves_the_feed_and_returns(
        self, store: Store, ann: int, visibility: Visibility
    ) -> None:
        found = published(store, ann)
        before = store.revision()
        hidden = store.edit_map(found.file_id, MapDetails(visibility=visibility))
        assert hidden.visibility is visibility
        assert store.changes(before, ALL) == [Change(before + 1, found.file_id, None, None)]
        back = store.edit_map(found.file_id, MapDetails(visibility=Visibility.PUBLISHED))
        assert back == replace(found, set_by_people=frozenset({"title", "visibility"}))
        assert store.changes(before, ALL) == [
            Change(before + 2, found.file_id, back, upload().outline)
        ]
        assert store.map_count() == 1

    def test_changes_of_all_kinds_are_in_order(self, store: Store, ann: int) -> None:
        """Published, hidden and deleted maps are read from different tables."""
        kinds = [None, Visibility.PRIVATE, Visibility.PUBLISHED, Visibility.UNLISTED] * 3
        maps = [
            published(store, ann, upload(str(n)), visibility=kind) for n, kind in enumerate(kinds)
        ]
        store.delete_maps([maps[4].id])
        store.remove_map(maps[0].file_id, ann)
        shown = [n for n in range(12) if n % 2 == 0 and n not in (0, 4)]
        order = [maps[n].file_id for n in range(12) if n not in (0, 4)]
        order += [maps[4].file_id, maps[0].file_id]
        for limit in (1, 3, ALL):
            found: list[Change] = []
            after = 0
            while some := store.changes(after, limit):
                found, after = found + some, some[-1].revision
            assert [change.file_id for change in found] == order, limit
            there = [change.file_id for change in found if change.map]
            assert there == [maps[n].file_id for n in shown]
        assert store.map_count() == len(shown)

    def test_owners_find_their_unpublished_maps(self, store: Store, ann: int, bob: int) -> None:
        published(store, ann, upload("a"))
        private = published(store, ann, upload("b"), visibility=Visibility.PRIVATE)
        unlisted = published(store, ann, upload("c"), visibility=Visibility.UNLISTED)
        removed = published(store, ann, upload("d"), visibility=Visibility.PRIVATE)
        store.remove_map(removed.file_id, ann)
        other = published(store, bob, upload("e"), visibility=Visibility.PRIVATE)
        assert store.unpublished_maps(ann) == [private, unlisted]
        assert store.unpublished_maps(bob) == [other]
        assert store.unpublished_maps(99) == []
        assert store.unpublished_ids(ann) == [
            (private.file_id, Visibility.PRIVATE),
            (unlisted.file_id, Visibility.UNLISTED),
        ]
        assert store.unpublished_ids(99) == []
        assert store.unpublished_counts(99, "views") == []
        for field in ("views", "downloads", "date_added"):
            assert store.unpublished_counts(ann, field) == [
                (one.file_id, one.id, one.visibility, getattr(one, field))
                for one in (private, unlisted)
            ]
        asked = [unlisted.file_id, removed.file_id, other.file_id, 99]
        assert store.unpublished_maps(ann, asked) == [unlisted]
        assert store.unpublished_maps(ann, []) == []

    def test_outlines_and_origins_of_many_maps_are_those_of_each(
        self, store: Store, ann: int, clock: Clock
    ) -> None:
        file = replace(source("/m/b/c.mm"), name="b/c.mm", modified=5_000_000)
        imported = put(store, title("a", source=file, content=b"x", outline=outline("x" * 99)))
        uploaded, bare = published(store, ann), put(store, title("b"))
        asked = [uploaded.file_id, bare.file_id, imported.file_id, 99]
        assert store.origins(asked) == {one: store.origin(one) for one in asked[:3]}
        assert store.origins(asked)[imported.file_id] == Origin("b/c.mm", 5)
        assert store.origins(asked)[uploaded.file_id] == Origin("", clock.now)
        found = store.outlines(asked)
        expected = {imported.file_id: outline("x" * 99), uploaded.file_id: upload().outline}
        assert found == expected
        assert store.outline_sizes(asked) == {one: len(found[one]) for one in found}
        assert (store.origins([]), store.outline_sizes([]), store.outlines([])) == ({}, {}, {})

    def test_nothing_is_found_by_an_id_that_no_map_has(self, store: Store, ann: int) -> None:
        found = published(store, ann)
        for public_id in ("", "nobody", found.id.swapcase(), "\xe9", "x" * 10_000):
            assert (store.find_map(public_id) is not None) == (public_id == found.id)

    @pytest.mark.parametrize("visibility", UNPUBLISHED)
    def test_links_do_not_lead_to_unpublished_maps(
        self, store: Store, visibility: Visibility
    ) -> None:
        for name in "ab":
            put(store, title(name, id=name, source=source(f"{name}.mm"), outline=outline("r"),
                links=[LINK]))  # fmt: skip
        hidden = present(store)["b"]
        store.edit_map(hidden.file_id, MapDetails(visibility=visibility))
        assert [link.map for link in store.links_to(["other.mm"], 9, 99)] == ["a"]
        assert store.links_from(hidden.file_id) == [LINK]
        paths = [source(f"{name}.mm").path for name in "ab"]
        assert [file.map for file in store.files_at(paths)] == ["a"]
        assert set(store.files_named(["a.mm", "b.mm"], 1)) == {"a.mm"}

    def test_hidden_files_do_not_take_the_place_of_others(self, store: Store) -> None:
        for folder in "abc":
            path = f"/maps/{folder}/x.mm".encode()
            put(store, title(folder, id=folder, source=source("x.mm", path=path)))
        for name in "ab":
            hidden = present(store)[name]
            store.edit_map(hidden.file_id, MapDetails(visibility=Visibility.PRIVATE))
        assert [file.map for file in store.files_named(["x.mm"], 1)["x.mm"]] == ["c"]

    @pytest.mark.parametrize("visibility", UNPUBLISHED)
    def test_records_say_who_sees_a_map(
        self, store: Store, ann: int, visibility: Visibility
    ) -> None:
        found = published(store, ann, visibility=visibility, tags=("a", "b"))
        line = format_record(found)
        assert f'"Tags":"a, b","Visibility":"{visibility.value}"'.encode() in line
        draft, unknown = parse_record(line)
        assert unknown == []
        store.delete_maps([found.id])
        assert verdicts(store.put_maps([draft])) == [ADDED]
        assert present(store)[found.id] == replace(found, set_by_people=frozenset())
        assert store.changes(0, ALL)[-1].map is None
