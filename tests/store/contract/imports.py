"""Tests of ``contract.Imports``."""

from mapshelf.model import MapDetails, MapDraft, Refusal, RefusalKind, Visibility
from mapshelf.store import Store
from tests.store.clock import Clock
from tests.store.contract.suite import ALL, Suite, put, title
from tests.store.drafts import source

REFUSED, SKIPPED = RefusalKind


def refusal(path: str, reason: str = "not a mind map", modified: int = 1) -> Refusal:
    return Refusal(path, reason, REFUSED, modified)


def paths(store: Store, kind: RefusalKind = REFUSED) -> list[str]:
    return [one.path for one in store.open_refusals(kind, ALL)]


class ImportsContract(Suite):
    """Files that imports refused."""

    def test_a_refusal_is_new_once(self, store: Store) -> None:
        given = [refusal("/maps/b.mm"), refusal("/maps/a.mm")]
        assert store.note_refusals(given) == given
        assert store.note_refusals(given) == []
        assert store.note_refusals([]) == []
        found = store.refusals_below("/maps", "", ALL)
        assert found == sorted(given, key=lambda one: one.path)

    def test_another_reason_or_time_or_kind_is_new(self, store: Store) -> None:
        store.note_refusals([refusal("/maps/a.mm")])
        for other in (
            refusal("/maps/a.mm", "too large"),
            refusal("/maps/a.mm", "too large", modified=-(2**63) + 1),
            Refusal("/maps/a.mm", "too large", SKIPPED, 2**63 - 1),
        ):
            assert store.note_refusals([other]) == [other]
            assert store.refusals_below("/maps", "", ALL) == [other]

    def test_refusals_are_found_in_their_folder_alone(self, store: Store) -> None:
        names = ["/maps", "/maps/a/1.mm", "/maps/a/ä.mm", "/maps/ab.mm", "/maps.mm", "/other/a.mm"]
        store.note_refusals([refusal(name) for name in names])
        ordered = sorted(names[:4], key=str.encode)
        assert [one.path for one in store.refusals_below("/maps", "", ALL)] == ordered
        assert [one.path for one in store.refusals_below("/maps", "", 2)] == ordered[:2]
        assert [one.path for one in store.refusals_below("/maps", ordered[1], ALL)] == ordered[2:]
        assert [one.path for one in store.refusals_below("/maps/ab.mm", "", ALL)] == ["/maps/ab.mm"]

    def test_refusals_of_imported_or_deleted_files_are_forgotten(self, store: Store) -> None:
        store.note_refusals([refusal("/maps/a.mm"), refusal("/maps/b.mm")])
        store.forget_refusals(["/maps/a.mm", "/maps/unknown.mm"])
        assert paths(store) == ["/maps/b.mm"]
        assert store.note_refusals([refusal("/maps/a.mm")]) == [refusal("/maps/a.mm")]

    def test_the_first_import_of_a_folder_goes_on_until_it_is_finished(self, store: Store) -> None:
        folder = b"/maps/\xff"
        assert store.begin_import(folder, has_maps=False)
        assert store.begin_import(folder, has_maps=True)
        assert store.begin_import(b"/maps", has_maps=False)
        store.finish_import(folder)
        store.finish_import(folder)
        for known in (folder, folder + b"/below", folder + b"/far/below"):
            assert not store.begin_import(known, has_maps=False)
        assert store.begin_import(b"/maps", has_maps=False)
        assert store.begin_import(folder + b"x", has_maps=False)

    def test_a_folder_that_an_older_version_imported_is_known(self, store: Store) -> None:
        assert not store.begin_import(b"/maps", has_maps=True)
        assert not store.begin_import(b"/maps", has_maps=False)

    def test_the_places_of_served_folders_are_noted(self, store: Store) -> None:
        given = [b"/maps/current", b"/maps/\xff", b"/" + b"long/" * 1000]
        assert [store.place_of(one) for one in given] == [None] * 3
        for version in (b"/maps/v1", b"/maps/v2\xfe", b"/" + b"longer/" * 1000):
            for one in given:
                store.note_place(one, version)
            assert [store.place_of(one) for one in given] == [version] * 3
        assert store.place_of(b"/maps/v1") is None

    def test_the_latest_refusals_come_first(self, store: Store, clock: Clock) -> None:
        store.note_refusals([refusal("/b"), refusal("/a")])
        clock.now += 1
        store.note_refusals([refusal("/c")])
        assert paths(store) == ["/c", "/a", "/b"]
        assert [one.path for one in store.open_refusals(REFUSED, 1)] == ["/c"]
        assert store.open_refusals(REFUSED, 1)[0].noted == clock.now

    def test_kinds_of_refusals_are_listed_and_counted_separately(self, store: Store) -> None:
        assert store.count_open_refusals() == {REFUSED: 0, SKIPPED: 0}
        store.note_refusals(
            [refusal("/a"), refusal("/b"), Refusal("/c.md", "no map", SKIPPED)],
        )
        assert store.count_open_refusals() == {REFUSED: 2, SKIPPED: 1}
        assert paths(store, SKIPPED) == ["/c.md"]

    def test_dismissed_refusals_return_only_if_they_change(self, store: Store) -> None:
        store.note_refusals([refusal("/a"), refusal("/b")])
        first = store.open_refusals(REFUSED, ALL)[0]
        store.dismiss_refusal(first.digest)
        store.dismiss_refusal(first.digest)
        store.dismiss_refusal(b"unknown")
        assert paths(store) == ["/b"]
        assert store.note_refusals([refusal("/a")]) == []
        assert paths(store) == ["/b"]
        assert len(store.refusals_below("", "", ALL)) == 2
        store.note_refusals([refusal("/a", modified=2)])
        assert paths(store) == ["/a", "/b"]

    def test_all_shown_refusals_are_dismissed_together(self, store: Store, clock: Clock) -> None:
        store.note_refusals([refusal("/a"), refusal("/b"), Refusal("/c.md", "no map", SKIPPED)])
        shown = clock.now
        clock.now += 1
        store.note_refusals([refusal("/d")])
        assert store.dismiss_refusals(REFUSED, shown) == 2
        assert store.dismiss_refusals(REFUSED, shown) == 0
        assert (paths(store), paths(store, SKIPPED)) == (["/d"], ["/c.md"])

    def test_maps_of_a_folder_with_another_owner_or_category(self, store: Store) -> None:
        def otherwise(owner: str | None, category: str | None, **more: int) -> list[str]:
            found = store.maps_attributed_otherwise(
                b"/maps", owner, category, more.get("after", 0), more.get("limit", ALL)
            )
            return [one.title for one in found]

        store.put_maps(
            [
                title("1", source=source("1"), owner="Ann", category="Business"),
                title("2", source=source("2"), owner="bob", category="Science"),
                title("3", source=source("3", path=b"/maps0"), owner="bob"),
                title("4", owner="bob"),
            ]
        )
        assert otherwise("ann", None) == ["2"]
        assert otherwise("cat", None) == ["1", "2"]
        assert otherwise(None, "business") == ["2"]
        assert otherwise(None, "Unheard of") == ["1", "2"]
        assert otherwise("bob", "business") == ["1", "2"]
        assert otherwise("cat", None, limit=1) == ["1"]
        first = store.maps(0, 1)[0]
        assert otherwise("cat", None, after=first.file_id) == ["2"]
        assert otherwise(None, None) == []

    def test_categories_that_users_set_or_removed_are_kept(self, store: Store) -> None:
        own = put(store, title("own", source=source("1"), owner="ann"))
        gone = put(store, title("gone", source=source("2"), owner="ann"))
        ann = next(user for user in store.users() if user.name == "ann")
        store.edit_map(own.file_id, MapDetails(category_id=4))
        store.remove_map(gone.file_id, ann.id)
        assert store.maps_attributed_otherwise(b"/maps", None, "Science", 0, ALL) == []
        found = store.maps_attributed_otherwise(b"/maps", "bob", None, 0, ALL)
        assert [one.id for one in found] == [own.id]
        store.put_maps([MapDraft(id=own.id, owner="bob", category="Science")])
        assert store.maps(0, ALL)[0].category_id == 4
        assert store.maps(0, ALL)[0].visibility is Visibility.PUBLISHED
