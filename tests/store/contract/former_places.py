"""Tests of what files inherit that are new at the places of others."""

from dataclasses import replace
from hashlib import sha256

import pytest

from mapshelf.model import DecisionKind, Map, MapDetails, MapDraft, Source, Visibility
from mapshelf.store import Store
from mapshelf.store.former_places import MOST_FORMER_PLACES
from mapshelf.store.tables import FORMER_PLACES, INHERITED
from tests.store.clock import Clock
from tests.store.contract.copied_files import COPY, FILE, SAME, copied, draft, shown_titles
from tests.store.contract.publishing import PeopleSuite
from tests.store.contract.suite import ALL, put
from tests.store.drafts import source

PRIVATE = MapDetails(visibility=Visibility.PRIVATE)
PUBLISHED = MapDetails(visibility=Visibility.PUBLISHED)
OTHER = b"o" * 32

MOVED = source("moved.mm", digest=SAME)
"""``FILE`` at another place."""


def new(file: Source = FILE, digest: bytes = OTHER, owner: str = "bob") -> MapDraft:
    """Return the draft of another file at the place of ``file``."""
    return draft(replace(file, digest=digest), owner=owner)


def place(file: Source) -> bytes:
    return sha256(file.path).digest()


class FormerPlacesContract(PeopleSuite):
    """Files in places that the files of other maps have left."""

    @pytest.fixture
    def known(self, store: Store, ann: int) -> Map:
        """A map of ann's, of ``FILE``."""
        return put(store, draft(FILE))

    @pytest.mark.parametrize("state", ["unlisted", "private", "hidden", "removed", "missing"])
    def test_a_file_in_the_place_of_an_unpublished_one_is_not_published(
        self, store: Store, known: Map, bob: int, state: str
    ) -> None:
        """Its disk may be back, with what has been written there meanwhile."""
        expected = Visibility.UNLISTED if state == "unlisted" else Visibility.PRIVATE
        if state == "hidden":
            store.decide(known.file_id, DecisionKind.HIDE, bob)
        elif state == "removed":
            store.remove_map(known.file_id, bob)
        else:
            store.edit_map(known.file_id, MapDetails(visibility=expected))
        assert store.move_source(FILE.path, MOVED)
        if state == "missing":
            store.remove_sources([MOVED.path])
        (outcome,) = store.put_maps([new()])
        assert outcome.unpublished
        found = store.find_map(outcome.id)
        assert found
        assert found.visibility is expected
        # It is no copy that may become another map, even if it had been equal.
        for digest in (SAME, b"n" * 32, SAME):
            store.put_maps([new(digest=digest)])
        assert shown_titles(store) == []
        assert store.check() == []

    def test_what_people_decide_about_a_file_in_a_former_place_stays(
        self, store: Store, known: Map
    ) -> None:
        store.edit_map(known.file_id, PRIVATE)
        store.move_source(FILE.path, MOVED)
        found = put(store, new())
        assert store.rows(INHERITED, None, ALL) == [(found.file_id, 0, OTHER, "published")]
        store.edit_map(found.file_id, PUBLISHED)
        assert store.rows(INHERITED, None, ALL) == []
        assert put(store, new(digest=b"n" * 32)).visibility is Visibility.PUBLISHED

    def test_a_file_in_the_place_of_a_published_one_is_published(
        self, store: Store, known: Map
    ) -> None:
        store.move_source(FILE.path, MOVED)
        assert store.rows(FORMER_PLACES, None, ALL) == []
        # Programs suggest the same name for all new files: what becomes of them does not matter.
        store.edit_map(known.file_id, PRIVATE)
        assert put(store, new()).visibility is Visibility.PUBLISHED
        # A published file that passes by leaves a place as it is.
        store.move_source(MOVED.path, source("far.mm", digest=SAME))
        store.move_source(FILE.path, MOVED)
        store.move_source(MOVED.path, source("near.mm", digest=OTHER))
        # One that is given without a folder is somebody's upload or record.
        assert put(store, replace(new(MOVED), folder=None)).visibility is Visibility.PUBLISHED
        store.move_source(MOVED.path, source("out.mm", digest=OTHER))
        assert put(store, new(MOVED)).visibility is Visibility.PRIVATE

    def test_a_file_that_inherited_from_its_place_does_not_pass_that_on_for_ever(
        self, store: Store, known: Map, clock: Clock
    ) -> None:
        store.edit_map(known.file_id, PRIVATE)
        store.move_source(FILE.path, MOVED)
        (row,) = store.rows(FORMER_PLACES, None, ALL)
        assert row == (place(FILE), FILE.path, known.file_id, clock.now)
        clock.now += 5
        hidden = put(store, new())
        assert hidden.visibility is Visibility.PRIVATE
        # Where it goes from there, it counts no longer than where it was first.
        following = source("next.mm", digest=OTHER)
        store.move_source(FILE.path, following)
        store.move_source(following.path, source("far.mm", digest=OTHER))
        (_, *others) = sorted(store.rows(FORMER_PLACES, None, ALL), key=lambda row: row[1:3])
        assert others == [(place(at), at.path, hidden.file_id, row[3]) for at in (FILE, following)]
        store.purge_removed(clock.now - 5)
        assert put(store, new()).visibility is Visibility.PRIVATE
        store.move_source(FILE.path, source("last.mm", digest=OTHER))
        store.purge_removed(clock.now - 4)
        assert put(store, new(digest=b"l" * 32)).visibility is Visibility.PUBLISHED

    def test_the_strictest_of_place_and_content_and_what_new_maps_have_counts(
        self, store: Store, known: Map
    ) -> None:
        levels = [Visibility(name) for name in ("published", "unlisted", "private")]
        for number in range(27):
            at, by, first = number % 3, number // 3 % 3, number // 9
            files = [
                source(f"{number}/{name}.mm", digest=bytes([number, index]) * 16)
                for index, name in enumerate(("place", "original"))
            ]
            for file, level in zip(files, (at, by), strict=True):
                found = put(store, draft(file))
                store.edit_map(found.file_id, MapDetails(visibility=levels[level]))
            store.move_source(files[0].path, replace(files[0], path=b"/moved/%d" % number))
            again = new(files[0], files[1].digest)
            again = replace(again, initial_visibility=levels[first])
            assert put(store, again).visibility is levels[max(at, by, first)], (at, by, first)

    def test_a_file_in_the_place_of_one_that_moved_to_a_copy_is_not_published(
        self, store: Store, known: Map
    ) -> None:
        store.edit_map(known.file_id, PRIVATE)
        put(store, draft(COPY))
        elsewhere = source("c/1.mm", digest=SAME)
        store.move_source(COPY.path, elsewhere)
        assert store.adopt_copy(FILE, [elsewhere]) == elsewhere
        assert {row[:3] for row in store.rows(FORMER_PLACES, None, ALL)} == {
            (place(one), one.path, known.file_id) for one in (FILE, COPY)
        }
        assert put(store, new()).visibility is Visibility.PRIVATE

    def test_a_document_in_the_place_of_its_other_form_is_not_published(
        self, store: Store, known: Map
    ) -> None:
        store.edit_map(known.file_id, PRIVATE)
        store.move_source(FILE.path, MOVED)
        public = put(store, draft(source("public.mm")))
        store.move_source(source("public.mm").path, source("far.mm"))
        assert public.visibility is Visibility.PUBLISHED
        file = source("other.mm", digest=OTHER)
        published = replace(new(file), other_places=(source("public.mm").path,))
        assert put(store, published).visibility is Visibility.PUBLISHED
        found = replace(new(source("form.mm", digest=OTHER)), other_places=(FILE.path,))
        assert put(store, found).visibility is Visibility.PRIVATE

    def test_places_follow_their_folder(self, store: Store, ann: int) -> None:
        def left(path: bytes) -> Map:
            file = Source(path, "x.mm", 1, 1, path.ljust(32)[:32])
            found = put(store, draft(file))
            store.edit_map(found.file_id, PRIVATE)
            store.move_source(path, replace(file, path=path + b".moved"))
            return found

        for path in (b"/v1/a.mm", b"/v1/b/c.mm", b"/v10/a.mm", b"/v1"):
            left(path)
        store.follow_former_places(b"/v1", b"/v2")
        followed = [b"/v1/a.mm", b"/v1/b/c.mm", b"/v2/a.mm", b"/v2/b/c.mm"]
        apart = [b"/v1", b"/v2", b"/v10/a.mm", b"/v20/a.mm", b"/v2/b"]
        drafts = [new(Source(path, "x.mm", 1, 1, OTHER)) for path in followed + apart]
        outcomes = store.put_maps(drafts)
        expected = [True] * 4 + [True, False, True, False, False]
        assert [one.unpublished for one in outcomes] == expected

    def test_a_place_that_counts_already_stays_as_it_is(
        self, store: Store, known: Map, clock: Clock
    ) -> None:
        rows = []
        for path in (b"/v2/a.mm", b"/v1/a.mm"):
            found = put(store, draft(replace(FILE, path=path)))
            store.edit_map(found.file_id, PRIVATE)
            store.move_source(path, replace(FILE, path=path + b".moved"))
            rows.append((sha256(path).digest(), path, found.file_id, clock.now))
            clock.now += 1
        store.follow_former_places(b"/v1", b"/v2")
        store.follow_former_places(b"/v1", b"/v2")
        (first, second) = rows
        added = (first[0], first[1], *second[2:])
        assert sorted(store.rows(FORMER_PLACES, None, ALL)) == sorted([*rows, added])

    def test_a_file_in_a_place_that_was_given_to_another_is_not_published(
        self, store: Store, known: Map
    ) -> None:
        """Another file was moved to the place of a missing one."""
        store.edit_map(known.file_id, PRIVATE)
        store.remove_sources([FILE.path])
        other = put(store, draft(source("other.mm")))
        assert store.move_source(source("other.mm").path, replace(FILE, digest=OTHER))
        assert put(store, new()).id == other.id
        store.delete_maps([other.id])
        assert put(store, new()).visibility is Visibility.PRIVATE

    def test_nothing_is_remembered_of_maps_that_are_deleted(self, store: Store, known: Map) -> None:
        store.edit_map(known.file_id, PRIVATE)
        store.move_source(FILE.path, MOVED)
        store.delete_maps([known.id])
        assert store.rows(FORMER_PLACES, None, ALL) == []
        assert put(store, new()).visibility is Visibility.PUBLISHED

    def test_a_place_counts_as_long_as_one_of_the_maps_that_left_it_is_unpublished(
        self, store: Store, known: Map
    ) -> None:
        store.edit_map(known.file_id, MapDetails(visibility=Visibility.UNLISTED))
        store.move_source(FILE.path, MOVED)
        hidden = put(store, new())
        assert hidden.visibility is Visibility.UNLISTED
        store.move_source(FILE.path, source("next.mm", digest=OTHER))
        store.edit_map(known.file_id, PUBLISHED)
        third = put(store, new(digest=b"n" * 32))
        assert third.visibility is Visibility.UNLISTED
        store.edit_map(third.file_id, PRIVATE)
        store.move_source(FILE.path, source("far.mm", digest=b"n" * 32))
        assert put(store, new(digest=b"l" * 32)).visibility is Visibility.PRIVATE, "the strictest"

    def test_a_copy_of_a_private_file_leaves_a_place_like_its_original(
        self, store: Store, known: Map
    ) -> None:
        store.edit_map(known.file_id, PRIVATE)
        copy = put(store, draft(COPY))
        assert copy.visibility is Visibility.PRIVATE
        store.move_source(COPY.path, source("c/1.mm", digest=SAME))
        assert put(store, new(COPY)).visibility is Visibility.PRIVATE

    def test_there_is_one_row_for_each_map_at_each_place(self, store: Store, known: Map) -> None:
        store.edit_map(known.file_id, PRIVATE)
        for _ in range(3):
            store.move_source(FILE.path, MOVED)
            store.move_source(MOVED.path, FILE)
        assert len(store.rows(FORMER_PLACES, None, ALL)) == 2
        assert put(store, new(FILE, SAME, "ann")).id == known.id
        assert copied(store, new(MOVED)) is not None

    def test_the_last_places_of_a_map_are_kept(
        self, store: Store, known: Map, clock: Clock
    ) -> None:
        store.edit_map(known.file_id, PRIVATE)
        at, *others = [FILE, *(source(f"v1/{number}") for number in range(MOST_FORMER_PLACES + 2))]
        for file in others:
            clock.now += 1
            store.move_source(at.path, replace(file, digest=SAME))
            at = file
        kept = {path for _, path, _, _ in store.rows(FORMER_PLACES, None, ALL)}
        assert kept == {file.path for file in others[1:-1]}
        folder = others[0].path.removesuffix(b"/0")
        store.follow_former_places(folder, b"/v2")
        assert len(store.rows(FORMER_PLACES, None, ALL)) == MOST_FORMER_PLACES

    def test_many_places_are_looked_up_at_once(self, store: Store, known: Map) -> None:
        files = [source(f"{number}.mm", digest=bytes([number]) * 32) for number in range(20)]
        for number, found in enumerate(map(draft, files)):
            if number % 2:
                store.edit_map(put(store, found).file_id, PRIVATE)
        for file in files[1::2]:
            store.move_source(file.path, replace(file, path=file.path + b".moved"))
        outcomes = store.put_maps([new(file) for file in files])
        assert [one.unpublished for one in outcomes] == [bool(number % 2) for number in range(20)]

    def test_places_where_new_files_are_not_published_are_found_at_once(
        self, store: Store, known: Map
    ) -> None:
        assert store.unpublished_places([]) == store.unpublished_places([FILE.path]) == set()
        store.edit_map(known.file_id, PRIVATE)
        assert store.move_source(FILE.path, MOVED)
        paths = [FILE.path, MOVED.path, COPY.path]
        assert store.unpublished_places(paths) == {FILE.path}
        store.edit_map(known.file_id, PUBLISHED)
        assert store.unpublished_places(paths) == set()

    def test_the_places_of_a_copy_count_after_the_map_of_the_original_moved_to_it(
        self, store: Store, known: Map
    ) -> None:
        store.edit_map(known.file_id, PRIVATE)
        assert copied(store, draft(COPY))
        assert store.move_source(COPY.path, MOVED)
        assert store.unpublished_places([COPY.path]) == {COPY.path}
        assert store.adopt_copy(FILE, [MOVED])
        assert store.unpublished_places([COPY.path]) == {COPY.path}
