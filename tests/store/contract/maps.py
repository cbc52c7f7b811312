"""Tests of ``contract.Maps``, and of the ids, owners, software and categories of maps."""

import pytest

from mapshelf.model import (
    LARGEST_ID,
    UNCATEGORISED,
    MapDraft,
    Named,
    Verdict,
)
from mapshelf.store import Store, named_rows, seed
from tests.store.clock import Clock
from tests.store.contract.suite import (
    ADDED,
    ALL,
    REFUSED,
    UNCHANGED,
    Suite,
    chooser,
    present,
    put,
    title,
    verdicts,
)
from tests.store.drafts import complete


class MapsContract(Suite):
    """Ids, deletion, lists, owners, software, categories."""

    def test_file_ids_continue_from_the_highest_ever_used(self, store: Store) -> None:
        assert put(store, title("a")).file_id == 1
        assert put(store, title("b", file_id=100)).file_id == 100
        assert put(store, title("c", file_id=50)).file_id == 50
        last = put(store, title("d"))
        assert last.file_id == 101
        store.delete_maps([last.id])
        assert put(store, title("e")).file_id == 102

    def test_ids_are_never_reused(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        store.put_maps([title("t", id="Taken000"), title("g", id="Grave000")])
        store.delete_maps(["Grave000"])
        thrown = iter(["Taken000", "Grave000", "Fresh000"])
        monkeypatch.setattr("mapshelf.store.merge.secrets.choice", chooser(thrown))
        assert put(store, title("new")).id == "Fresh000"

    def test_ids_of_deleted_maps_are_not_reused(self, store: Store) -> None:
        first = put(store, title("a", id="a"))
        store.delete_maps(["a"])
        (taken,) = store.put_maps([title("b", id="b", file_id=first.file_id)])
        assert taken.verdict is REFUSED
        assert put(store, title("c")).file_id > first.file_id

    def test_a_draft_with_the_id_of_a_deleted_map_restores_it(self, store: Store) -> None:
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

    def test_the_largest_ids_leave_room_for_imported_maps(self, store: Store) -> None:
        put(store, title("t", category_id=LARGEST_ID, category="Last"))
        assert put(store, title("u", category="New")).category_id == len(seed.CATEGORIES) + 1
        put(store, title("v", id="Last", file_id=LARGEST_ID))
        (outcome,) = store.put_maps([title("w")])
        assert outcome.verdict is Verdict.REFUSED

    def test_delete_counts_what_was_there(self, store: Store) -> None:
        store.put_maps([title(name, id=name) for name in "abc"])
        assert store.delete_maps(["a", "unknown", "a", "c"]) == 2
        assert list(present(store)) == ["b"]
        revision = store.revision()
        assert store.delete_maps(iter(["a", "unknown"])) == 0
        assert store.revision() == revision

    def test_maps_are_listed_by_file_id_in_pages(self, store: Store) -> None:
        store.put_maps([title(str(n), file_id=n) for n in (5, 3, 9, 1, 7)])
        assert [found.file_id for found in store.maps(0, ALL)] == [1, 3, 5, 7, 9]
        assert [found.file_id for found in store.maps(3, 2)] == [5, 7]
        assert store.maps(9, 2) == []
        assert store.map_count() == 5

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

    def test_the_number_of_programs_is_limited(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(named_rows, "MOST_PROGRAMS", len(seed.SOFTWARE) + 1)
        store.put_maps([title(name, software=name) for name in ("New", "Newer", "XMind")])
        assert [found.software for found in store.maps(0, ALL)] == ["New", "", "XMind"]

    def test_software_can_be_removed_from_a_map(self, store: Store) -> None:
        store.put_maps([complete()])
        assert put(store, MapDraft(id="Complete", software="")).software_id is None

    def test_blank_names_count_as_none(self, store: Store) -> None:
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

    def test_a_category_stays_if_a_draft_does_not_change_it(self, store: Store) -> None:
        before = put(store, title("1", id="a", category_id=4, category="Trade"))
        for draft in (MapDraft(id="a", title="1"), MapDraft(id="a", category_id=4)):
            assert verdicts(store.put_maps([draft])) == [UNCHANGED]
        assert store.maps(0, ALL) == [before]
