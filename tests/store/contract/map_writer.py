"""Tests of ``contract.MapWriter``."""

from dataclasses import fields, replace
from functools import partial
from typing import Any

from hypothesis import given, settings

from mapshelf.model import (
    SYSTEM_USER,
    UNCATEGORISED,
    Change,
    KeptFile,
    Map,
    MapDraft,
    OriginalFile,
    Outcome,
)
from mapshelf.store import Store, seed
from mapshelf.tokens import ALPHABET
from tests.examples import examples
from tests.store.clock import Clock
from tests.store.contract.suite import (
    ADDED,
    ALL,
    CHANGED,
    INHERITED,
    REFUSED,
    UNCHANGED,
    Open,
    Suite,
    name_of,
    present,
    put,
    title,
    verdicts,
)
from tests.store.drafts import DRAFTS, as_draft, complete, outline, source


class MapWriterContract(Suite):
    """Drafts create and change a map, its outline and its file."""

    def test_a_complete_draft_is_returned_unchanged(self, store: Store) -> None:
        found = put(store, complete())
        of_files = {"source", "is_known", "folder", "other_folders", "other_places", "uncertain"}
        kept_apart = {"initial_visibility", "outline", "content", "images", "links"}
        for field in fields(MapDraft):
            if field.name not in of_files | kept_apart:
                assert getattr(found, field.name) == getattr(complete(), field.name), field.name
        assert found.software_id == 1
        assert store.outline(77) == complete().outline

    def test_defaults_of_a_new_map(self, store: Store, clock: Clock) -> None:
        found = put(store, title("t"))
        assert found == Map(
            file_id=1,
            id=found.id,
            title="t",
            description="",
            thumbs_up=0,
            thumbs_down=0,
            views=0,
            downloads=0,
            thumbnail=None,
            url=None,
            category_id=1,
            category=UNCATEGORISED,
            date_added=clock.now,
            owner=SYSTEM_USER,
            size=None,
            copyright="",
            licence_type_id=None,
            software_id=None,
            software="",
            template=False,
        )
        assert len(found.id) == 8
        assert set(found.id) <= set(ALPHABET)

    @settings(max_examples=examples(40), suppress_health_check=INHERITED)
    @given(draft=DRAFTS)
    def test_any_map_is_returned_unchanged_and_put_again_without_change(
        self, store: Store, draft: MapDraft
    ) -> None:
        (outcome,) = store.put_maps([draft])
        assert outcome.verdict is ADDED
        found = present(store)[outcome.id]
        for name in ("title", "description", "views", "thumbnail", "size", "copyright", "template"):
            said = getattr(draft, name)
            assert getattr(found, name) == said, name
        if draft.category_id is not None and draft.category is not None:
            assert (found.category_id, found.category) == (draft.category_id, draft.category)
        revision = store.revision()
        assert store.put_maps([as_draft(found), replace(draft, id=found.id)]) == [
            Outcome(UNCHANGED, found.id),
            Outcome(UNCHANGED, found.id),
        ]
        assert store.revision() == revision
        assert present(store)[found.id] == found

    def test_an_empty_batch_does_nothing(self, store: Store) -> None:
        assert store.put_maps([]) == []
        assert store.revision() == 0

    def test_a_draft_changes_only_the_fields_it_sets(self, store: Store) -> None:
        before = put(store, complete())
        for name, value in {
            "title": "Other",
            "description": "",
            "thumbs_up": 0,
            "thumbs_down": 3,
            "views": 2**63 - 1,
            "downloads": 41,
            "thumbnail": "https://example.org/2.png",
            "url": "https://example.org/2",
            "date_added": -1,
            "owner": "bob",
            "size": 0,
            "copyright": "",
            "licence_type_id": 99,
            "template": False,
        }.items():
            change: dict[str, Any] = {name: value}
            assert store.put_maps([MapDraft(id="Complete", **change)]) == [
                Outcome(CHANGED, "Complete")
            ]
            after = present(store)["Complete"]
            assert after == replace(before, **change)
            assert store.changes(0, ALL) == [
                Change(store.revision(), 77, after, complete().outline)
            ]
            before = after

    def test_outlines_change_alone_and_stay_if_a_draft_has_none(self, store: Store) -> None:
        store.put_maps([complete()])
        revision = store.revision()
        same = MapDraft(id="Complete", outline=complete().outline)
        assert verdicts(store.put_maps([same])) == [UNCHANGED]
        assert store.revision() == revision
        other = MapDraft(id="Complete", outline=outline("new"))
        assert verdicts(store.put_maps([other])) == [CHANGED]
        assert store.revision() > revision
        assert store.outline(77) == outline("new")
        store.put_maps([MapDraft(id="Complete", views=0)])
        assert store.outline(77) == outline("new")
        assert store.outline(78) is None

    def test_outcomes_are_in_the_order_of_the_drafts(self, store: Store) -> None:
        store.put_maps([title("a", id="a"), title("b", id="b")])
        outcomes = store.put_maps(
            [
                MapDraft(id="a", title="a"),
                MapDraft(id="new"),
                MapDraft(id="b", title="B"),
                title("c", id="c"),
                MapDraft(id="c", views=1),
            ]
        )
        assert [(outcome.verdict, outcome.id) for outcome in outcomes] == [
            (UNCHANGED, "a"),
            (REFUSED, "new"),
            (CHANGED, "b"),
            (ADDED, "c"),
            (CHANGED, "c"),
        ]
        assert [bool(outcome.reason) for outcome in outcomes] == [False, True, False, False, False]

    def test_bad_drafts_are_refused_alone(self, store: Store) -> None:
        store.put_maps([title("a", id="a", file_id=5), title("gone", id="gone", file_id=6)])
        store.delete_maps(["gone"])
        revision = store.revision()
        bad = [
            MapDraft(),
            MapDraft(description="no title", owner="stranger", category="Odd", software="Odd"),
            MapDraft(id="unknown", views=1),
            MapDraft(source=source("unknown")),
            title("x", id="b", file_id=5),
            title("x", id="a", file_id=7),
            title("x", id="c", file_id=6),
            title("x", id="gone", file_id=8),
            title("x", file_id=5),
        ]
        mixed = [draft for one in bad for draft in (one, title("good"))]
        outcomes = store.put_maps(mixed)
        assert verdicts(outcomes) == [REFUSED, ADDED] * len(bad)
        assert all(outcome.reason for outcome in outcomes[::2])
        assert present(store)["a"].title == "a"
        assert len(present(store)) == 1 + len(bad)
        assert len(store.changes(revision, ALL)) == len(bad)
        assert [user.name for user in store.users()] == [SYSTEM_USER]
        assert store.categories() == list(seed.CATEGORIES)
        assert store.software() == list(seed.SOFTWARE)
        assert store.sources([source("unknown").path]) == {}
        assert store.check() == []

    def test_an_empty_title_is_a_title(self, store: Store) -> None:
        assert put(store, title("")).title == ""

    def test_content_is_returned_unchanged(self, store: Store, reopen: Open) -> None:
        found = put(store, title("t", source=source(name="folder/plan.mm"), content=b"packed"))
        kept = OriginalFile("plan.mm", source("folder/plan.mm").digest, b"packed")
        assert store.content(found.file_id) == kept
        assert store.content(put(store, title("without")).file_id) is None
        assert store.content(99) is None
        assert store.kept_file(found.file_id) == KeptFile(kept.name, kept.digest, len(b"packed"))
        assert store.kept_file(99) is None
        store.close()
        assert reopen().content(found.file_id) == kept

    def test_content_can_be_read_in_chunks(self, store: Store) -> None:
        content = bytes(range(256)) * 100
        found = put(store, title("t", source=source(), content=content))
        read = partial(store.content_piece, found.file_id, source().digest)
        pieces = [read(start, 1000) for start in range(0, len(content), 1000)]
        assert b"".join(pieces) == content
        assert max(map(len, pieces)) == 1000
        assert read(len(content), 1000) == read(len(content) + 1, 1000) == b""
        assert store.content_piece(found.file_id, b"e" * 32, 0, 1000) == b""
        assert store.content_piece(99, source().digest, 0, 1000) == b""

    def test_unchanged_content_is_not_written_again(self, store: Store) -> None:
        found = put(store, title("t", source=source(), content=b"packed"))
        revision = store.revision()
        for content in (b"packed", b"packed by another zlib", None):
            again = title("t", source=source(modified=9), content=content)
            assert verdicts(store.put_maps([again])) == [UNCHANGED]
            store.put_maps([MapDraft(id=found.id, content=None)])
            assert store.content(found.file_id) == OriginalFile(
                source().name, source().digest, b"packed"
            )
        assert store.revision() == revision

    def test_edited_content_replaces_what_was_there_and_is_a_change(self, store: Store) -> None:
        found = put(store, title("t", source=source(), content=b"packed"))
        revision = store.revision()
        edited = source(digest=b"e" * 32)
        assert verdicts(store.put_maps([title("t", source=edited, content=b"new")])) == [CHANGED]
        assert store.content(found.file_id) == OriginalFile(edited.name, edited.digest, b"new")
        assert [change.file_id for change in store.changes(revision, ALL)] == [found.file_id]
        assert len(store.maps(0, ALL)) == 1

    def test_content_has_the_present_name_of_its_file(self, store: Store) -> None:
        found = put(store, title("t", id="t", source=source("a.mm"), content=b"packed"))
        store.put_maps([MapDraft(id="t", source=source("A.opml"))])
        assert name_of(store, found) == "a.mm"
        moved = replace(source("a.mm"), path=b"/maps/z.mm", name="z.mm")
        assert store.move_source(source("a.mm").path, moved)
        assert name_of(store, found) == "z.mm"
        store.put_maps([title("other", id="o"), MapDraft(id="o", source=moved)])
        assert name_of(store, found) == "A.opml"
        store.put_maps([MapDraft(id="o", source=source("A.opml"))])
        assert name_of(store, found) == ""

    def test_content_is_deleted_with_its_map(self, store: Store) -> None:
        found = put(store, title("t", id="t", source=source(), content=b"packed"))
        store.delete_maps(["t"])
        assert store.content(found.file_id) is None
        assert put(store, title("again", id="t")).file_id == found.file_id
        assert store.content(found.file_id) is None
        assert store.check() == []

    def test_content_of_no_file_is_refused(self, store: Store) -> None:
        store.put_maps([title("t", id="t")])
        outcomes = store.put_maps([title("n", content=b"x"), MapDraft(id="t", content=b"x")])
        assert verdicts(outcomes) == [REFUSED, REFUSED]
        assert store.revision() == 1
