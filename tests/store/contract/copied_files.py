"""Tests of what copies of files inherit, and of ``contract.Sources.adopt_copy``."""

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import pytest

from mapshelf.errors import NotFound
from mapshelf.model import (
    CollectionDetails,
    DecisionKind,
    Map,
    MapDetails,
    MapDraft,
    Reason,
    Source,
    Visibility,
    Vote,
)
from mapshelf.store import Store
from mapshelf.store.inherited_visibility import COPIED_WITHIN
from mapshelf.store.tables import INHERITED
from tests.store.clock import Clock
from tests.store.contract.publishing import PeopleSuite
from tests.store.contract.suite import (
    ALL,
    CHANGED,
    REFUSED,
    UNCHANGED,
    present,
    put,
    title,
    verdicts,
)
from tests.store.drafts import source

UnicodeForm = Literal["NFC", "NFD"]

SAME = b"s" * 32
FILE = source("a/1.mm", digest=SAME)
COPY = source("b/1.mm", digest=SAME)


def draft(file: Source, folder: bytes = b"/maps/", owner: str = "ann") -> MapDraft:
    return title(file.name, source=file, folder=folder, owner=owner)


def copied(store: Store, new: MapDraft) -> Map | None:
    """Put a map; return it unless it is removed."""
    (outcome,) = store.put_maps([new])
    assert outcome.verdict is not REFUSED
    return store.find_map(outcome.id)


def shown_titles(store: Store) -> list[str]:
    """Return the titles of all maps that are published."""
    return [one.title for one in store.maps(0, ALL) if one.visibility is Visibility.PUBLISHED]


