"""Tests of stored pictures, and of outlines that are parsed again."""

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256

from mapshelf.model import Change, Map, MapDetails, MapDraft, OutdatedMap, ReparsedMap
from mapshelf.store import Store
from mapshelf.store.tables import IMAGES, OUTDATED, OUTLINES
from tests.store.contract.suite import ALL, CHANGED, UNCHANGED, Suite, put, title, verdicts
from tests.store.drafts import complete, outline, source


def images(*contents: bytes) -> dict[str, bytes]:
    return {sha256(content).hexdigest(): content for content in contents}


def kept(store: Store, file_id: int) -> dict[str, bytes]:
    rows = store.rows_of(IMAGES, [file_id])
    return {digest.hex(): content for _, digest, content in rows}


def file_draft(name: str, pictures: Mapping[str, bytes]) -> MapDraft:
    return complete(id=name, file_id=None, source=source(name), content=b"f", images=pictures)


def age(store: Store, *maps: Map) -> None:
    """Mark the outlines of these maps as made by an older version."""
    rows = [(found.file_id,) for found in maps]
    store.write_rows({OUTDATED: rows}, store.catalogue_counters())


class ImagesContract(Suite):
    """Pictures are replaced and deleted with their map."""

    def test_pictures_are_returned_unchanged(self, store: Store) -> None:
        one, other = images(b"\x00one\xff", b"two"), images(b"three")
        first, second = (
            put(store, title(str(n), id=str(n), images=some)).file_id
            for n, some in enumerate((one, other))
        )
        assert (kept(store, first), kept(store, second)) == (one, other)
        assert store.image_digests(first) == sorted(one)
        for digest, content in one.items():
            assert store.image(first, digest) == content
            assert store.has_image(first, digest)
            assert store.image(second, digest) is None
            assert not store.has_image(second, digest)

    def test_pictures_are_replaced_with_the_map(self, store: Store) -> None:
        store.put_maps([title("t", id="t", images=images(b"a", b"b"))])
        (found,) = store.maps(0, ALL)
        assert verdicts(store.put_maps([MapDraft(id="t", images=images(b"b", b"c"))])) == [CHANGED]
        assert kept(store, found.file_id) == images(b"b", b"c")
        assert verdicts(store.put_maps([MapDraft(id="t", images={})])) == [CHANGED]
        assert kept(store, found.file_id) == {}

    def test_the_last_draft_of_a_batch_sets_the_images(self, store: Store) -> None:
        batch = [
            title("t", id="t", images=images(b"a", b"b")),
            MapDraft(id="t", images=images(b"c")),
            MapDraft(id="t", title="u"),
        ]
        store.put_maps(batch)
        (found,) = store.maps(0, ALL)
        assert kept(store, found.file_id) == images(b"c")

    def test_drafts_without_pictures_keep_them_without_writing(self, store: Store) -> None:
        found = put(store, title("t", id="t", images=images(b"a", b"b")))
        store.put_maps([MapDraft(id="t", title="u", outline=outline("new"))])
        assert kept(store, found.file_id) == images(b"a", b"b")
        revision = store.revision()
        # The digest is the same, so the content in the draft is not used.
        same = dict.fromkeys(images(b"b", b"a"), b"rewritten")
        assert verdicts(store.put_maps([MapDraft(id="t", images=same)])) == [UNCHANGED]
        assert store.revision() == revision
        store.put_maps([MapDraft(id="t", images={**same, **images(b"c")})])
        assert kept(store, found.file_id) == images(b"a", b"b", b"c")

    def test_pictures_are_deleted_with_their_map(self, store: Store) -> None:
        found = put(store, title("t", id="t", images=images(b"a")))
        store.delete_maps(["t"])
        assert store.rows(IMAGES, None, ALL) == []
        assert put(store, title("again", id="t")).file_id == found.file_id
        assert kept(store, found.file_id) == {}
        assert store.check() == []

    def test_pictures_are_listed_in_pages(self, store: Store) -> None:
        every = [images(*(b"%d %d" % (n, m) for m in range(3))) for n in range(3)]
        store.put_maps([title(str(n), images=some) for n, some in enumerate(every)])
        rows = store.rows(IMAGES, None, ALL)
        assert len(rows) == 9
        assert rows == sorted(rows)
        for place, row in enumerate(rows):
            assert store.rows(IMAGES, IMAGES.key_of(row), 2) == rows[place + 1 : place + 3]


