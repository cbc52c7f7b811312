"""Tests of copies of former contents, and of files that become copies of others."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from mapshelf.model import (
    GONE,
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
from mapshelf.store.former_contents import MOST_FORMER_CONTENTS
from mapshelf.store.inherited_visibility import COPIED_WITHIN
from mapshelf.store.tables import FORMER_CONTENTS, INHERITED
from tests.store.clock import Clock
from tests.store.contract.copied_files import COPY, FILE, SAME, copied, draft, shown_titles
from tests.store.contract.publishing import PeopleSuite
from tests.store.contract.suite import ALL, present, put
from tests.store.drafts import source

PRIVATE = MapDetails(visibility=Visibility.PRIVATE)
PUBLISHED = MapDetails(visibility=Visibility.PUBLISHED)
OTHER = b"o" * 32


def saved(file: Source, digest: bytes = OTHER) -> MapDraft:
    """Return the draft of a file that has another content now."""
    return draft(replace(file, digest=digest))


class FormerContentsContract(PeopleSuite):
    """Copies of what files contained before, and files that became copies after they were read."""

    @pytest.fixture
    def first(self, store: Store, ann: int) -> Map:
        """A map of ann's, of ``FILE``."""
        return put(store, draft(FILE))

    @pytest.mark.parametrize("state", ["unlisted", "private", "hidden", "removed", "missing"])
    def test_a_copy_of_a_former_content_is_not_published(
        self, store: Store, first: Map, ann: int, bob: int, state: str
    ) -> None:
        if state == "hidden":
            store.decide(first.file_id, DecisionKind.HIDE, bob)
        elif state == "removed":
            store.remove_map(first.file_id, ann)
        else:
            kept = Visibility.UNLISTED if state == "unlisted" else Visibility.PRIVATE
            store.edit_map(first.file_id, MapDetails(visibility=kept))
        store.put_maps([saved(FILE)])
        if state == "missing":
            store.remove_sources([FILE.path])
        copy = copied(store, draft(COPY))
        if state == "removed":
            assert copy is None
            assert [one.removed_by for one in store.removed_maps(None)] == ["ann", "ann"]
        else:
            assert copy is not None
            expected = Visibility.UNLISTED if state == "unlisted" else Visibility.PRIVATE
            assert copy.visibility is expected
        # What it inherited is not undone later: the content that it has is not elsewhere.
        store.put_maps([saved(COPY, b"n" * 32)])
        assert shown_titles(store) == []
        assert store.check() == []

    def test_a_former_content_may_be_copied_in_the_same_batch_or_far_away(
        self, store: Store, first: Map
    ) -> None:
        store.edit_map(first.file_id, PRIVATE)
        store.put_maps([saved(FILE), draft(COPY)])
        assert store.move_source(FILE.path, source("x.mm", path=b"/new/x.mm", digest=OTHER))
        far = source("y.mm", path=b"/far/y.mm", digest=SAME)
        assert put(store, draft(far, b"/far/")).visibility is Visibility.PRIVATE
        near = source("z.mm", path=b"/new/z.mm", digest=SAME)
        assert put(store, draft(near, b"/new/", "bob")).visibility is Visibility.PRIVATE
        assert shown_titles(store) == []
        away = source("y.mm", path=b"/away/y.mm", digest=SAME)
        assert put(store, draft(away, b"/away/", "zoe")).visibility is Visibility.PUBLISHED

    def test_a_former_content_that_was_or_is_published_is_not_protected(
        self, store: Store, first: Map
    ) -> None:
        store.put_maps([saved(FILE)])
        store.edit_map(first.file_id, PRIVATE)
        assert store.rows(FORMER_CONTENTS, None, ALL) == []
        assert put(store, draft(COPY)).visibility is Visibility.PUBLISHED
        store.put_maps([saved(FILE, b"1" * 32)])
        copy = draft(source("b/2.mm", digest=OTHER))
        assert put(store, copy).visibility is Visibility.PRIVATE
        # Equal files that are published by now count, but not what those contained before.
        twin = put(store, draft(source("twin.mm", digest=OTHER), b"/twin/", "zoe"))
        assert put(store, draft(source("b/3.mm", digest=OTHER))).visibility is Visibility.PUBLISHED
        store.delete_maps([one.id for one in present(store).values() if one.title == "b/3.mm"])
        store.put_maps([saved(source("twin.mm"), b"2" * 32)])
        assert twin.visibility is Visibility.PUBLISHED
        assert put(store, draft(source("b/4.mm", digest=OTHER))).visibility is Visibility.PRIVATE

    def test_a_template_does_not_hide_what_is_begun_from_it_for_ever(
        self, store: Store, first: Map, clock: Clock
    ) -> None:
        """A private map was begun from it, and each other one was edited soon after."""
        store.edit_map(first.file_id, PRIVATE)
        store.put_maps([saved(FILE)])
        expired = clock.now + 1
        for number in range(3):
            clock.now += 1
            page = source(f"pages/{number}.mm", digest=SAME)
            assert put(store, draft(page)).visibility is Visibility.PRIVATE
            store.put_maps([saved(page, b"%032d" % number)])
            store.put_maps([saved(page, b"%032d" % -number)])
        store.purge_removed(expired)
        last = source("pages/last.mm", digest=SAME)
        assert put(store, draft(last)).visibility is Visibility.PUBLISHED
        # What has been written into such a file is its own.
        copy = source("copy.mm", digest=b"%032d" % 2)
        assert put(store, draft(copy)).visibility is Visibility.PRIVATE

    @pytest.mark.parametrize("way", ["published", "forgotten"])
    def test_what_a_copy_has_from_a_map_that_no_longer_protects_it_is_its_own(
        self, store: Store, first: Map, clock: Clock, way: str
    ) -> None:
        store.edit_map(first.file_id, PRIVATE)
        store.put_maps([draft(COPY)])
        store.put_maps([saved(FILE)])
        if way == "published":
            store.edit_map(first.file_id, PUBLISHED)
        else:
            store.purge_removed(clock.now + 1)
        store.put_maps([saved(COPY, b"n" * 32)])
        again = source("c/1.mm", digest=SAME)
        assert put(store, draft(again)).visibility is Visibility.PRIVATE

    def test_what_a_copy_has_from_a_map_that_was_deleted_is_its_own(
        self, store: Store, first: Map
    ) -> None:
        store.edit_map(first.file_id, PRIVATE)
        store.put_maps([draft(COPY)])
        store.delete_maps([first.id])
        store.put_maps([saved(COPY)])
        again = source("c/1.mm", digest=SAME)
        assert put(store, draft(again)).visibility is Visibility.PRIVATE

    def test_publishing_a_map_ends_the_protection_of_its_former_contents(
        self, store: Store, first: Map
    ) -> None:
        store.edit_map(first.file_id, PRIVATE)
        store.put_maps([saved(FILE)])
        store.edit_map(first.file_id, PUBLISHED)
        assert put(store, draft(COPY)).visibility is Visibility.PUBLISHED
        store.delete_maps([present(store)[first.id].id])
        assert store.rows(FORMER_CONTENTS, None, ALL) == []

    def test_former_contents_are_forgotten_in_the_end(
        self, store: Store, first: Map, clock: Clock
    ) -> None:
        store.edit_map(first.file_id, PRIVATE)
        store.put_maps([saved(FILE)])
        assert store.rows(FORMER_CONTENTS, None, ALL) == [(first.file_id, SAME, clock.now)]
        clock.now += 10
        for again in (draft(FILE), saved(FILE)):
            store.put_maps([again])
        store.purge_removed(clock.now)
        assert len(store.rows(FORMER_CONTENTS, None, ALL)) == 2
        assert store.purge_removed(clock.now + 1) == 0
        assert store.rows(FORMER_CONTENTS, None, ALL) == []
        assert put(store, draft(COPY)).visibility is Visibility.PUBLISHED

    def test_only_the_newest_former_contents_are_kept(
        self, store: Store, first: Map, clock: Clock
    ) -> None:
        store.edit_map(first.file_id, PRIVATE)
        digests = [SAME, *(b"%032d" % number for number in range(MOST_FORMER_CONTENTS + 2))]
        for digest in digests[1:]:
            clock.now += 1
            store.put_maps([saved(FILE, digest)])
        kept = {digest for _, digest, _ in store.rows(FORMER_CONTENTS, None, ALL)}
        assert kept == set(digests[2:-1])

    def test_the_former_contents_of_an_adopted_copy_belong_to_the_original(
        self, store: Store, first: Map
    ) -> None:
        second = put(store, draft(source("2.mm", digest=OTHER)))
        store.edit_map(second.file_id, PRIVATE)
        own = b"w" * 32
        for copy in (draft(COPY), saved(COPY, own), saved(COPY)):
            store.put_maps([replace(copy, initial_visibility=Visibility.PRIVATE)])
        assert store.adopt_copy(source("2.mm", digest=OTHER), [COPY]) == COPY
        rows = store.rows(FORMER_CONTENTS, None, ALL)
        assert {row[:2] for row in rows} == {(second.file_id, own), (second.file_id, SAME)}
        assert store.check() == []

    def test_a_map_that_has_been_published_for_long_stays_so(
        self, store: Store, first: Map, clock: Clock
    ) -> None:
        """A private draft may be copied over it, or an edit undone that somebody has a copy of."""
        twin = put(store, draft(COPY))
        store.edit_map(first.file_id, PRIVATE)
        store.put_maps([saved(COPY)])
        clock.now += COPIED_WITHIN
        (outcome,) = store.put_maps([draft(COPY)])
        assert not outcome.unpublished
        assert present(store)[twin.id].visibility is Visibility.PUBLISHED

    def test_the_date_in_a_file_does_not_make_its_map_old(self, store: Store, first: Map) -> None:
        """The first import of a folder dates its maps by that, perhaps years ago."""
        put(store, replace(saved(COPY), date_added=1_500_000_000_000))
        store.edit_map(first.file_id, PRIVATE)
        (outcome,) = store.put_maps([draft(COPY)])
        assert outcome.unpublished
        assert shown_titles(store) == []

    def test_a_template_comes_before_a_map_that_was_begun_from_it(
        self, store: Store, first: Map
    ) -> None:
        store.edit_map(first.file_id, MapDetails(visibility=Visibility.UNLISTED))
        begun = put(store, draft(source("begun.mm", digest=SAME)))
        store.edit_map(begun.file_id, PRIVATE)
        store.put_maps([saved(source("begun.mm"))])
        copy = put(store, draft(COPY))
        assert copy.visibility is Visibility.UNLISTED

    @pytest.mark.parametrize("state", ["unlisted", "private", "removed", "changed"])
    def test_a_file_that_becomes_a_copy_inherits_like_a_new_one(
        self, store: Store, first: Map, ann: int, state: str
    ) -> None:
        """It may have been read while it was being copied."""
        half = put(store, saved(COPY))
        if state == "removed":
            store.remove_map(first.file_id, ann)
        else:
            kept = Visibility.UNLISTED if state == "unlisted" else Visibility.PRIVATE
            store.edit_map(first.file_id, MapDetails(visibility=kept))
        if state == "changed":
            store.put_maps([saved(FILE, b"n" * 32)])
        (outcome,) = store.put_maps([draft(COPY)])
        assert outcome.unpublished
        assert shown_titles(store) == []
        assert store.rows(INHERITED, None, ALL) == [
            (half.file_id, first.file_id, SAME, "published")
        ]
        store.put_maps([draft(COPY)])
        assert shown_titles(store) == []
        if state != "changed":
            assert store.adopt_copy(FILE, [COPY]) == COPY
        assert shown_titles(store) == []
        assert store.check() == []

    @pytest.mark.parametrize("state", ["published", "private", "removed"])
    def test_a_missing_map_comes_back_with_the_copy_that_is_complete_after_that(
        self, store: Store, first: Map, ann: int, state: str
    ) -> None:
        half = put(store, saved(COPY))
        if state == "removed":
            store.remove_map(first.file_id, ann)
        elif state == "private":
            first = store.edit_map(first.file_id, PRIVATE)
        store.remove_sources([FILE.path])
        store.put_maps([draft(COPY)])
        missing = replace(FILE, modified=GONE)
        if state == "published":
            assert store.adopt_copy(missing, [COPY]) is None
            assert shown_titles(store) == [COPY.name]
            return
        assert shown_titles(store) == []
        assert store.adopt_copy(missing, [replace(COPY, modified=-1)]) is not None
        assert present(store) == {}, "its file has not been read again"
        store.put_maps([draft(COPY)])
        if state == "private":
            assert present(store) == {first.id: replace(first, title=COPY.name)}
        else:
            assert [one.map.id for one in store.removed_maps(ann)] == [first.id]
        assert store.adopt_copy(missing, [COPY]) is None
        assert store.find_map(half.id) is None
        assert store.check() == []

    def test_a_file_that_was_like_another_before_does_not_become_its_copy(
        self, store: Store, first: Map
    ) -> None:
        equal = put(store, draft(COPY))
        store.edit_map(first.file_id, PRIVATE)
        assert put(store, draft(COPY)) == equal
        assert put(store, replace(saved(COPY), folder=None)).visibility is Visibility.PUBLISHED
        assert put(store, draft(COPY, b"/other/", "bob")).visibility is Visibility.PUBLISHED

    def test_maps_that_people_have_touched_do_not_become_copies(
        self, store: Store, first: Map, bob: int
    ) -> None:
        store.edit_map(first.file_id, PRIVATE)
        ids: dict[int, str] = {}
        touched: list[Callable[[int], object]] = [
            lambda copy: store.edit_map(copy, MapDetails(description="other")),
            lambda copy: store.edit_map(copy, PUBLISHED),
            lambda copy: store.set_vote(copy, bob, Vote.UP),
            lambda copy: store.report_map(copy, bob, Reason.SPAM, ""),
            lambda copy: store.add_collection(bob, CollectionDetails("c"), [copy]),
            lambda copy: store.put_maps([MapDraft(id=ids[copy], source=source("second.mm"))]),
        ]
        for number, touch in enumerate(touched):
            file = source(f"{number}.mm", digest=OTHER)
            found = put(store, draft(file))
            ids[found.file_id] = found.id
            touch(found.file_id)
            store.put_maps([saved(file, SAME)])
            assert present(store)[found.id].visibility is Visibility.PUBLISHED
            store.delete_maps([found.id])
