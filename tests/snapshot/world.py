"""A real store with a real builder beside it, and what their snapshots must answer.

``expected`` is the oracle: lists and searches worked out from the store's maps in plain Python,
by the words of the design and not by the code of the snapshot.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import orjson

from mapshelf.formats.outline_codec import outline_passages
from mapshelf.model import Map, MapDraft, Visibility
from mapshelf.query import FILTERS, ORDERS, MapQuery
from mapshelf.query.rating import rating
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.snapshot.format.manifest import verify
from mapshelf.snapshot.format.records import encode_record
from mapshelf.snapshot.read import Page, Record, Snapshot
from mapshelf.store.sqlite.sqlite_store import SQLiteStore
from mapshelf.text.normalize import normalize
from tests.indexing import index_words

ALL = 10**9
BASE = b"https://maps.example.org"


class World:
    """A catalogue in ``folder`` and the builder that follows it."""

    def __init__(self, folder: Path) -> None:
        self.store = SQLiteStore(folder / "catalogue.db", clock=lambda: 1_700_000_000_000)
        self.directory = SnapshotDirectory(folder / "snapshots")
        self.builder = Builder(self.store, self.directory)

    def put(self, *drafts: MapDraft) -> None:
        outcomes = self.store.put_maps(drafts)
        assert not [outcome.reason for outcome in outcomes if outcome.reason]

    def restart(self) -> None:
        """End the builder and start another, as a new process would."""
        self.builder.close()
        self.builder = Builder(self.store, self.directory)

    @property
    def folder(self) -> Path:
        return self.directory.folder(self.directory.current())

    def snapshot(self) -> Snapshot:
        return Snapshot(self.folder)

    def published(self) -> Snapshot:
        """Bring the snapshot up to date, check every byte of it, and return it."""
        self.builder.advance()
        verify(self.folder)
        assert self.builder.revision == self.store.revision() == self.snapshot().revision
        return self.snapshot()

    def maps(self) -> list[Map]:
        """Return the maps that a snapshot has to show: no others may be in it."""
        return [one for one in self.store.maps(0, ALL) if one.visibility is Visibility.PUBLISHED]

    def close(self) -> None:
        self.builder.close()
        self.store.close()


@contextmanager
def world_in(folder: Path) -> Iterator[World]:
    world = World(folder)
    try:
        yield world
    finally:
        with suppress(FileNotFoundError):
            world.close()


def page(snapshot: Snapshot, **query: Any) -> Page:
    return snapshot.page(MapQuery(**{"limit": ALL, **query}), BASE)


def titles(snapshot: Snapshot, **query: Any) -> list[str]:
    """Return the titles on a page, read back from its JSON."""
    return [one["Title"] for one in orjson.loads(page(snapshot, **query).body)]


def in_order(maps: list[Map], order: str) -> list[Map]:
    if order == "alpha":
        return sorted(maps, key=lambda one: (normalize(one.title), one.title, one.file_id))
    keys: dict[str, Callable[[Map], float]] = {
        "downloads": lambda one: one.downloads,
        "views": lambda one: one.views,
        "date": lambda one: one.date_added,
        "rating": lambda one: rating(one.thumbs_up, one.thumbs_down),
    }
    return sorted(maps, key=lambda one: (keys[order](one), one.file_id), reverse=True)


def filtered(maps: list[Map], filters: tuple[tuple[str, int], ...]) -> list[Map]:
    keys = {row.name: row.key for row in FILTERS}
    return [one for one in maps if all(keys[name](one) == key for name, key in filters)]


def encoded(maps: list[Map]) -> bytes:
    return b"[" + b",".join(encode_record(one).replace(b"\x01", BASE) for one in maps) + b"]"


def combinations(maps: list[Map]) -> Iterator[tuple[tuple[str, int], ...]]:
    """Yield every combination of filter values that some map has, or none."""
    values = {
        row.name: [None, *sorted({row.key(one) for one in maps})[:3], 123_456_789]
        for row in FILTERS
    }
    values["only_templates"] = [None, 1]
    for keys in product(*values.values()):
        pairs = zip(values, keys, strict=True)
        yield tuple((name, key) for name, key in pairs if key is not None)


def prove_lists(snapshot: Snapshot, maps: list[Map]) -> None:
    """Compare every list of a snapshot with the oracle."""
    assert len(snapshot) == len(maps)
    for order in ORDERS:
        ordered = in_order(maps, order)
        for filters in combinations(maps):
            want = filtered(ordered, filters)
            assert page(snapshot, order=order, filters=filters) == Page(len(want), encoded(want))
            part = page(snapshot, order=order, filters=filters, offset=1, limit=2)
            assert part == Page(len(want), encoded(want[1:3]))
    for owner in {one.owner for one in maps} | {"nobody"}:
        assert snapshot.maps_of(owner.upper()) == sum(one.owner == owner for one in maps)
    prove_ids(snapshot, maps, ["", "nobody", "\xe9", "\udcff", "x" * 10_000])


def prove_ids(snapshot: Snapshot, maps: list[Map], others: Iterable[str]) -> None:
    """Look up every map by its public id, and ids that no map has."""
    by_id = {one.id: one for one in maps}
    for one in maps:
        found = snapshot.find(one.id, BASE)
        assert found == Record(one.file_id, encoded([one])[1:-1])
        assert found.title == one.title
    for public_id in {*others, *(one.id.swapcase() for one in maps)} - set(by_id):
        assert snapshot.find(public_id, BASE) is None


def prove_searches(snapshot: Snapshot, world: World, words: list[str]) -> None:
    """Compare searches for single words and pairs with the oracle, in order and by relevance."""
    maps = world.maps()
    held = {one.file_id: _words(world, one) for one in maps}
    for text in [*words, *(f"{a} {b}" for a, b in pairwise(words))]:
        *whole, last = normalize(text).split()
        found = [
            one
            for one in maps
            if all(word in held[one.file_id] for word in whole)
            and any(word.startswith(last) for word in held[one.file_id])
        ]
        for order in ORDERS:
            want = in_order(found, order)
            assert page(snapshot, text=text, order=order) == Page(len(want), encoded(want)), text
        best = page(snapshot, text=text, order=None)
        assert best.total == len(found)
        assert _records(best.body) == _records(encoded(found))


def _words(world: World, found: Map) -> set[str]:
    outline = world.store.outline(found.file_id)
    texts = [found.title, found.description, found.owner, found.category]
    if outline:
        passages = outline_passages(outline)
        texts += [*passages.shallow, *passages.deep]
    return {word for text in texts for word in index_words(text)}


def _records(body: bytes) -> list[dict[str, str]]:
    return sorted(orjson.loads(body), key=lambda one: int(one["File_ID"]))
