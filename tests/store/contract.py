"""What ``store/contract.py`` promises, as tests that every backend inherits.

A backend's own test file derives from ``StoreContract`` and says where its database is and how
it is opened; see ``test_sqlite_contract.py``.
"""

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mapshelf.errors import AlreadyExists, NotFound, StoreUnavailable
from mapshelf.exchange import format_record, parse_record
from mapshelf.model import (
    DAY,
    HOUR,
    LARGEST_COUNT,
    LARGEST_ID,
    SYSTEM_USER,
    UNCATEGORISED,
    Change,
    Credential,
    Map,
    MapDraft,
    Named,
    OriginalFile,
    Outcome,
    Source,
    Verdict,
    Visit,
    VisitKind,
)
from mapshelf.store import Store, seed
from mapshelf.tokens import ALPHABET
from tests.examples import examples
from tests.store.child import run_writers
from tests.store.clock import Clock
from tests.store.drafts import DRAFTS, as_draft, complete, outline, source

ALL = 1_000_000
NOON = 400_000 * HOUR
"""Some time of day at which an hour begins."""

LATER = 2**60
"""A time after all others."""

ADDED, CHANGED, UNCHANGED, REFUSED = Verdict

Open = Callable[[], Store]

INHERITED = (HealthCheck.function_scoped_fixture, HealthCheck.differing_executors)
"""Hypothesis warns of a test that several classes run, since what failed in one is replayed in the
other; here examples are the same every time, and none are kept."""


def title(text: str, **fields: Any) -> MapDraft:
    return MapDraft(title=text, **fields)


def put(store: Store, draft: MapDraft) -> Map:
    """Put one map that must be accepted; return its state."""
    (outcome,) = store.put_maps([draft])
    assert outcome.verdict is not REFUSED, outcome.reason
    return present(store)[outcome.id]


def present(store: Store) -> dict[str, Map]:
    return {found.id: found for found in store.maps(0, ALL)}


def name_of(store: Store, found: Map) -> str:
    content = store.content(found.file_id)
    assert content is not None
    return content.name


def visit(
    found: Map, key: str = "k", *, hour: int = NOON // HOUR, kind: VisitKind = VisitKind.VIEW
) -> Visit:
    return Visit(key.encode(), found.file_id, kind, hour)


def counts(store: Store) -> dict[str, tuple[int, int]]:
    """Let maps have what was counted; return views and downloads by title."""
    store.settle_visits(LATER)
    return {found.title: (found.views, found.downloads) for found in store.maps(0, ALL)}


def verdicts(outcomes: list[Outcome]) -> list[Verdict]:
    return [outcome.verdict for outcome in outcomes]