class CopiedFilesContract(PeopleSuite):
    """Files with the content of others whose maps are not published."""

    @pytest.fixture
    def original(self, store: Store, ann: int) -> Map:
        """A map of ann's, of ``FILE``."""
        return put(store, draft(FILE))

    @pytest.mark.parametrize("visibility", ["published", "unlisted", "private"])
    def test_a_copy_is_as_visible_as_the_original(
        self, store: Store, original: Map, visibility: str
    ) -> None:
        store.edit_map(original.file_id, MapDetails(visibility=Visibility(visibility)))
        copy = put(store, draft(COPY))
        assert copy.id != original.id
        assert copy.visibility is Visibility(visibility)
        assert copy.set_by_people == frozenset()
        # What a file inherits is up to its owner then.
        shown = store.edit_map(copy.file_id, MapDetails(visibility=Visibility.PUBLISHED))
        assert put(store, draft(COPY)) == shown

    @pytest.mark.parametrize("visibility", ["published", "unlisted", "private"])
    def test_a_new_map_has_its_initial_visibility(self, store: Store, visibility: str) -> None:
        new = replace(draft(FILE), initial_visibility=Visibility(visibility))
        assert put(store, new).visibility is Visibility(visibility)
        changed = replace(new, title="changed", initial_visibility=Visibility.UNLISTED)
        assert put(store, changed).visibility is Visibility(visibility)

    def test_an_initial_visibility_does_not_show_a_copy_to_more_people(
        self, store: Store, original: Map
    ) -> None:
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.PRIVATE))
        copy = replace(draft(COPY), initial_visibility=Visibility.UNLISTED)
        assert put(store, copy).visibility is Visibility.PRIVATE

    @pytest.mark.parametrize("initial", [None, "unlisted", "private"])
    def test_a_copy_of_a_removed_map_that_is_restored_has_its_initial_visibility(
        self, store: Store, original: Map, ann: int, initial: str | None
    ) -> None:
        """Nobody who restores it has said that it is to be published."""
        store.remove_map(original.file_id, ann)
        first = Visibility(initial) if initial else None
        (copy,) = store.put_maps([replace(draft(COPY), initial_visibility=first)])
        removed = next(one.map for one in store.removed_maps(ann) if one.map.id == copy.id)
        restored = store.undo_removal(removed.file_id)
        assert restored.visibility is (first or Visibility.PUBLISHED)

    def test_a_private_map_that_is_back_as_a_copy_of_a_removed_one_is_restored_as_private(
        self, store: Store, original: Map, ann: int
    ) -> None:
        """What was removed had been published, but what is restored had not."""
        secret = put(store, draft(COPY))
        store.edit_map(secret.file_id, MapDetails(visibility=Visibility.PRIVATE))
        store.remove_map(original.file_id, ann)
        store.remove_sources([COPY.path])
        moved = source("c/1.mm", digest=SAME)
        assert store.move_source(COPY.path, moved)
        assert copied(store, draft(moved)) is None
        assert store.undo_removal(secret.file_id).visibility is Visibility.PRIVATE

    def test_a_copy_of_a_published_map_has_its_initial_visibility(
        self, store: Store, original: Map
    ) -> None:
        copy = replace(draft(COPY), initial_visibility=Visibility.PRIVATE)
        assert put(store, copy).visibility is Visibility.PRIVATE

    @pytest.mark.parametrize("forms", [("NFC", "NFD"), ("NFD", "NFC"), ("NFD", "NFD")])
    def test_an_owner_named_in_another_unicode_form_is_the_same(
        self, store: Store, forms: tuple[UnicodeForm, UnicodeForm]
    ) -> None:
        owner, other = (unicodedata.normalize(form, "Zo\u00eb") for form in forms)
        found = put(store, draft(FILE, owner=owner))
        store.edit_map(found.file_id, MapDetails(visibility=Visibility.PRIVATE))
        assert put(store, draft(COPY, b"/other/", other)).visibility is Visibility.PRIVATE
        assert store.maps_attributed_otherwise(b"/maps", other, None, 0, ALL) == []

    def test_a_copy_inherits_the_strictest(self, store: Store, original: Map, ann: int) -> None:
        files = [source(f"c/{number}.mm", digest=SAME) for number in range(4)]
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.UNLISTED))
        first = put(store, draft(files[0]))
        assert first.visibility is Visibility.UNLISTED
        store.edit_map(first.file_id, MapDetails(visibility=Visibility.PRIVATE))
        second = put(store, draft(files[1]))
        assert second.visibility is Visibility.PRIVATE
        store.remove_map(first.file_id, ann)
        assert copied(store, draft(files[2])) is None
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.PUBLISHED))
        other = source("other.mm")
        assert put(store, draft(other)).visibility is Visibility.PUBLISHED

    @pytest.mark.parametrize("state", ["unlisted", "private", "hidden", "removed"])
    def test_a_copy_that_changes_stays_as_it_is(
        self, store: Store, original: Map, bob: int, state: str
    ) -> None:
        """It may be the file itself, moved, and the other one the copy."""
        if state == "removed":
            store.remove_map(original.file_id, bob)
        elif state == "hidden":
            store.decide(original.file_id, DecisionKind.HIDE, bob)
        else:
            store.edit_map(original.file_id, MapDetails(visibility=Visibility(state)))
        store.put_maps([draft(COPY)])
        changed = replace(draft(source("b/1.mm", digest=b"n" * 32)), title="new")
        assert verdicts(store.put_maps([changed])) == [CHANGED]
        assert shown_titles(store) == []
        # Nobody has removed what it contains now.
        (found,) = (one for one in present(store).values() if one.title == "new")
        expected = Visibility.UNLISTED if state == "unlisted" else Visibility.PRIVATE
        assert found.visibility is expected
        assert {one.map.id for one in store.removed_maps(None)} <= {original.id}
        assert verdicts(store.put_maps([changed])) == [UNCHANGED]
        assert store.check() == []

    def test_what_people_decided_about_a_copy_stays_when_it_changes(
        self, store: Store, original: Map, ann: int, bob: int
    ) -> None:
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.PRIVATE))
        decided: list[Callable[[int], object]] = [
            lambda copy: store.edit_map(copy, MapDetails(visibility=Visibility.PRIVATE)),
            lambda copy: store.decide(copy, DecisionKind.HIDE, bob),
            lambda copy: store.remove_map(copy, ann),
        ]
        for number, decide in enumerate(decided):
            file = source(f"b/{number}.mm", digest=SAME)
            decide(put(store, draft(file)).file_id)
            changed = draft(replace(file, digest=bytes([number]) * 32))
            store.put_maps([changed])
            assert shown_titles(store) == []
        # The original does not become public because a copy is another map now.
        put(store, draft(COPY))
        changed = draft(replace(FILE, digest=b"n" * 32))
        store.put_maps([changed])
        assert shown_titles(store) == []

    @pytest.mark.parametrize("said", [["private"], ["published", "private"], ["unlisted"]])
    def test_what_a_record_says_of_a_map_stays_when_its_file_changes(
        self, store: Store, original: Map, said: list[str]
    ) -> None:
        """Operators make maps private with records, which leave no trace in the map itself."""
        equal = put(store, draft(COPY))
        for one in (original, equal):
            store.put_maps([MapDraft(id=one.id, visibility=Visibility.PRIVATE)])
        third = put(store, draft(source("c.mm", digest=SAME)))
        assert third.visibility is Visibility.PRIVATE
        for visibility in said:
            store.put_maps([MapDraft(id=third.id, visibility=Visibility(visibility))])
        for path in ("b/1.mm", "c.mm"):
            changed = draft(source(path, digest=path.encode().ljust(32)))
            store.put_maps([changed])
        assert shown_titles(store) == []
        assert present(store)[third.id].visibility is Visibility(said[-1])

    def test_what_a_record_says_of_a_removed_copy_stays_when_its_file_changes(
        self, store: Store, original: Map, ann: int
    ) -> None:
        store.remove_map(original.file_id, ann)
        (copy,) = store.put_maps([draft(COPY)])
        store.put_maps([MapDraft(id=copy.id, visibility=Visibility.PRIVATE)])
        changed = draft(source("b/1.mm", digest=b"n" * 32))
        store.put_maps([changed])
        assert present(store) == {}

    @pytest.mark.parametrize("marked", [True, False])
    def test_a_copy_without_a_mark_stays_as_it_is(
        self, store: Store, original: Map, marked: bool
    ) -> None:
        """So do all copies in a catalogue of a version that did not write marks.

        A copy whose file is missing for a while keeps its mark.
        """
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.PRIVATE))
        copy = put(store, draft(COPY))
        rows = [(copy.file_id, original.file_id, SAME, "published")]
        assert store.rows(INHERITED, None, ALL) == rows
        if not marked:
            store.delete_rows(INHERITED, [(copy.file_id,)])
        store.remove_sources([COPY.path])
        assert put(store, title(copy.title, source=COPY, owner="ann")) == copy
        changed = draft(replace(COPY, digest=b"n" * 32))
        store.put_maps([changed])
        assert shown_titles(store) == []
        assert store.rows(INHERITED, None, ALL) == (rows if marked else [])
        assert store.check() == []

    def test_a_copy_of_a_published_twin_is_published(
        self, store: Store, original: Map, ann: int
    ) -> None:
        """Everybody can see that content: removing a duplicate must not take the other along."""
        twin = put(store, draft(source("twin.mm", digest=SAME)))
        store.remove_map(twin.file_id, ann)
        copy = put(store, draft(COPY))
        assert copy.visibility is Visibility.PUBLISHED
        # The other one may be far away.
        away = source("1.mm", path=b"/other/1.mm", digest=SAME)
        assert put(store, draft(away, b"/other/", "bob")).visibility is Visibility.PUBLISHED
        # A missing one is not public any more, nor is a private one.
        store.remove_sources([FILE.path, away.path])
        store.edit_map(copy.file_id, MapDetails(visibility=Visibility.PRIVATE))
        assert copied(store, draft(source("c/1.mm", digest=SAME))) is None
        assert store.check() == []

    def test_a_batch_in_which_a_published_twin_changes_may_be_in_any_order(
        self, store: Store, original: Map, ann: int
    ) -> None:
        hidden = put(store, draft(source("twin.mm", digest=SAME)))
        store.remove_map(hidden.file_id, ann)
        changed = draft(source("a/1.mm", digest=b"n" * 32))
        copies = [draft(source(f"{number}.mm", digest=SAME)) for number in range(2)]
        store.put_maps([copies[0], changed, copies[1]])
        assert len(present(store)) == 3

    def test_a_private_map_moves_to_a_copy_that_is_published_because_of_a_twin(
        self, store: Store, original: Map, ann: int
    ) -> None:
        """What is written into the copy later must not be public."""
        secret = put(store, draft(source("secret.mm", digest=SAME)))
        secret = store.edit_map(secret.file_id, MapDetails(visibility=Visibility.PRIVATE))
        other, moved = (source(f"b/{name}.mm", digest=SAME) for name in ("other", "secret"))
        assert put(store, draft(moved)).visibility is Visibility.PUBLISHED
        put(store, draft(other))
        at = source("secret.mm", digest=SAME)
        assert store.adopt_copy(at, [other]) is None
        assert store.adopt_copy(at, [moved, other]) == moved
        assert secret in present(store).values()
        assert len(present(store)) == 3
        assert store.check() == []

    def test_a_copy_of_a_hidden_map_is_private(self, store: Store, original: Map, bob: int) -> None:
        store.decide(original.file_id, DecisionKind.HIDE, bob)
        assert put(store, draft(COPY)).visibility is Visibility.PRIVATE

    def test_a_copy_of_a_removed_map_is_removed_by_the_same_user(
        self, store: Store, original: Map, ann: int, bob: int
    ) -> None:
        for user, name in ((ann, "ann"), (bob, "bob")):
            store.remove_map(original.file_id, user)
            assert copied(store, draft(COPY)) is None
            removed = store.removed_maps(ann)
            assert [one.removed_by for one in removed] == [name, name]
            assert len({one.removed for one in removed}) == 1
            back = [store.undo_removal(one.map.file_id) for one in removed]
            assert {one.visibility for one in back} == {Visibility.PUBLISHED}
            store.delete_maps(one.id for one in back if one.id != original.id)
        assert store.check() == []

    def test_a_copy_of_a_missing_map_is_as_visible_as_that_was(
        self, store: Store, original: Map
    ) -> None:
        published = source("p.mm")
        put(store, draft(published))
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.PRIVATE))
        store.remove_sources([FILE.path, published.path])
        assert put(store, draft(COPY)).visibility is Visibility.PRIVATE
        twin = source("q.mm", digest=published.digest)
        assert put(store, draft(twin)).visibility is Visibility.PUBLISHED
        # The original may return in the same batch.
        second = source("b/2.mm", digest=SAME)
        store.put_maps([draft(FILE), draft(second)])
        assert {one.visibility for one in present(store).values() if one.title != "q.mm"} == {
            Visibility.PRIVATE
        }

    def test_a_missing_map_that_comes_back_elsewhere_may_be_a_copy(
        self, store: Store, original: Map, ann: int
    ) -> None:
        """Its file looks like the file of the map that is private by now."""
        shown = put(store, draft(COPY))
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.PRIVATE))
        store.remove_sources([COPY.path])
        assert put(store, title(shown.title, source=COPY, owner="ann")) == shown
        store.remove_sources([COPY.path])
        moved = source("c/1.mm", digest=SAME)
        assert store.move_source(COPY.path, moved)
        again = put(store, draft(moved))
        assert (again.id, again.visibility) == (shown.id, Visibility.PRIVATE)
        store.remove_map(original.file_id, ann)
        store.remove_sources([moved.path])
        assert store.move_source(moved.path, COPY)
        assert copied(store, draft(COPY)) is None
        assert {one.map.id for one in store.removed_maps(ann)} == {original.id, shown.id}
        assert store.check() == []

    def test_only_files_of_the_same_folder_or_owner_are_copies(
        self, store: Store, original: Map
    ) -> None:
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.PRIVATE))
        near, far = Visibility.PRIVATE, Visibility.PUBLISHED
        for number, (folder, owner, expected) in enumerate(
            [
                (b"/maps/", "b", near),
                (b"/maps/a/", "c", near),
                (b"/maps/ab/", "d", far),
                (b"/map/", "e", far),
                (b"/other/", "Ann", near),
            ]
        ):
            file = source(f"{number}.mm", path=b"%sn%d.mm" % (folder, number), digest=SAME)
            assert put(store, draft(file, folder, owner)).visibility is expected, (folder, owner)
        unknown = source("x.mm", digest=SAME)
        assert put(store, title("x", source=unknown, owner="ann")).visibility is far

    def test_files_without_an_owner_are_copies_of_those_imported_together(
        self, store: Store
    ) -> None:
        secret = put(store, draft(FILE, owner="system"))
        store.edit_map(secret.file_id, MapDetails(visibility=Visibility.PRIVATE))
        # What is public elsewhere only counts if nothing is known in these folders.
        shown = source("1.mm", path=b"/shown/1.mm", digest=SAME)
        assert put(store, draft(shown, b"/shown/", "bob")).visibility is Visibility.PUBLISHED
        for number, (others, expected) in enumerate(
            [
                ((b"/maps/",), Visibility.PRIVATE),
                ((b"/x/", b"/maps/"), Visibility.PRIVATE),
                ((b"/x/", b"/map/"), Visibility.PUBLISHED),
            ]
        ):
            folder = b"/other%d/" % number
            file = source("1.mm", path=folder + b"1.mm", digest=SAME)
            new = replace(draft(file, folder, "system"), other_folders=others)
            assert put(store, new).visibility is expected

    @pytest.mark.parametrize("owner", ["system", "ann"])
    def test_files_without_an_owner_are_no_copies_of_those_elsewhere(
        self, store: Store, owner: str
    ) -> None:
        """Somebody may import a private archive, and then what is to be public of it."""
        secret = put(store, draft(FILE, owner=owner))
        store.edit_map(secret.file_id, MapDetails(visibility=Visibility.PRIVATE))
        if owner == "ann":  # whose files are hers, and nobody learns what they contain
            store.remove_sources([FILE.path])
        copy = source("1.mm", path=b"/far/1.mm", digest=SAME)
        assert put(store, draft(copy, b"/far/", "system")).visibility is Visibility.PUBLISHED

    @pytest.mark.parametrize("state", ["missing", "changed", "removed"])
    def test_files_without_an_owner_are_copies_of_missing_ones_in_any_folder(
        self, store: Store, bob: int, state: str
    ) -> None:
        """A file may have been moved out of a folder that another process follows."""
        original = put(store, draft(FILE, owner="system"))
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.PRIVATE))
        if state == "removed":
            store.remove_map(original.file_id, bob)
        if state == "changed":
            store.put_maps([draft(replace(FILE, digest=b"n" * 32), owner="system")])
        else:
            store.remove_sources([FILE.path])
        copies = [source("1.mm", path=b"/far%d/1.mm" % number, digest=SAME) for number in range(3)]
        found = copied(store, draft(copies[0], b"/far0/", "system"))
        assert (found.visibility if found else None) is (
            None if state == "removed" else Visibility.PRIVATE
        )
        ((_, known, *_),) = store.rows(INHERITED, None, ALL)
        assert known == original.file_id
        # Whoever gives it to somebody says whose it is. What is public then, is.
        shown = put(store, draft(copies[1], b"/far1/", "zoe"))
        assert shown.visibility is Visibility.PUBLISHED
        assert put(store, draft(copies[2], b"/far2/", "system")).visibility is Visibility.PUBLISHED

    def test_the_outcome_says_what_is_not_published(self, store: Store, original: Map) -> None:
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.PRIVATE))
        found = store.put_maps([draft(COPY), draft(source("x.mm")), draft(COPY)])
        assert [one.unpublished for one in found] == [True, False, False]

    def test_many_files_in_a_batch_inherit(self, store: Store, original: Map) -> None:
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.PRIVATE))
        drafts = [
            draft(source(f"{number}.mm", digest=(SAME, b"t" * 32)[number % 2]))
            for number in range(50)
        ]
        store.put_maps(drafts)
        shown = [one for one in store.maps(0, ALL) if one.visibility is Visibility.PUBLISHED]
        assert len(shown) == 25

    def test_the_map_of_a_missing_file_moves_to_its_copy(
        self, store: Store, original: Map, ann: int, bob: int
    ) -> None:
        details = MapDetails(description="mine", visibility=Visibility.UNLISTED)
        store.edit_map(original.file_id, details)
        before = store.set_vote(original.file_id, bob, Vote.UP)
        copy = put(store, draft(COPY))
        revision = store.revision()
        assert store.adopt_copy(FILE, [source("c.mm", digest=SAME), COPY]) == COPY
        assert present(store) == {original.id: before}
        assert store.sources([FILE.path, COPY.path]) == {COPY.path: COPY}
        assert store.vote_of(original.file_id, bob) is Vote.UP
        changed = {change.file_id for change in store.changes(revision, ALL)}
        assert changed == {original.file_id, copy.file_id}
        assert put(store, draft(COPY)).id == original.id
        assert store.adopt_copy(FILE, [COPY]) is None
        assert store.check() == []

    def test_files_whose_maps_are_not_published_are_found_at_once(
        self, store: Store, original: Map, ann: int
    ) -> None:
        files = [source(f"{number}.mm", digest=b"%032d" % number) for number in range(1000)]
        store.put_maps([draft(one) for one in files])
        paths = [one.path for one in files]
        assert store.unpublished_sources(paths) == store.unpublished_sources([]) == set()
        for file in files[:3]:
            found = next(one for one in store.maps(0, ALL) if one.title == file.name)
            store.edit_map(found.file_id, MapDetails(visibility=Visibility.PRIVATE))
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.UNLISTED))
        store.remove_sources([files[0].path])
        assert store.unpublished_sources(paths) == {files[1].path, files[2].path}

    def test_a_removed_map_moves_to_its_copy(
        self, store: Store, original: Map, ann: int, bob: int
    ) -> None:
        store.remove_map(original.file_id, bob)
        store.put_maps([draft(COPY)])
        assert store.adopt_copy(FILE, [COPY]) == COPY
        (removed,) = store.removed_maps(ann)
        assert (removed.map.id, removed.removed_by) == (original.id, "bob")
        assert store.remove_sources([COPY.path]) == 1
        with pytest.raises(NotFound):
            store.undo_removal(original.file_id)

    def test_maps_that_people_have_touched_keep_their_files(
        self, store: Store, original: Map, ann: int, bob: int
    ) -> None:
        touched: list[Callable[[int], object]] = [
            lambda copy: store.edit_map(copy, MapDetails(description="other")),
            lambda copy: store.edit_map(copy, MapDetails(visibility=Visibility.PUBLISHED)),
            lambda copy: store.set_vote(copy, bob, Vote.UP),
            lambda copy: store.report_map(copy, bob, Reason.SPAM, ""),
            lambda copy: store.add_collection(bob, CollectionDetails("c"), [copy]),
            lambda copy: store.put_maps([MapDraft(id=ids[copy], source=source("second.mm"))]),
            lambda copy: store.remove_sources([COPY.path]),
        ]
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.UNLISTED))
        ids: dict[int, str] = {}
        for touch in touched:
            copy = put(store, draft(COPY))
            ids[copy.file_id] = copy.id
            touch(copy.file_id)
            assert store.adopt_copy(FILE, [COPY]) is None
            store.delete_maps([copy.id])

    def test_new_copies_are_private_if_the_file_of_a_private_map_is_missing(
        self, store: Store, original: Map, ann: int, bob: int, clock: Clock
    ) -> None:
        """They were published because of another one. Any may be the missing file, moved."""
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.PUBLISHED))
        secret = put(store, draft(source("z/secret.mm", digest=SAME)))
        store.edit_map(secret.file_id, MapDetails(visibility=Visibility.PRIVATE))
        files = {name: source(f"c/{name}.mm", digest=SAME) for name in ("old", "touched", "a", "b")}
        copies = {"old": put(store, draft(files["old"]))}
        clock.now += COPIED_WITHIN
        copies |= {name: put(store, draft(one)) for name, one in files.items() if name != "old"}
        copies["other owner"] = put(store, draft(COPY, owner="bob"))
        assert {one.visibility for one in copies.values()} == {Visibility.PUBLISHED}
        store.set_vote(copies["touched"].file_id, bob, Vote.UP)
        revision = store.revision()
        assert store.adopt_copy(source("z/secret.mm", digest=SAME), []) is None
        private = {copies[name].id for name in ("a", "b")} | {secret.id}
        for public_id, found in present(store).items():
            assert (found.visibility is Visibility.PRIVATE) is (public_id in private)
        changed = {change.file_id for change in store.changes(revision, ALL)}
        assert changed == {copies["a"].file_id, copies["b"].file_id}
        # They stay so until somebody decides.
        written = draft(replace(files["a"], digest=b"n" * 32))
        assert put(store, written).visibility is Visibility.PRIVATE
        shown = store.edit_map(copies["b"].file_id, MapDetails(visibility=Visibility.PUBLISHED))
        assert store.adopt_copy(source("z/secret.mm", digest=SAME), [files["b"]]) is None
        assert present(store)[shown.id].visibility is Visibility.PUBLISHED
        assert store.check() == []

    def test_a_missing_file_of_a_published_map_changes_no_copies(
        self, store: Store, original: Map
    ) -> None:
        copy = put(store, draft(COPY))
        assert store.adopt_copy(FILE, [COPY]) is None
        assert present(store)[copy.id] == copy

    def test_a_map_made_private_by_a_record_is_no_copy(self, store: Store, original: Map) -> None:
        """It is an equal file with a map of its own, which must not be lost."""
        equal = put(store, draft(COPY))
        for one in (original, equal):
            store.put_maps([MapDraft(id=one.id, visibility=Visibility.PRIVATE)])
        assert store.adopt_copy(FILE, [COPY]) is None
        twin = put(store, draft(source("twin.mm", digest=SAME), b"/twin/", "zoe"))
        assert twin.visibility is Visibility.PUBLISHED
        newer = put(store, draft(source("c/1.mm", digest=SAME)))
        store.put_maps([MapDraft(id=newer.id, visibility=Visibility.UNLISTED)])
        assert store.adopt_copy(FILE, [source("c/1.mm", digest=SAME)]) is None
        assert len(present(store)) == 4

    def test_other_maps_keep_their_files(self, store: Store, original: Map, ann: int) -> None:
        """Of published maps, of older ones and of other owners, nobody knows which is the copy."""
        put(store, draft(COPY))
        assert store.adopt_copy(FILE, [COPY]) is None
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.PRIVATE))
        assert store.adopt_copy(FILE, [COPY]) is None
        copies = [source("c.mm", digest=SAME), source("d.mm", digest=SAME)]
        put(store, draft(copies[0], owner="bob"))
        put(store, draft(copies[1]))
        assert store.adopt_copy(copies[1], [FILE]) is None
        assert store.adopt_copy(FILE, [copies[0], source("none.mm", digest=SAME)]) is None
        store.put_maps([MapDraft(id=original.id, source=source("second.mm"))])
        assert store.adopt_copy(FILE, copies) is None
        assert len(present(store)) == 4

    @pytest.mark.parametrize("initial", ["unlisted", "private"])
    @pytest.mark.parametrize("state", ["unlisted", "private", "removed"])
    def test_a_moved_file_keeps_its_map_where_new_maps_are_not_published(
        self, store: Store, original: Map, ann: int, initial: str, state: str
    ) -> None:
        """Its copy inherits nothing then, if it is as strict already."""
        store.edit_map(original.file_id, MapDetails(description="mine"))
        if state == "removed":
            store.remove_map(original.file_id, ann)
        else:
            store.edit_map(original.file_id, MapDetails(visibility=Visibility(state)))
        copy = replace(draft(COPY), initial_visibility=Visibility(initial))
        store.put_maps([copy])
        levels = [Visibility(name) for name in ("unlisted", "private", "removed")]
        strictest = max(levels.index(Visibility(state)), levels.index(Visibility(initial)))
        shown = [one.visibility for one in present(store).values() if one.id != original.id]
        assert shown == [one for one in (levels[strictest],) if state != "removed"]
        assert store.adopt_copy(FILE, [COPY]) == COPY
        (outcome,) = store.put_maps([copy])
        assert outcome.id == original.id
        if state == "removed":
            (kept,) = (one.map for one in store.removed_maps(ann))
        else:
            (kept,) = present(store).values()
            assert kept.visibility is Visibility(state)
        assert (kept.id, kept.description) == (original.id, "mine")
        assert store.check() == []

    def test_a_private_map_moves_although_another_equal_one_is_published(
        self, store: Store, original: Map
    ) -> None:
        put(store, draft(source("twin.mm", digest=SAME)))
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.PRIVATE))
        private = Visibility.PRIVATE
        assert put(store, replace(draft(COPY), initial_visibility=private)).visibility is private
        assert store.adopt_copy(FILE, [COPY]) == COPY
        assert present(store)[original.id].visibility is private

    def test_a_map_does_not_move_to_a_copy_that_somebody_decided_about(
        self, store: Store, original: Map, bob: int
    ) -> None:
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.PRIVATE))
        private = Visibility.PRIVATE
        decide: list[Callable[[Map], object]] = [
            lambda copy: store.put_maps([MapDraft(id=copy.id, visibility=private)]),
            lambda copy: store.edit_map(copy.file_id, MapDetails(visibility=private)),
            lambda copy: store.set_vote(copy.file_id, bob, Vote.UP),
        ]
        for number, act in enumerate(decide):
            file = source(f"b/{number}.mm", digest=SAME)
            act(put(store, replace(draft(file), initial_visibility=private)))
            assert store.adopt_copy(FILE, [file]) is None
        said = replace(draft(COPY), initial_visibility=private, visibility=private)
        put(store, said)
        assert store.adopt_copy(FILE, [COPY]) is None

    @pytest.mark.parametrize("state", ["published", "unlisted", "private"])
    def test_a_copy_that_was_not_published_from_the_start_stays_so_when_it_changes(
        self, store: Store, original: Map, state: str
    ) -> None:
        store.edit_map(original.file_id, MapDetails(visibility=Visibility(state)))
        copy = replace(draft(COPY), initial_visibility=Visibility.PRIVATE)
        put(store, copy)
        if state == "published":  # perhaps it is not any longer
            store.edit_map(original.file_id, MapDetails(visibility=Visibility.UNLISTED))
        for number in range(2):
            changed = replace(copy, source=replace(COPY, digest=bytes([number]) * 32))
            assert put(store, changed).visibility is Visibility.PRIVATE

    @pytest.mark.parametrize("state", ["new", "published", "unlisted", "private", "removed"])
    def test_a_file_that_may_be_another_one_is_private(
        self, store: Store, ann: int, state: str
    ) -> None:
        if state != "new":
            found = put(store, draft(FILE))
            if state == "removed":
                store.remove_map(found.file_id, ann)
            else:
                store.edit_map(found.file_id, MapDetails(visibility=Visibility(state)))
        (outcome,) = store.put_maps([replace(draft(FILE), uncertain=True)])
        assert outcome.unpublished is (state in {"new", "published"})
        if state == "removed":
            assert [one.map.id for one in store.removed_maps(ann)] == [outcome.id]
        else:
            assert present(store)[outcome.id].visibility is Visibility.PRIVATE
        marked = state not in {"private", "removed"}
        assert len(store.rows(INHERITED, None, ALL)) == marked
        # So is what comes to its place, and what it contains then, until somebody decides.
        store.move_source(FILE.path, source("moved.mm", digest=SAME))
        assert put(store, draft(replace(FILE, digest=b"n" * 32))).visibility is Visibility.PRIVATE
        store.put_maps([draft(source("moved.mm", digest=b"o" * 32))])
        assert shown_titles(store) == []

    @pytest.mark.parametrize("new", [True, False])
    def test_a_map_whose_file_may_be_another_one_is_only_replaced_while_it_is_new(
        self, store: Store, original: Map, clock: Clock, new: bool
    ) -> None:
        """It may have been there for long, and have been published."""
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.PRIVATE))
        (outcome,) = store.put_maps([replace(draft(COPY), uncertain=True)])
        if not new:
            clock.now += COPIED_WITHIN
        store.remove_sources([FILE.path])
        assert (store.adopt_copy(FILE, [COPY]) is not None) is new
        assert (outcome.id in present(store)) is not new

    def test_a_published_map_that_was_found_long_ago_is_not_replaced(
        self, store: Store, original: Map, clock: Clock
    ) -> None:
        """Another file with its name and content was private, and is deleted."""
        secret = put(store, draft(source("p/1.mm", digest=SAME)))
        store.edit_map(secret.file_id, MapDetails(visibility=Visibility.PRIVATE))
        twin = put(store, draft(COPY))
        assert twin.visibility is Visibility.PUBLISHED
        clock.now += COPIED_WITHIN
        store.remove_sources([source("p/1.mm").path])
        assert store.adopt_copy(source("p/1.mm", digest=SAME), [COPY]) is None
        assert present(store)[twin.id] == twin

    def test_a_published_map_does_not_move_to_a_copy_that_is_not(
        self, store: Store, original: Map
    ) -> None:
        """Somebody may copy a public template and delete it: what is begun from it is private."""
        copy = replace(draft(COPY), initial_visibility=Visibility.PRIVATE)
        kept = put(store, copy)
        assert store.adopt_copy(FILE, [COPY]) is None
        assert present(store)[kept.id].visibility is Visibility.PRIVATE

    def test_a_map_does_not_move_to_a_copy_that_has_another_content_now(
        self, store: Store, original: Map
    ) -> None:
        """What was begun from a template was saved over an older file, which is deleted then."""
        del original
        own = b"n" * 32
        old = source("a/old.mm", digest=b"o" * 32)
        unlisted = put(store, draft(old)).file_id
        store.edit_map(unlisted, MapDetails(visibility=Visibility.UNLISTED))
        begun = replace(draft(COPY), initial_visibility=Visibility.PRIVATE)
        put(store, begun)
        mine = replace(COPY, digest=own)
        kept = put(store, replace(begun, source=mine))
        saved = replace(old, digest=own)
        put(store, draft(saved))
        assert store.adopt_copy(saved, [mine]) is None
        assert present(store)[kept.id].visibility is Visibility.PRIVATE

    @pytest.mark.parametrize("initial", ["unlisted", "private"])
    def test_a_map_moves_to_a_copy_that_was_first_read_half_written(
        self, store: Store, original: Map, initial: str
    ) -> None:
        store.edit_map(original.file_id, MapDetails(visibility=Visibility.PRIVATE))
        half = replace(draft(COPY), initial_visibility=Visibility(initial))
        put(store, replace(half, source=replace(COPY, digest=b"h" * 32)))
        assert put(store, half).visibility is Visibility.PRIVATE
        assert store.adopt_copy(FILE, [COPY]) == COPY
        assert list(present(store)) == [original.id]

    def test_a_file_that_gets_back_its_content_is_no_copy_of_itself(self, store: Store) -> None:
        first = replace(draft(FILE), initial_visibility=Visibility.PRIVATE)
        put(store, first)
        put(store, replace(first, source=replace(FILE, digest=b"n" * 32)))
        put(store, first)
        assert store.rows(INHERITED, None, ALL) == []