class ReparsingContract(Suite):
    """Outlines that an older version made are parsed again."""

    def test_new_outlines_are_not_outdated(self, store: Store) -> None:
        store.put_maps([file_draft("a.mm", images(b"a"))])
        assert store.outdated(0, ALL) == []

    def test_outdated_maps_come_in_pages_with_the_path_of_their_file(self, store: Store) -> None:
        paths = [put(store, file_draft(f"{n}.mm", {})) for n in range(3)]
        other = put(store, title("from a record", outline=outline("x")))
        age(store, *paths, other)
        expected = [OutdatedMap(n + 1, source(f"{n}.mm").path) for n in range(3)]
        assert store.outdated(0, ALL) == [*expected, OutdatedMap(other.file_id, b"")]
        assert store.outdated(1, 2) == expected[1:]

    def test_reparsing_changes_outline_and_pictures_and_nothing_else(self, store: Store) -> None:
        found = put(store, file_draft("a.mm", images(b"old", b"both")))
        age(store, found)
        before = store.revision()
        digest = source("a.mm").digest
        reparsed = ReparsedMap(found.file_id, digest, outline("renewed"), images(b"both", b"new"))
        assert store.replace_outlines([reparsed]) == 1
        assert store.outline(found.file_id) == outline("renewed")
        assert kept(store, found.file_id) == images(b"both", b"new")
        assert store.outdated(0, ALL) == []
        assert store.revision() == before + 1
        assert store.changes(before, ALL) == [
            Change(before + 1, found.file_id, found, outline("renewed"), "a.mm")
        ]

    def test_reparsing_gives_tags_to_maps_that_have_none(self, store: Store) -> None:
        bare, removed, own = (
            put(store, replace(file_draft(f"{n}.mm", {}), tags=tags))
            for n, tags in enumerate(((), ("plan",), ("plan",)))
        )
        store.edit_map(removed.file_id, MapDetails(tags=()))
        age(store, bare, removed, own)
        reparsed = [
            ReparsedMap(
                one.file_id, source(f"{n}.mm").digest, outline("new"), tags=("Physics", "a b")
            )
            for n, one in enumerate((bare, removed, own))
        ]
        assert store.replace_outlines(reparsed) == 3
        found = [one.tags for one in store.maps(0, ALL)]
        assert found == [("Physics", "a b"), (), ("plan",)]

    def test_reparsing_twice_changes_nothing(self, store: Store) -> None:
        found = put(store, file_draft("a.mm", {}))
        age(store, found)
        digest = source("a.mm").digest
        assert store.replace_outlines([ReparsedMap(found.file_id, digest, outline("first"))]) == 1
        revision = store.revision()
        assert store.replace_outlines([ReparsedMap(found.file_id, digest, outline("second"))]) == 0
        assert store.replace_outlines([ReparsedMap(99, digest, outline("of no map"))]) == 0
        assert store.outline(found.file_id) == outline("first")
        assert store.revision() == revision

    def test_a_file_that_was_replaced_meanwhile_is_read_again(self, store: Store) -> None:
        found = put(store, file_draft("a.mm", {}))
        age(store, found)
        assert (
            store.replace_outlines(
                [ReparsedMap(found.file_id, b"another file", outline("of another"))]
            )
            == 0
        )
        assert store.outline(found.file_id) == complete().outline
        assert [one.file_id for one in store.outdated(0, ALL)] == [found.file_id]

    def test_unreadable_files_are_not_reparsed_again(self, store: Store) -> None:
        found = put(store, file_draft("a.mm", images(b"a")))
        age(store, found)
        revision = store.revision()
        assert store.replace_outlines([ReparsedMap(found.file_id)]) == 0
        assert store.outdated(0, ALL) == []
        assert store.outline(found.file_id) == complete().outline
        assert kept(store, found.file_id) == images(b"a")
        assert store.revision() == revision

    def test_importing_makes_an_outline_current(self, store: Store) -> None:
        found = put(store, file_draft("a.mm", {}))
        age(store, found)
        store.put_maps([MapDraft(id="a.mm", outline=outline("imported"))])
        assert store.outdated(0, ALL) == []

    def test_outdated_maps_that_are_deleted_are_forgotten(self, store: Store) -> None:
        found = put(store, file_draft("a.mm", {}))
        age(store, found)
        store.delete_maps(["a.mm"])
        assert store.outdated(0, ALL) == []
        assert store.rows(OUTLINES, None, ALL) == []
        assert store.check() == []
