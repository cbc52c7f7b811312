"""Tests of ``contract.Sources``."""

from dataclasses import replace

from mapshelf.model import (
    GONE,
    MapDraft,
    Source,
)
from mapshelf.store import Store
from tests.store.contract.suite import (
    ALL,
    CHANGED,
    REFUSED,
    UNCHANGED,
    Suite,
    present,
    put,
    title,
    verdicts,
)
from tests.store.drafts import source


class SourcesContract(Suite):
    """Files that maps were read from."""

    def test_a_source_identifies_its_map(self, store: Store) -> None:
        first = put(store, title("t", source=source()))
        assert store.sources([source().path, b"/other"]) == {source().path: source()}
        newer = source(size=5, modified=9, digest=b"x" * 32)
        changed = put(store, MapDraft(title="u", source=newer))
        assert changed == replace(first, title="u")
        assert store.sources([newer.path]) == {newer.path: newer}

    def test_a_draft_of_a_known_file_without_a_map_is_refused(self, store: Store) -> None:
        """Another process has moved the map while the file was read."""
        known = title("new", source=source("b.mm"), is_known=True)
        assert verdicts(store.put_maps([known])) == [REFUSED]
        assert present(store) == {}
        put(store, title("t", source=source("b.mm")))
        assert verdicts(store.put_maps([known])) == [CHANGED]

    def test_a_source_is_kept_even_if_the_map_is_unchanged(self, store: Store) -> None:
        store.put_maps([title("t", source=source())])
        revision = store.revision()
        newer = source(size=5, modified=9, digest=b"x" * 32)
        assert verdicts(store.put_maps([title("t", source=newer)])) == [UNCHANGED]
        assert store.sources([newer.path]) == {newer.path: newer}
        assert store.revision() == revision

    def test_an_id_takes_precedence_over_a_source(self, store: Store) -> None:
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

    def test_sources_are_deleted_with_their_map(self, store: Store) -> None:
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

    def test_missing_sources_remove_their_maps(self, store: Store) -> None:
        store.put_maps([title("t", source=source("a.mm")), title("u", source=source("b.mm"))])
        for count in (1, 0):
            assert store.remove_sources([source("a.mm").path, b"/maps/unknown"]) == count
            assert [found.title for found in store.maps(0, ALL)] == ["u"]
            assert store.revision() == 3
        assert store.changes(2, ALL)[-1].map is None
        assert store.sources_below(b"/maps", b"", ALL) == [source("b.mm")]
        gone = replace(source("a.mm"), modified=GONE)
        assert store.sources([gone.path]) == {gone.path: gone}
        assert gone in store.sources_of(gone.digest)
        every = store.sources_below(b"/maps", b"", ALL, missing=True)
        assert every == [gone, source("b.mm")]
        assert store.sources_below(b"/maps", gone.path, 1, missing=True) == every[1:]

    def test_changes_have_the_name_of_the_source(self, store: Store) -> None:
        store.put_maps([title("t", source=source("a/b.mm")), title("u")])
        assert [change.source for change in store.changes(0, ALL)] == ["a/b.mm", ""]

    def test_a_known_source_keeps_its_name(self, store: Store) -> None:
        store.put_maps([title("t", source=source(name="a/b.mm"))])
        other = source("a/b.mm", digest=b"5" * 32)
        store.put_maps([title("u", source=Source(other.path, "b.mm", 1, 2, other.digest))])
        assert store.sources([other.path])[other.path].name == "a/b.mm"