class StoreContract:
    """The suite. A backend gives ``url`` (an untouched database) and ``connect``."""

    def connect(self, url: str, clock: Clock) -> Store:
        """Open the database at ``url`` with this clock."""
        raise NotImplementedError

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def reopen(self, url: str, clock: Clock) -> Iterator[Open]:
        """Open the same database again, as another process would; all are closed at the end."""
        opened: list[Store] = []

        def reopen() -> Store:
            opened.append(self.connect(url, clock))
            return opened[-1]

        yield reopen
        for store in opened:
            store.close()

    @pytest.fixture
    def store(self, reopen: Open) -> Store:
        return reopen()

    # -- opening and closing --------------------------------------------------------------

    def test_a_new_store_is_sound_and_holds_the_seed(self, store: Store, clock: Clock) -> None:
        assert store.check() == []
        assert store.revision() == 0
        assert store.changes(0, ALL) == []
        assert store.maps(0, ALL) == []
        assert store.categories() == list(seed.CATEGORIES)
        assert store.software() == list(seed.SOFTWARE)
        assert store.licence_types() == list(seed.LICENCE_TYPES)
        assert [(user.name, user.registered, user.disabled) for user in store.users()] == [
            (SYSTEM_USER, clock.now, False)
        ]

    def test_closing_twice_is_fine_and_a_closed_store_is_unavailable(self, store: Store) -> None:
        store.close()
        store.close()
        with pytest.raises(StoreUnavailable):
            store.revision()
        with pytest.raises(StoreUnavailable):
            store.put_maps([title("t")])

    def test_everything_is_there_after_reopening(
        self, store: Store, reopen: Open, clock: Clock
    ) -> None:
        found = put(store, complete(source=source()))
        store.put_maps([title("gone", id="gone")])
        store.delete_maps(["gone"])
        user = store.add_user("Eve")
        token = store.add_token("eve", b"d" * 32, label="l", scopes="s", expires=5)
        everything = store.changes(0, ALL)
        store.close()

        clock.now += 1000  # a second opening must not seed or stamp anything anew
        again = reopen()
        assert again.changes(0, ALL) == everything
        assert again.maps(0, ALL) == [found]
        assert again.sources([source().path]) == {source().path: source()}
        assert again.users()[-1] == user
        assert again.tokens("EVE") == [token]
        assert again.check() == []

    # -- the change feed ------------------------------------------------------------------

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

    def test_a_map_put_again_after_deletion_is_one_change(self, store: Store) -> None:
        store.put_maps([complete()])
        store.delete_maps(["Complete"])
        found = put(store, complete())
        assert store.changes(0, ALL) == [Change(store.revision(), 77, found, complete().outline)]

    @settings(max_examples=examples(15), suppress_health_check=INHERITED)
    @given(seed=st.integers(0, 2**32), limit=st.integers(1, 7))
    def test_following_the_feed_in_steps_gives_the_present_state(
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

    def test_waiting_in_silence_takes_as_long_as_it_may(self, store: Store) -> None:
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

    def test_waiting_on_a_store_that_is_away_raises_nothing(self, store: Store) -> None:
        store.close()
        store.wait(0, 0.1)

    # -- put_maps -------------------------------------------------------------------------

    def test_a_complete_draft_comes_out_as_it_went_in(self, store: Store) -> None:
        found = put(store, complete())
        for field in fields(MapDraft):
            if field.name not in ("source", "outline", "content"):
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
    def test_any_map_comes_out_as_it_went_in_and_again_is_unchanged(
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

    def test_a_draft_changes_only_what_it_says(self, store: Store) -> None:
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

    def test_outlines_change_alone_and_stay_when_nothing_is_said(self, store: Store) -> None:
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

    def test_content_comes_out_as_it_went_in(self, store: Store, reopen: Open) -> None:
        found = put(store, title("t", source=source(name="folder/plan.mm"), content=b"packed"))
        kept = OriginalFile("plan.mm", source("folder/plan.mm").digest, b"packed")
        assert store.content(found.file_id) == kept
        assert store.content(put(store, title("without")).file_id) is None
        assert store.content(99) is None
        store.close()
        assert reopen().content(found.file_id) == kept

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

    def test_content_bears_the_name_its_file_has_now(self, store: Store) -> None:
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

    def test_content_goes_with_its_map(self, store: Store) -> None:
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

    def test_outcomes_stand_in_the_order_of_the_drafts(self, store: Store) -> None:
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

    # -- identity -------------------------------------------------------------------------

    def test_file_ids_go_up_from_the_highest_ever_used(self, store: Store) -> None:
        assert put(store, title("a")).file_id == 1
        assert put(store, title("b", file_id=100)).file_id == 100
        assert put(store, title("c", file_id=50)).file_id == 50
        last = put(store, title("d"))
        assert last.file_id == 101
        store.delete_maps([last.id])
        assert put(store, title("e")).file_id == 102

    def test_ids_are_never_given_twice(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        store.put_maps([title("t", id="Taken000"), title("g", id="Grave000")])
        store.delete_maps(["Grave000"])
        thrown = iter(["Taken000", "Grave000", "Fresh000"])
        monkeypatch.setattr("mapshelf.store.merge.secrets.choice", chooser(thrown))
        assert put(store, title("new")).id == "Fresh000"

    def test_ids_of_deleted_maps_stay_used_up(self, store: Store) -> None:
        first = put(store, title("a", id="a"))
        store.delete_maps(["a"])
        (taken,) = store.put_maps([title("b", id="b", file_id=first.file_id)])
        assert taken.verdict is REFUSED
        assert put(store, title("c")).file_id > first.file_id

    def test_a_draft_that_names_a_deleted_map_brings_it_back(self, store: Store) -> None:
        first = put(store, title("a", id="a", views=9))
        store.delete_maps(["a"])
        store.put_maps([title("b")])
        back = put(store, title("again", id="a"))
        assert (back.file_id, back.views) == (first.file_id, 0)
        assert store.maps(0, ALL)[0] == back
        assert store.check() == []

    def test_ids_differ_by_case(self, store: Store) -> None:
        assert verdicts(store.put_maps([title("1", id="abc"), title("2", id="ABC")])) == [
            ADDED,
            ADDED,
        ]

    # -- deletion, listing ----------------------------------------------------------------

    def test_delete_counts_what_was_there(self, store: Store) -> None:
        store.put_maps([title(name, id=name) for name in "abc"])
        assert store.delete_maps(["a", "unknown", "a", "c"]) == 2
        assert list(present(store)) == ["b"]
        revision = store.revision()
        assert store.delete_maps(iter(["a", "unknown"])) == 0
        assert store.revision() == revision

    def test_maps_come_by_file_id_in_pages(self, store: Store) -> None:
        store.put_maps([title(str(n), file_id=n) for n in (5, 3, 9, 1, 7)])
        assert [found.file_id for found in store.maps(0, ALL)] == [1, 3, 5, 7, 9]
        assert [found.file_id for found in store.maps(3, 2)] == [5, 7]
        assert store.maps(9, 2) == []
        assert store.map_count() == 5

    # -- references -----------------------------------------------------------------------

    def test_unknown_owners_are_registered_once_whatever_their_case(
        self, store: Store, clock: Clock
    ) -> None:
        store.put_maps([title("1", owner="Ann"), title("2", owner="aNN")])
        clock.now += 1
        store.put_maps([title("3", owner="ANN")])
        assert [found.owner for found in store.maps(0, ALL)] == ["Ann"] * 3
        assert [(user.name, user.registered) for user in store.users()[1:]] == [
            ("Ann", clock.now - 1)
        ]

    def test_owners_fold_beyond_ascii(self, store: Store) -> None:
        store.put_maps([title("1", owner="Straße"), title("2", owner="STRASSE")])
        assert len(store.users()) == 2

    def test_known_software_is_found_and_unknown_gets_the_next_id(self, store: Store) -> None:
        outcomes = store.put_maps(
            [
                title("1", software="freemind"),
                title("2", software="New One"),
                title("3", software="NEW ONE "),
                title("4", software="Newer"),
                title("5", software=""),
            ]
        )
        assert verdicts(outcomes) == [ADDED] * 5
        assert [(found.software_id, found.software) for found in store.maps(0, ALL)] == [
            (1, "FreeMind"),
            (21, "New One"),
            (21, "New One"),
            (22, "Newer"),
            (None, ""),
        ]
        assert store.software()[20:] == [Named(21, "New One"), Named(22, "Newer")]

    def test_software_can_be_taken_back(self, store: Store) -> None:
        store.put_maps([complete()])
        assert put(store, MapDraft(id="Complete", software="")).software_id is None

    def test_blank_names_are_no_names(self, store: Store) -> None:
        found = put(store, title("t", software=" ", category=" "))
        assert (found.software_id, found.software) == (None, "")
        assert (found.category_id, found.category) == (1, UNCATEGORISED)
        assert store.software() == list(seed.SOFTWARE)
        assert store.categories() == list(seed.CATEGORIES)

    def test_categories_by_name(self, store: Store) -> None:
        outcomes = store.put_maps(
            [title("1", category="SCIENCE"), title("2", category="New"), title("3", category="new")]
        )
        assert verdicts(outcomes) == [ADDED] * 3
        assert [(found.category_id, found.category) for found in store.maps(0, ALL)] == [
            (21, "Science"),
            (26, "New"),
            (26, "New"),
        ]
        assert store.categories()[25:] == [Named(26, "New")]

    def test_category_ids_are_kept_under_the_name_given(self, store: Store) -> None:
        store.put_maps(
            [
                title("1", category_id=4, category="Trade"),
                title("2", category_id=500, category="Own"),
                title("3", category_id=501),
                title("4", category_id=4),
                title("5", category="next"),
            ]
        )
        assert [(found.category_id, found.category) for found in store.maps(0, ALL)] == [
            (4, "Trade"),
            (500, "Own"),
            (501, "Category 501"),
            (4, "Business"),
            (502, "next"),
        ]
        assert store.categories()[25:] == [
            Named(500, "Own"),
            Named(501, "Category 501"),
            Named(502, "next"),
        ]
        assert Named(4, "Business") in store.categories()

    def test_a_category_stays_as_it_is_when_nothing_else_is_said(self, store: Store) -> None:
        before = put(store, title("1", id="a", category_id=4, category="Trade"))
        for draft in (MapDraft(id="a", title="1"), MapDraft(id="a", category_id=4)):
            assert verdicts(store.put_maps([draft])) == [UNCHANGED]
        assert store.maps(0, ALL) == [before]

    # -- sources --------------------------------------------------------------------------

    def test_a_source_identifies_its_map(self, store: Store) -> None:
        first = put(store, title("t", source=source()))
        assert store.sources([source().path, b"/other"]) == {source().path: source()}
        newer = source(size=5, modified=9, digest=b"x" * 32)
        changed = put(store, MapDraft(title="u", source=newer))
        assert changed == replace(first, title="u")
        assert store.sources([newer.path]) == {newer.path: newer}

    def test_a_source_is_kept_even_if_the_map_is_unchanged(self, store: Store) -> None:
        store.put_maps([title("t", source=source())])
        revision = store.revision()
        newer = source(size=5, modified=9, digest=b"x" * 32)
        assert verdicts(store.put_maps([title("t", source=newer)])) == [UNCHANGED]
        assert store.sources([newer.path]) == {newer.path: newer}
        assert store.revision() == revision

    def test_an_id_goes_before_a_source(self, store: Store) -> None:
        store.put_maps([title("1", id="a", source=source("a")), title("2", id="b")])
        store.put_maps([MapDraft(id="b", title="2b", source=source("a"))])
        store.put_maps([MapDraft(title="by path", source=source("a"))])
        assert {found.id: found.title for found in store.maps(0, ALL)} == {"a": "1", "b": "by path"}

    def test_a_map_may_have_several_sources(self, store: Store) -> None:
        store.put_maps([title("1", id="a", source=source("a"))])
        store.put_maps([MapDraft(id="a", source=source("b"))])
        paths = [source("a").path, source("b").path]
        assert set(store.sources(paths)) == set(paths)
        assert len(store.maps(0, ALL)) == 1

    def test_sources_go_with_their_map(self, store: Store) -> None:
        old = put(store, title("t", source=source()))
        store.delete_maps([old.id])
        assert store.sources([source().path]) == {}
        assert put(store, title("t", source=source())).id != old.id

    def test_paths_are_bytes_of_any_kind(self, store: Store) -> None:
        odd = [bytes([n]) for n in range(1, 256)] + [b"/maps/\xff\xfe", b"/Maps/a", b"/maps/a"]
        store.put_maps([title("t", source=source(path=path)) for path in odd])
        assert set(store.sources(odd)) == set(odd)
        assert len(store.maps(0, ALL)) == len(odd)
        assert store.sources([]) == {}

    def test_sources_below_a_folder(self, store: Store) -> None:
        names = ["a/1.mm", "a/2.mm", "a/b/3.mm", "ab/4.mm", "a.mm", "a0.mm"]
        store.put_maps([title("t", source=source(name)) for name in names])
        below = [source("a/1.mm"), source("a/2.mm"), source("a/b/3.mm")]
        assert store.sources_below(b"/maps/a", b"", ALL) == below
        assert store.sources_below(b"/maps/a", b"", 2) == below[:2]
        assert store.sources_below(b"/maps/a", below[1].path, ALL) == below[2:]
        assert store.sources_below(b"/elsewhere", b"", ALL) == []

    def test_sources_of_a_content(self, store: Store) -> None:
        twins = [source("a.mm", digest=b"2" * 32), source("b.mm", digest=b"2" * 32)]
        store.put_maps([title("t", source=one) for one in (*reversed(twins), source("c.mm"))])
        assert store.sources_of(b"2" * 32) == twins
        assert store.sources_of(b"3" * 32) == []

    def test_moving_a_source_keeps_its_map(self, store: Store) -> None:
        before = put(store, title("t", source=source("a.mm")))
        revision = store.revision()
        moved = source("b.mm", digest=source("a.mm").digest)
        assert store.move_source(source("a.mm").path, moved)
        assert store.sources([source("a.mm").path, moved.path]) == {moved.path: moved}
        (change,) = store.changes(revision, ALL)
        assert (change.map, change.source) == (before, "b.mm")
        assert put(store, title("t", source=moved)) == before

    def test_moving_a_source_onto_another_does_nothing(self, store: Store) -> None:
        store.put_maps([title("t", source=source("a.mm")), title("u", source=source("b.mm"))])
        revision = store.revision()
        assert not store.move_source(source("a.mm").path, source("b.mm"))
        assert not store.move_source(b"/maps/unknown", source("c.mm"))
        assert store.sources([source("a.mm").path, source("b.mm").path]).keys() == {
            source("a.mm").path,
            source("b.mm").path,
        }
        assert store.revision() == revision

    def test_deleting_sources_deletes_their_maps(self, store: Store) -> None:
        store.put_maps([title("t", source=source("a.mm")), title("u", source=source("b.mm"))])
        assert store.delete_sources([source("a.mm").path, b"/maps/unknown"]) == 1
        assert [found.title for found in store.maps(0, ALL)] == ["u"]
        assert store.changes(2, ALL)[-1].map is None

    def test_changes_tell_the_name_of_the_source(self, store: Store) -> None:
        store.put_maps([title("t", source=source("a/b.mm")), title("u")])
        assert [change.source for change in store.changes(0, ALL)] == ["a/b.mm", ""]

    def test_a_known_source_keeps_its_name(self, store: Store) -> None:
        store.put_maps([title("t", source=source(name="a/b.mm"))])
        other = source("a/b.mm", digest=b"5" * 32)
        store.put_maps([title("u", source=Source(other.path, "b.mm", 1, 2, other.digest))])
        assert store.sources([other.path])[other.path].name == "a/b.mm"

    def test_identity_is_the_stores_own_and_stays(
        self, store: Store, reopen: Open, empty: Callable[[], Store]
    ) -> None:
        assert store.identity() == reopen().identity()
        assert store.identity() != empty().identity()

    def test_the_largest_ids_leave_room_for_what_comes_back_from_an_export(
        self, store: Store
    ) -> None:
        put(store, title("t", category_id=LARGEST_ID, category="Last"))
        assert put(store, title("u", category="New")).category_id == len(seed.CATEGORIES) + 1
        put(store, title("v", id="Last", file_id=LARGEST_ID))
        (outcome,) = store.put_maps([title("w")])
        assert outcome.verdict is Verdict.REFUSED

    # -- users ----------------------------------------------------------------------------

    def test_users_are_one_whatever_their_case(self, store: Store, clock: Clock) -> None:
        bob = store.add_user("Bob")
        assert (bob.name, bob.registered, bob.disabled) == ("Bob", clock.now, False)
        for name in ("Bob", "bob", "BOB", SYSTEM_USER):
            with pytest.raises(AlreadyExists):
                store.add_user(name)
        eve = store.add_user("eve")
        assert store.users()[1:] == [bob, eve]
        assert bob.id < eve.id

    def test_registered_owners_are_users(self, store: Store) -> None:
        store.put_maps([title("t", owner="Ann")])
        with pytest.raises(AlreadyExists):
            store.add_user("ann")

    def test_disabling(self, store: Store) -> None:
        bob = store.add_user("Bob")
        store.add_token("bob", b"1" * 32, label="", scopes="", expires=None)
        store.add_user("Eve")
        disabled = replace(bob, disabled=True)
        assert store.disable_user("BOB") == disabled
        assert store.disable_user("bob") == disabled
        assert [user.disabled for user in store.users()] == [False, True, False]
        (credential,) = store.find_credentials([b"1" * 32]).values()
        assert credential.user == disabled
        with pytest.raises(NotFound):
            store.disable_user("nobody")

    # -- tokens ---------------------------------------------------------------------------

    def test_tokens(self, store: Store, clock: Clock) -> None:
        bob = store.add_user("Bob")
        first = store.add_token("bob", b"1" * 32, label="mine", scopes="read", expires=99)
        clock.now += 5
        second = store.add_token("BOB", b"2" * 32, label="", scopes="", expires=None)
        assert (first.user, first.label, first.scopes) == ("Bob", "mine", "read")
        assert (first.created, first.expires) == (clock.now - 5, 99)
        assert (first.revoked, first.last_used) == (None, None)
        assert (second.created, second.expires) == (clock.now, None)
        assert store.tokens("bOb") == [first, second]
        both = {b"1" * 32: Credential(first, bob), b"2" * 32: Credential(second, bob)}
        assert store.find_credentials([b"3" * 32, b"2" * 32, b"", b"1" * 32, b"2" * 32]) == both
        assert store.find_credentials([b"3" * 32]) == store.find_credentials([]) == {}
        assert store.tokens(SYSTEM_USER) == []

    def test_tokens_are_found_among_thousands_that_nobody_knows(self, store: Store) -> None:
        known = [bytes([n]) * 32 for n in range(50)]
        for digest in known:
            store.add_token(SYSTEM_USER, digest, label="", scopes="", expires=None)
        invented = [sha256(b"%d" % n).digest() for n in range(5000)]
        asked = random.Random(1).sample(known + invented, 5050)
        assert sorted(store.find_credentials(asked)) == known

    def test_tokens_need_a_user(self, store: Store) -> None:
        with pytest.raises(NotFound):
            store.tokens("nobody")
        with pytest.raises(NotFound):
            store.add_token("nobody", b"1" * 32, label="", scopes="", expires=None)
        assert store.find_credentials([b"1" * 32]) == {}
        with pytest.raises(NotFound):
            store.revoke_token(1)

    def test_revoking_twice_keeps_the_first_time(self, store: Store, clock: Clock) -> None:
        token = store.add_token(SYSTEM_USER, b"1" * 32, label="", scopes="", expires=None)
        other = store.add_token(SYSTEM_USER, b"2" * 32, label="", scopes="", expires=None)
        revoked = replace(token, revoked=clock.now)
        assert store.revoke_token(token.id) == revoked
        clock.now += 1000
        assert store.revoke_token(token.id) == revoked
        assert store.tokens(SYSTEM_USER) == [revoked, other]
        (credential,) = store.find_credentials([b"1" * 32]).values()
        assert credential.token == revoked

    def test_the_mark_of_tokens_is_another_once_one_is_withdrawn(self, store: Store) -> None:
        store.add_user("Bob")
        first = store.add_token("Bob", b"1" * 32, label="", scopes="", expires=None)
        marks = [store.token_mark()]
        store.touch_tokens({first.id: 50})
        store.put_maps([title("t", owner="Bob")])
        assert store.token_mark() == marks[0]
        for withdraw in (
            lambda: store.revoke_token(first.id),
            lambda: store.add_token("Bob", b"2" * 32, label="", scopes="", expires=None),
            lambda: store.disable_user("Bob"),
        ):
            withdraw()
            marks.append(store.token_mark())
            for mark in marks:
                (credential,) = store.find_credentials([b"3" * 32, b"1" * 32], mark).values()
                assert credential.token.revoked is not None
        assert len(set(marks)) >= 3
        assert store.find_credentials([b"3" * 32], marks[-1]) == {}

    def test_last_use_never_goes_back(self, store: Store) -> None:
        one, two, three = (
            store.add_token(SYSTEM_USER, bytes([n]) * 32, label="", scopes="", expires=None)
            for n in range(3)
        )
        store.touch_tokens({one.id: 50, two.id: 60, 12345: 1})
        store.touch_tokens({one.id: 40, two.id: 70})
        store.touch_tokens({})
        assert store.tokens(SYSTEM_USER) == [
            replace(one, last_used=50),
            replace(two, last_used=70),
            three,
        ]

    # -- several at once ------------------------------------------------------------------

    def test_threads_share_a_store(self, store: Store) -> None:
        stop = threading.Event()

        def write(worker: int) -> None:
            for n in range(20):
                name = f"{worker}x{n}"
                outcomes = store.put_maps([title(name, id=name), title(f"{name}b", owner="all")])
                assert verdicts(outcomes) == [ADDED, ADDED]
                store.add_token("all", name.ljust(32).encode(), label="", scopes="", expires=None)

        def follow() -> int:
            revision = seen = 0
            while not stop.is_set():
                changes = store.changes(revision, 10)
                # Maps are only added here: none may be missed, none come twice.
                assert [c.revision for c in changes] == list(
                    range(revision + 1, revision + 1 + len(changes))
                )
                seen += len(changes)
                revision = changes[-1].revision if changes else revision
                store.find_credentials([b"?" * 32])
            return revision

        with ThreadPoolExecutor(6) as pool:
            followers = [pool.submit(follow) for _ in range(2)]
            for written in [pool.submit(write, worker) for worker in range(4)]:
                written.result()
            stop.set()
            assert all(follower.result() <= 160 for follower in followers)
        assert len({found.file_id for found in store.maps(0, ALL)}) == 160
        assert store.revision() == 160
        assert len(store.tokens("ALL")) == 80
        assert [user.name for user in store.users()] == [SYSTEM_USER, "all"]
        assert store.check() == []

    def test_stores_of_one_database_see_each_others_writes(
        self, store: Store, reopen: Open
    ) -> None:
        other = reopen()
        for n in range(10):
            writer, reader = (store, other) if n % 2 else (other, store)
            found = put(writer, title(str(n), owner=f"owner {n}", software=f"program {n}"))
            assert reader.revision() == writer.revision()
            assert reader.changes(reader.revision() - 1, ALL)[0].map == found
            (outcome,) = reader.put_maps([MapDraft(id=found.id, views=1)])
            assert outcome.verdict is CHANGED
        assert [found.file_id for found in store.maps(0, ALL)] == list(range(1, 11))
        assert store.maps(0, ALL) == other.maps(0, ALL)

    def test_several_may_open_a_new_database_at_once(self, reopen: Open) -> None:
        start = threading.Barrier(4)

        def first() -> Store:
            start.wait()
            return reopen()

        with ThreadPoolExecutor(4) as pool:
            stores = [job.result() for job in [pool.submit(first) for _ in range(4)]]
        for store in stores:
            assert [user.name for user in store.users()] == [SYSTEM_USER]
            assert store.check() == []

    @pytest.mark.process
    def test_two_processes_write_while_a_third_follows(self, url: str, store: Store) -> None:
        """Once a change is visible, none with a lower revision may appear later."""
        revision, mirror = 0, {}
        for _ in run_writers(url, seeds=(1, 2), batches=25):
            changes = store.changes(revision, 7)
            assert [c.revision for c in changes] == sorted({c.revision for c in changes})
            for change in changes:
                assert change.revision > revision
                revision = change.revision
                mirror[change.file_id] = change.map
        while changes := store.changes(revision, ALL):
            revision = changes[-1].revision
            mirror.update({change.file_id: change.map for change in changes})
        found = [mirror[file_id] for file_id in sorted(mirror) if mirror[file_id]]
        assert found == store.maps(0, ALL)
        assert len(found) > 20
        assert store.check() == []

    def test_a_batch_is_seen_whole_or_not_at_all(self, store: Store, reopen: Open) -> None:
        reader = reopen()
        done = threading.Event()

        def write() -> None:
            for n in range(1, 60):
                store.put_maps([title("t", id=f"m{i}", views=n) for i in range(5)])
            done.set()

        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(write)
            while not done.is_set() and not writing.done():
                views = {found.views for found in reader.maps(0, ALL)}
                assert len(views) <= 1
            writing.result()

    def test_a_write_that_fails_midway_leaves_nothing(self, store: Store) -> None:
        """A store that breaks in the middle of a batch must not keep the first half."""
        before = put(store, title("t", id="a"))
        unstorable: Any = object()
        with pytest.raises(Exception):  # noqa: B017, PT011 -- whatever the database's driver says
            store.put_maps(
                [
                    MapDraft(id="a", views=5),
                    title("n", owner="new"),
                    title("x", copyright=unstorable),
                ]
            )
        assert store.maps(0, ALL) == [before]
        assert store.revision() == 1
        assert [user.name for user in store.users()] == [SYSTEM_USER]
        assert verdicts(store.put_maps([MapDraft(id="a", views=5)])) == [CHANGED]

    # -- visits ---------------------------------------------------------------------------

    def test_a_visit_counts_once_whoever_hands_it_over(self, store: Store, reopen: Open) -> None:
        a, b = put(store, title("a", views=7)), put(store, title("b"))
        visits = [visit(a), visit(a, "other"), visit(a), visit(b, "b")]
        assert store.count_visits(visits, NOON, ALL) == 0
        assert reopen().count_visits(visits, NOON + 5, ALL) == 0
        assert store.count_visits([visit(a, "third")], NOON + 9, ALL) == 0
        assert counts(store) == {"a": (10, 0), "b": (1, 0)}

    def test_views_and_downloads_are_counted_apart(self, store: Store) -> None:
        a = put(store, title("a", downloads=3))
        store.count_visits([visit(a), visit(a, "d", kind=VisitKind.DOWNLOAD)], NOON, ALL)
        assert counts(store) == {"a": (1, 4)}

    def test_counting_makes_no_change_and_settling_one_for_each_map(self, store: Store) -> None:
        a, b, c = (put(store, title(name)) for name in "abc")
        revision = store.revision()
        store.count_visits([visit(a, "1"), visit(b, "2"), visit(a, "3")], NOON, ALL)
        assert store.revision() == revision
        assert store.maps(0, ALL) == [a, b, c]
        assert store.settle_visits(NOON) == 0  # none of it was before
        assert store.settle_visits(NOON + 1) == 2
        changes = store.changes(revision, ALL)
        assert [(c.map.id, c.map.views) for c in changes if c.map] == [(a.id, 2), (b.id, 1)]
        assert [replace(c.map, views=0) for c in changes if c.map] == [a, b]
        assert store.revision() == revision + 2
        assert store.settle_visits(LATER) == 0
        assert store.revision() == revision + 2

    def test_one_visit_that_waited_takes_the_later_ones_along(self, store: Store) -> None:
        a, b = put(store, title("a")), put(store, title("b"))
        store.count_visits([visit(a, "1")], NOON, ALL)
        store.count_visits([visit(a, "2"), visit(b, "3")], NOON + 50, ALL)
        assert store.settle_visits(NOON + 1) == 2
        assert counts(store) == {"a": (2, 0), "b": (1, 0)}

    def test_settling_many_maps(self, store: Store) -> None:
        found = store.put_maps([title(f"m{n}") for n in range(1203)])
        assert len(found) == 1203
        visits = [visit(one, one.id) for one in store.maps(0, ALL)]
        store.count_visits(visits, NOON, ALL)
        assert store.settle_visits(LATER) == 1203
        assert {one.views for one in store.maps(0, ALL)} == {1}
        assert store.check() == []

    def test_the_same_in_another_hour_counts_again(self, store: Store) -> None:
        a = put(store, title("a"))
        hour = NOON // HOUR
        store.count_visits([visit(a)], NOON, ALL)
        store.count_visits([visit(a, hour=hour + 1), visit(a)], NOON + HOUR, ALL)
        assert counts(store) == {"a": (2, 0)}

    def test_what_comes_an_hour_late_counts_and_later_does_not(self, store: Store) -> None:
        a = put(store, title("a"))
        hour = NOON // HOUR
        late = [visit(a, str(n), hour=hour - n) for n in range(4)]
        assert store.count_visits(late, NOON, ALL) == 0
        assert counts(store) == {"a": (2, 0)}

    def test_visits_are_forgotten_after_the_next_hour(self, store: Store) -> None:
        a = put(store, title("a"))
        store.count_visits([visit(a)], NOON, ALL)
        store.count_visits([], NOON + 2 * HOUR, ALL)
        # Were it known still, it would not count: nobody could tell otherwise.
        store.count_visits([visit(a)], NOON, ALL)
        assert counts(store) == {"a": (2, 0)}

    def test_beyond_the_room_there_is_nothing_counts(self, store: Store) -> None:
        a = put(store, title("a"))
        assert store.count_visits([visit(a, str(n)) for n in range(5)], NOON, 3) == 2
        assert store.count_visits([visit(a, "6")], NOON, 3) == 1
        assert counts(store) == {"a": (3, 0)}
        # Room comes back as hours go by.
        later = visit(a, "7", hour=NOON // HOUR + 2)
        assert store.count_visits([later], NOON + 2 * HOUR, 3) == 0
        assert counts(store) == {"a": (4, 0)}

    def test_maps_that_are_not_there_are_not_counted(self, store: Store) -> None:
        a, b = put(store, title("a")), put(store, title("b"))
        store.delete_maps([b.id])
        store.count_visits([visit(b, "1"), visit(a, "2")], NOON, ALL)
        store.count_visits([visit(a, "3")], NOON, ALL)
        store.delete_maps([a.id])
        revision = store.revision()
        store.settle_visits(LATER)
        assert store.maps(0, ALL) == []
        assert store.revision() == revision
        assert store.check() == []

    def test_a_counter_that_is_full_stays_full(self, store: Store) -> None:
        put(store, title("a", views=LARGEST_COUNT - 1, downloads=LARGEST_COUNT))
        (a,) = store.maps(0, ALL)
        visits = [visit(a, str(n)) for n in range(3)]
        store.count_visits([*visits, visit(a, "d", kind=VisitKind.DOWNLOAD)], NOON, ALL)
        assert counts(store) == {"a": (LARGEST_COUNT, LARGEST_COUNT)}

    def test_an_import_takes_nothing_back_that_was_counted(self, store: Store) -> None:
        a = put(store, complete(views=5, downloads=2))
        (line,) = (format_record(found) for found in store.maps(0, ALL))
        store.count_visits([visit(a, "1"), visit(a, "2", kind=VisitKind.DOWNLOAD)], NOON, ALL)
        assert counts(store) == {"A title": (6, 3)}
        (outcome,) = store.put_maps([parse_record(line)[0]])
        assert outcome.verdict is UNCHANGED
        assert verdicts(store.put_maps([MapDraft(id=a.id, title="new")])) == [CHANGED]
        assert counts(store) == {"new": (6, 3)}
        store.put_maps([MapDraft(id=a.id, views=100)])
        assert counts(store) == {"new": (100, 3)}

    def test_salts_are_one_for_all_and_last_a_day(self, store: Store, reopen: Open) -> None:
        day = NOON // DAY
        salt, following = store.visitor_salt(day), reopen().visitor_salt(day + 1)
        assert len(salt) == len(following) == 32
        assert salt != following
        assert (reopen().visitor_salt(day), store.visitor_salt(day + 1)) == (salt, following)
        store.count_visits([], NOON, ALL)
        assert store.visitor_salt(day) == salt
        store.count_visits([], (day + 1) * DAY, ALL)
        assert store.visitor_salt(day + 1) == following
        assert store.visitor_salt(day) != salt

    def test_several_may_ask_for_a_new_salt_at_once(self, reopen: Open) -> None:
        stores = [reopen() for _ in range(4)]
        with ThreadPoolExecutor(4) as pool:
            salts = [job.result() for job in [pool.submit(s.visitor_salt, 9) for s in stores]]
        assert len(set(salts)) == 1

    def test_several_count_at_once_while_maps_are_written(self, reopen: Open) -> None:
        """Everyone hands over the same visits, in an order of his own, and nobody is in the way."""
        first = reopen()
        first.put_maps([title(f"m{n}", id=f"m{n}") for n in range(20)])
        visits = [visit(one, f"{one.id} {n}") for one in first.maps(0, ALL) for n in range(9)]

        def count(seed: int) -> None:
            store, mine = reopen(), list(visits)
            random.Random(seed).shuffle(mine)
            for start in range(0, len(mine), 30):
                store.count_visits(mine[start : start + 30], NOON, ALL)
                store.settle_visits(LATER)

        def write(seed: int) -> None:
            store = reopen()
            for n in range(10):
                store.put_maps([title(f"t{seed}", id=f"m{i}") for i in range(n, n + 9)])
                store.delete_maps([f"x{seed}"])

        with ThreadPoolExecutor(4) as pool:
            jobs = [pool.submit(count, 1), pool.submit(count, 2)]
            jobs += [pool.submit(write, 3), pool.submit(write, 4)]
            for job in jobs:
                job.result()
        first.settle_visits(LATER)
        assert {found.views for found in first.maps(0, ALL)} == {9}
        assert first.check() == []

    @settings(max_examples=examples(30), suppress_health_check=INHERITED)
    @given(
        steps=st.lists(
            st.one_of(
                st.integers(1, 3 * HOUR // 2),
                st.lists(
                    st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from(VisitKind)),
                    max_size=8,
                ),
                st.none(),
            ),
            max_size=12,
        )
    )
    def test_any_visits_count_as_a_set_would(
        self, empty: Callable[[], Store], steps: list[Any]
    ) -> None:
        """Time goes by, visits are handed over (all of this hour once more), counts are settled."""
        store = empty()
        try:
            store.put_maps([title(str(n)) for n in range(3)])
            maps, now = store.maps(0, ALL), NOON
            model: set[Visit] = set()
            for step in steps:
                if isinstance(step, int):
                    now += step
                elif step is None:
                    store.settle_visits(now + 1)
                else:
                    hour = now // HOUR
                    model.update(
                        visit(maps[n], f"{who} {n} {kind} {hour}", hour=hour, kind=kind)
                        for who, n, kind in step
                    )
                    known = [one for one in model if one.hour >= hour - 1]
                    assert store.count_visits(known, now, ALL) == 0
            want = {found.title: [0, 0] for found in maps}
            for one in model:
                want[maps[one.file_id - 1].title][one.kind is VisitKind.DOWNLOAD] += 1
            assert counts(store) == {name: (a, b) for name, (a, b) in want.items()}
        finally:
            store.close()

    # -- moving a catalogue ---------------------------------------------------------------

    @settings(max_examples=examples(25), suppress_health_check=INHERITED)
    @given(drafts=st.lists(DRAFTS, max_size=6))
    def test_export_and_import_into_an_empty_catalogue(
        self, store: Store, empty: Callable[[], Store], drafts: list[MapDraft]
    ) -> None:
        store.put_maps(drafts)
        lines = [format_record(found) for found in store.maps(0, ALL)]
        target = empty()
        try:
            parsed = [parse_record(line) for line in lines]
            assert all(unknown == [] for _, unknown in parsed)
            outcomes = target.put_maps([draft for draft, _ in parsed])
            assert {outcome.verdict for outcome in outcomes} <= {ADDED}
            assert [format_record(found) for found in target.maps(0, ALL)] == lines
            again = target.put_maps([parse_record(line)[0] for line in lines])
            assert {outcome.verdict for outcome in again} <= {UNCHANGED}
        finally:
            target.close()

    # -- care -----------------------------------------------------------------------------

    def test_check_is_silent_after_much_writing(self, store: Store) -> None:
        for _ in random_writes(store, random.Random(7)):
            pass
        assert store.check() == []


def until_quiet(store: Store, revision: int) -> None:
    """Wait until the store says that there is nothing above a revision."""
    deadline = time.monotonic() + 10
    while store.wait(revision, 0.01):
        assert time.monotonic() < deadline, "it never falls silent"


def chooser(words: Iterator[str]) -> Callable[[str], str]:
    """Return a stand-in for ``secrets.choice`` that spells ``words`` one after the other."""
    letters = (letter for word in words for letter in word)
    return lambda alphabet: next(letters)


def random_writes(store: Store, dice: random.Random) -> Iterator[None]:
    """Write at random, pausing after each write."""
    for step in range(30):
        ids = [f"r{dice.randrange(12)}" for _ in range(dice.randint(1, 3))]
        if dice.random() < 0.3:
            store.delete_maps(ids)
        else:
            store.put_maps(
                [
                    MapDraft(
                        id=public_id,
                        title=f"t{step}",
                        owner=f"o{dice.randrange(3)}",
                        views=dice.randrange(4),
                        outline=outline(public_id, str(step)) if dice.random() < 0.5 else None,
                    )
                    for public_id in ids
                ]
            )
        yield
