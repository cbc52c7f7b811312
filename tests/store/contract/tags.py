"""Tests of ``contract.Tags``."""

from mapshelf.model import MapDetails
from mapshelf.store import Store
from tests.store.contract.suite import ALL, Suite, title


def rename(store: Store, old: str, new: str) -> None:
    after = store.rename_tag(old, new)
    while after is not None:
        after = store.rename_tag(old, new, after)


def tags(store: Store) -> list[tuple[str, ...]]:
    return [found.tags for found in store.maps(0, ALL)]


class TagsContract(Suite):
    """Renamed tags."""

    def test_a_tag_is_renamed_wherever_it_is_and_merged(self, store: Store) -> None:
        given = [("phys", "b"), ("Physics", "x", "PHYS"), (), ("physical",), ("b", "Phys")]
        store.put_maps([title(str(n), id=f"m{n}", tags=some) for n, some in enumerate(given)])
        before = store.revision()
        rename(store, "Phys", "Physics")
        after = [("Physics", "b"), ("Physics", "x"), (), ("physical",), ("b", "Physics")]
        assert tags(store) == after
        assert {one.map.id for one in store.changes(before, ALL) if one.map} == {"m0", "m1", "m4"}
        assert store.renamed_tags() == {"phys": "Physics"}

    def test_later_maps_get_the_renamed_tag_too(self, store: Store) -> None:
        rename(store, "a", "b")
        rename(store, "b", "c")
        store.put_maps([title("t", id="t", tags=("A", "b", "x"))])
        assert tags(store) == [("c", "x")]
        (found,) = store.maps(0, ALL)
        store.edit_map(found.file_id, MapDetails(tags=("y", "a")))
        assert tags(store) == [("y", "c")]

    def test_a_tag_may_be_renamed_back_and_change_its_case(self, store: Store) -> None:
        store.put_maps([title("t", id="t", tags=("tea",))])
        rename(store, "tea", "Tea")
        assert tags(store) == [("Tea",)]
        rename(store, "tea", "coffee")
        rename(store, "coffee", "tea")
        assert tags(store) == [("tea",)]
        store.put_maps([title("u", id="u", tags=("Coffee", "TEA"))])
        assert tags(store)[1] == ("tea",)

    def test_tags_are_renamed_in_batches(self, store: Store) -> None:
        store.put_maps([title(str(n), id=f"m{n}", tags=("a",)) for n in range(450)])
        rename(store, "a", "b")
        assert set(tags(store)) == {("b",)}
