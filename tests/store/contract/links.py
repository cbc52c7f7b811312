"""Tests of stored links between maps, and of finding their target files."""

from mapshelf.model import LinkOfMap, MapDraft, MapFile, MapLink, ReparsedMap, Source
from mapshelf.store import Store
from mapshelf.store.tables import LINKS
from tests.store.contract.images import age, file_draft
from tests.store.contract.suite import ALL, CHANGED, UNCHANGED, Suite, put, title, verdicts
from tests.store.drafts import outline, source

ONE = MapLink("ID_1", "../One.mm#x", "one.mm")
TWO = MapLink("ID_2", "two.mm", "two.mm")
LONG = MapLink("", "x/" * 2048 + "ü.mm", "ü.mm")


def linking(public_id: str, *links: MapLink) -> MapDraft:
    return title(public_id, id=public_id, outline=outline(public_id), links=links)


def from_file(public_id: str, path: str, name: str = "") -> MapDraft:
    found = Source(path.encode(), name or path[1:], 1, 1, path.encode())
    return title(public_id, id=public_id, source=found)


class LinksContract(Suite):
    """Links are replaced with their outline, and files are found by path and name."""

    def test_links_are_returned_unchanged(self, store: Store) -> None:
        first = put(store, linking("a", TWO, ONE, LONG, TWO)).file_id
        second = put(store, linking("b", ONE)).file_id
        assert store.links_from(first) == [TWO, ONE, LONG, TWO]
        assert store.links_from(second) == [ONE]
        assert store.links_from(99) == []

    def test_links_are_found_by_the_names_of_their_targets(self, store: Store) -> None:
        first = put(store, linking("a", TWO, ONE, LONG)).file_id
        second = put(store, linking("b", ONE)).file_id
        from_first, from_second = (
            LinkOfMap(file_id, name, ONE.topic, ONE.target)
            for file_id, name in ((first, "a"), (second, "b"))
        )
        assert store.links_to(["one.mm"], ALL, ALL) == [from_first, from_second]
        assert store.links_to(["one.mm"], 1, ALL) == [from_first]
        length = len(ONE.topic + ONE.target)
        assert store.links_to(["one.mm"], ALL, 2 * length) == [from_first, from_second]
        assert store.links_to(["one.mm"], ALL, 2 * length - 1) == [from_first]
        assert len(store.links_to(["ü.mm", "two.mm"], ALL, 1 << 20)) == 2
        assert store.links_to(["none.mm"], ALL, ALL) == store.links_to([], ALL, ALL) == []

    def test_links_are_replaced_with_the_outline_and_only_with_it(self, store: Store) -> None:
        found = put(store, linking("a", ONE, TWO))
        store.put_maps([MapDraft(id="a", title="only a title")])
        assert store.links_from(found.file_id) == [ONE, TWO]
        same = MapDraft(id="a", outline=outline("a"), links=[ONE, TWO])
        assert verdicts(store.put_maps([same])) == [UNCHANGED]
        other = MapDraft(id="a", outline=outline("b"), links=[LONG])
        assert verdicts(store.put_maps([other])) == [CHANGED]
        assert store.links_from(found.file_id) == [LONG]
        store.put_maps([MapDraft(id="a", outline=outline("c"))])
        assert store.links_from(found.file_id) == []

    def test_the_last_draft_of_a_batch_sets_the_links(self, store: Store) -> None:
        store.put_maps(
            [linking("a", ONE, TWO), MapDraft(id="a", outline=outline("b"), links=[TWO])]
        )
        (found,) = store.maps(0, ALL)
        assert store.links_from(found.file_id) == [TWO]

    def test_links_are_deleted_with_their_map(self, store: Store) -> None:
        put(store, linking("a", ONE))
        store.delete_maps(["a"])
        assert store.rows(LINKS, None, ALL) == []
        assert store.links_to(["one.mm"], ALL, ALL) == []
        assert store.check() == []

    def test_reparsing_brings_links(self, store: Store) -> None:
        found = put(store, file_draft("a.mm", {}))
        age(store, found)
        digest = source("a.mm").digest
        store.replace_outlines(
            [ReparsedMap(found.file_id, digest, outline("renewed"), links=[ONE])]
        )
        assert store.links_from(found.file_id) == [ONE]
        age(store, found)
        store.replace_outlines([ReparsedMap(found.file_id)])
        assert store.links_from(found.file_id) == [ONE]

    def test_files_are_found_by_their_paths(self, store: Store) -> None:
        store.put_maps([from_file("a", "/x/a.mm"), from_file("b", "/x/a.mm2")])
        found = {one.id: one.file_id for one in store.maps(0, ALL)}
        assert store.files_at([b"/x/a.mm", b"/x", b""]) == [MapFile(b"/x/a.mm", "a")]
        assert store.files_at([]) == []
        assert store.paths_of([found["a"], 99]) == {found["a"]: [b"/x/a.mm"]}

    def test_files_are_found_by_their_names(self, store: Store) -> None:
        long = "y" * 300 + ".mm"
        files = {
            "a": "/x/Plan.MM",
            "b": "/plan.mm",
            "c": "/x/plan.mm/other.mm",
            "d": "/x/not plan.mm",
            "e": "/x/Ü.mm",
            "f": f"/x/{long}",
        }
        store.put_maps([from_file(public_id, path) for public_id, path in files.items()])
        named = store.files_named(["plan.mm", "Ü.mm", "ü.mm", "%", long], 9)
        assert {name: sorted(one.map for one in some) for name, some in named.items()} == {
            "plan.mm": ["a", "b"],
            "Ü.mm": ["e"],
        }
        assert named["Ü.mm"] == [MapFile("/x/Ü.mm".encode(), "e")]
        assert len(store.files_named(["plan.mm"], 1)["plan.mm"]) == 1
        assert store.files_named([], 9) == {}

    def test_a_file_that_was_renamed_is_found_under_its_new_name(self, store: Store) -> None:
        store.put_maps([from_file("a", "/x/a.mm")])
        store.move_source(b"/x/a.mm", Source(b"/x/b.mm", "b.mm", 1, 1, b"d"))
        assert store.files_named(["a.mm", "b.mm"], 9) == {"b.mm": [MapFile(b"/x/b.mm", "a")]}
        assert store.files_at([b"/x/a.mm", b"/x/b.mm"]) == [MapFile(b"/x/b.mm", "a")]
        store.delete_maps(["a"])
        assert store.files_named(["b.mm"], 9) == {}
