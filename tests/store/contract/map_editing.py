"""Tests of ``contract.MapEditing`` and ``contract.Voting``."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from mapshelf.errors import Conflict, NotFound
from mapshelf.formats.ndjson_records import format_record, parse_record
from mapshelf.model import (
    LARGEST_COUNT,
    SYSTEM_USER,
    Change,
    Map,
    MapDetails,
    MapDraft,
    RemovedMap,
    Visibility,
    Vote,
)
from mapshelf.store import Store
from tests.store.clock import Clock
from tests.store.contract.publishing import PeopleSuite, published
from tests.store.contract.suite import (
    ALL,
    CHANGED,
    UNCHANGED,
    Open,
    present,
    put,
    title,
    verdicts,
)
from tests.store.drafts import complete, outline, source, upload


class MapEditingContract(PeopleSuite):
    """Details that users set, which imports respect; and removing maps."""

    def test_details_are_set_one_by_one_and_audited(self, store: Store, ann: int) -> None:
        before = published(store, ann)
        for name, value, key in (
            ("title", "Other", "title"),
            ("description", "words", "description"),
            ("category_id", 5, "category"),
            ("copyright", "CC", "licence"),
            ("licence_type_id", 2, "licence"),
            ("tags", ("x", "y z"), "tags"),
            ("template", True, "template"),
            ("visibility", Visibility.UNLISTED, "visibility"),
        ):
            changes: dict[str, Any] = {name: value}
            revision = store.revision()
            after = store.edit_map(before.file_id, MapDetails(**changes))
            if name == "category_id":
                names = {one.id: one.name for one in store.categories()}
                changes["category"] = names[5]
            noted = before.set_by_people | {key}
            assert after == replace(before, **changes, set_by_people=noted)
            assert present(store)[after.id] == after
            assert store.revision() == revision + 1
            before = after

    def test_the_revision_of_a_map_rises_with_its_changes_only(
        self, store: Store, ann: int
    ) -> None:
        found = published(store, ann)
        assert store.map_revision(found.id) == store.revision()
        before = store.map_revision(found.id)
        put(store, title("Other"))
        store.edit_map(found.file_id, MapDetails())
        assert store.map_revision(found.id) == before
        store.edit_map(found.file_id, MapDetails(visibility=Visibility.PRIVATE))
        assert store.map_revision(found.id) == store.revision() > before
        assert store.map_revision("unknown") == 0

    def test_a_removed_licence_is_not_restored_by_imports(self, store: Store) -> None:
        put(store, complete(licence_type_id=3))
        found = present(store)["Complete"]
        edited = store.edit_map(found.file_id, MapDetails(no_licence=True))
        assert edited == replace(found, licence_type_id=None, set_by_people=frozenset({"licence"}))
        assert verdicts(store.put_maps([complete(licence_type_id=3)])) == [UNCHANGED]
        assert present(store)["Complete"] == edited

    def test_tags_are_changed_from_what_they_are_at_that_moment(
        self, store: Store, ann: int
    ) -> None:
        found = store.edit_map(published(store, ann).file_id, MapDetails(tags=("a", "b")))

        def refuse(_: Sequence[str]) -> tuple[str, ...]:
            raise Conflict("too many")

        edited = store.edit_map(
            found.file_id, MapDetails(title="New"), lambda tags: (*tags[1:], "c")
        )
        assert (edited.title, edited.tags) == ("New", ("b", "c"))
        assert "tags" in edited.set_by_people
        with pytest.raises(Conflict):
            store.edit_map(found.file_id, MapDetails(title="Newer"), refuse)
        assert present(store)[found.id] == edited

    def test_setting_the_same_value_is_audited_once(self, store: Store, ann: int) -> None:
        found = published(store, ann)
        revision = store.revision()
        for _ in range(2):
            edited = store.edit_map(found.file_id, MapDetails(description=found.description))
            assert edited == replace(found, set_by_people=frozenset({"title", "description"}))
            assert store.revision() == revision + 1
        assert store.edit_map(found.file_id, MapDetails()) == edited
        assert store.revision() == revision + 1

    def test_imports_leave_alone_what_people_set(self, store: Store) -> None:
        found = put(store, complete(source=source(), content=b"packed"))
        details = MapDetails(
            description="mine",
            category_id=2,
            copyright="mine",
            licence_type_id=1,
            tags=(),
            visibility=Visibility.UNLISTED,
        )
        edited = store.edit_map(found.file_id, details)
        revision = store.revision()
        assert verdicts(store.put_maps([complete(category_id=700, category="Odd")])) == [UNCHANGED]
        assert store.revision() == revision
        assert present(store)["Complete"] == edited
        assert "Odd" not in [one.name for one in store.categories()]
        again = MapDraft(source=source(), title="New", description="theirs", category="Odd")
        assert verdicts(store.put_maps([again])) == [CHANGED]
        assert present(store)["Complete"] == replace(edited, title="New")

    def test_imports_update_details_that_nobody_set(self, store: Store) -> None:
        found = put(store, complete())
        store.edit_map(found.file_id, MapDetails(tags=("mine",)))
        store.put_maps([MapDraft(id="Complete", description="theirs", copyright="theirs")])
        changed = present(store)["Complete"]
        assert (changed.description, changed.copyright, changed.tags) == (
            "theirs",
            "theirs",
            ("mine",),
        )

    def test_title_and_template_of_a_file_in_a_folder_stay_its_own(self, store: Store) -> None:
        found = put(store, title("t", source=source()))
        for details in (MapDetails(title="x"), MapDetails(template=True, tags=("a",))):
            with pytest.raises(Conflict, match="file"):
                store.edit_map(found.file_id, details)
        assert present(store)[found.id] == found
        same = MapDetails(title="t", template=False, tags=("a",))
        edited = store.edit_map(found.file_id, same)
        assert edited == replace(found, tags=("a",), set_by_people=frozenset({"tags"}))
        record = put(store, title("r"))
        assert store.edit_map(record.file_id, MapDetails(title="x")).title == "x"

    def test_unknown_maps_are_not_edited(self, store: Store, ann: int) -> None:
        found = published(store, ann)
        revision = store.revision()
        with pytest.raises(NotFound, match="category"):
            store.edit_map(found.file_id, MapDetails(title="x", category_id=99))
        with pytest.raises(Conflict, match="removed"):
            store.edit_map(found.file_id, MapDetails(visibility=Visibility.REMOVED))
        with pytest.raises(NotFound, match="no such map"):
            store.edit_map(99, MapDetails(title="x"))
        assert store.revision() == revision
        assert present(store) == {found.id: found}

    def test_a_removed_map_is_gone_until_it_is_restored(
        self, store: Store, ann: int, bob: int, clock: Clock
    ) -> None:
        found = published(store, ann, visibility=Visibility.UNLISTED)
        published(store, bob, upload("other"))
        store.set_vote(found.file_id, bob, Vote.UP)
        found = present(store)[found.id]
        store.replace_file(found.file_id, upload("b"), ann)
        store.remove_map(found.file_id, bob)
        assert store.find_map(found.id) is None
        assert found.id not in present(store)
        assert store.unpublished_maps(ann) == []
        assert store.changes(0, ALL)[-1] == Change(store.revision(), found.file_id, None, None)
        gone = replace(found, visibility=Visibility.REMOVED)
        assert store.removed_maps(None) == store.removed_maps(ann)
        assert store.removed_maps(ann) == [RemovedMap(gone, clock.now, "bob")]
        assert store.removed_maps(bob) == []
        for refused in (
            lambda: store.remove_map(found.file_id, ann),
            lambda: store.edit_map(found.file_id, MapDetails(title="x")),
            lambda: store.replace_file(found.file_id, upload("c"), ann),
            lambda: store.set_vote(found.file_id, bob, Vote.DOWN),
        ):
            with pytest.raises(NotFound):
                refused()
        assert store.undo_removal(found.file_id) == found
        assert store.find_map(found.id) == found
        assert store.vote_of(found.file_id, bob) is Vote.UP
        assert len(store.versions(found.file_id)) == 2
        assert store.removed_maps(None) == []
        with pytest.raises(NotFound):
            store.undo_removal(found.file_id)

    def test_only_known_users_remove_maps(self, store: Store, ann: int) -> None:
        found = published(store, ann)
        with pytest.raises(NotFound):
            store.remove_map(found.file_id, 99)
        with pytest.raises(NotFound):
            store.remove_map(99, ann)
        assert present(store) == {found.id: found}

    def test_an_import_does_not_restore_a_removed_map(self, store: Store, ann: int) -> None:
        draft = title("t", id="t", source=source(), content=b"1", outline=outline("1"))
        found = put(store, draft)
        store.remove_map(found.file_id, ann)
        edited = replace(draft, source=source(digest=b"e" * 32), content=b"2", title="u")
        for again in (draft, edited, MapDraft(id="t", visibility=Visibility.PUBLISHED)):
            store.put_maps([again])
            assert store.find_map("t") is None
            assert store.find_map("t\0") is None
            assert store.changes(0, ALL)[-1].map is None
        back = store.undo_removal(found.file_id)
        assert back == replace(found, title="u")
        content = store.content(found.file_id)
        assert content
        assert content.content == b"2"

    def test_a_removed_file_that_is_gone_takes_its_map_along(self, store: Store, ann: int) -> None:
        found = put(store, title("t", id="t", source=source()))
        store.remove_map(found.file_id, ann)
        assert store.remove_sources([source().path]) == 1
        assert store.removed_maps(None) == []
        assert store.check() == []

    def test_removed_uploads_are_deleted_in_the_end(
        self, store: Store, ann: int, clock: Clock
    ) -> None:
        old, young = (published(store, ann, upload(name)) for name in "ab")
        folder = put(store, title("t", source=source()))
        kept = published(store, ann, upload("c"))
        for found in (old, folder):
            store.remove_map(found.file_id, ann)
        clock.now += 10
        store.remove_map(young.file_id, ann)
        assert store.purge_removed(clock.now - 10) == 0
        revision = store.revision()
        assert store.purge_removed(clock.now) == 1
        assert store.changes(revision, ALL) == [Change(revision + 1, old.file_id, None, None)]
        assert [one.map.id for one in store.removed_maps(None)] == [young.id, folder.id]
        assert store.content(old.file_id) is None
        assert store.versions(old.file_id) == []
        with pytest.raises(NotFound):
            store.undo_removal(old.file_id)
        assert store.purge_removed(clock.now) == 0
        assert store.maps(0, ALL) == [kept]
        refused = store.put_maps([title("x", id="fresh", file_id=old.file_id)])
        assert refused[0].reason, "an id must not be reused"
        assert store.check() == []


class VotingContract(PeopleSuite):
    """Votes, and imports of counts that include them."""

    def counts(self, store: Store, found: Map) -> tuple[int, int]:
        now = store.find_map(found.id)
        assert now
        return now.thumbs_up, now.thumbs_down

    def test_each_vote_counts_once_and_can_be_changed(
        self, store: Store, ann: int, bob: int
    ) -> None:
        found = put(store, title("t", owner="someone", thumbs_up=5, thumbs_down=3))
        for user, vote, up, down in (
            (ann, Vote.UP, 6, 3),
            (ann, Vote.UP, 6, 3),
            (bob, Vote.UP, 7, 3),
            (ann, Vote.DOWN, 6, 4),
            (ann, Vote.DOWN, 6, 4),
            (bob, Vote.NONE, 5, 4),
            (bob, Vote.NONE, 5, 4),
            (ann, Vote.NONE, 5, 3),
        ):
            before, had = store.revision(), store.vote_of(found.file_id, user)
            shown = store.set_vote(found.file_id, user, vote)
            assert shown == replace(found, thumbs_up=up, thumbs_down=down)
            assert self.counts(store, found) == (up, down)
            assert store.vote_of(found.file_id, user) is vote
            assert store.revision() == before + (vote is not had)

    def test_nobody_votes_for_a_map_of_their_own(self, store: Store, ann: int, bob: int) -> None:
        found = published(store, ann)
        with pytest.raises(Conflict, match="own"):
            store.set_vote(found.file_id, ann, Vote.UP)
        for file_id, user in ((99, bob), (found.file_id, 99)):
            with pytest.raises(NotFound):
                store.set_vote(file_id, user, Vote.UP)
        assert store.vote_of(99, bob) is Vote.NONE
        assert self.counts(store, found) == (0, 0)

    def test_a_record_with_the_counts_that_are_shown_changes_nothing(
        self, store: Store, ann: int, bob: int
    ) -> None:
        found = put(store, title("t", thumbs_up=5, thumbs_down=3))
        store.set_vote(found.file_id, ann, Vote.UP)
        store.set_vote(found.file_id, bob, Vote.DOWN)
        exported = [format_record(one) for one in store.maps(0, ALL)]
        revision = store.revision()
        for _ in range(2):
            assert verdicts(store.put_maps([parse_record(exported[0])[0]])) == [UNCHANGED]
        assert store.revision() == revision
        assert self.counts(store, found) == (6, 4)

    def test_other_counts_replace_the_imported_part(self, store: Store, ann: int, bob: int) -> None:
        found = put(store, title("t", thumbs_up=5, thumbs_down=3))
        store.set_vote(found.file_id, ann, Vote.UP)
        store.set_vote(found.file_id, bob, Vote.UP)
        other = MapDraft(id=found.id, thumbs_up=10, thumbs_down=1)
        assert verdicts(store.put_maps([other])) == [CHANGED]
        assert self.counts(store, found) == (12, 1)
        assert verdicts(store.put_maps([other])) == [UNCHANGED]
        store.set_vote(found.file_id, ann, Vote.DOWN)
        assert self.counts(store, found) == (11, 2)
        store.put_maps([MapDraft(id=found.id, thumbs_up=LARGEST_COUNT)])
        assert self.counts(store, found) == (LARGEST_COUNT, 2)
        store.set_vote(found.file_id, ann, Vote.UP)
        assert self.counts(store, found) == (LARGEST_COUNT, 1)

    def test_votes_at_once_are_all_counted(self, store: Store, reopen: Open) -> None:
        found = put(store, title("t", owner=SYSTEM_USER))
        users = [store.add_user(f"u{n}").id for n in range(12)]
        stores = [store, reopen(), reopen()]

        def vote(number: int) -> None:
            for _ in range(2):
                stores[number % 3].set_vote(found.file_id, users[number], Vote.UP)

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(vote, range(12)))
        assert self.counts(store, found) == (12, 0)
