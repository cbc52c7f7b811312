"""A real store with a real builder, and the results that their snapshots must return.

The oracle computes lists and searches from the store's maps in plain Python, as the design
specifies them and without the code of the snapshot.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import orjson

from mapshelf.formats.outline_codec import decode_outline, outline_passages
from mapshelf.model import ListedMap, Map, MapDraft, Visibility
from mapshelf.query import FILTERS, ORDERS, MapQuery
from mapshelf.query.rating import rating
from mapshelf.search.map_words import WordFinder
from mapshelf.search.matching import UnindexedMaps
from mapshelf.search.query_parser import parse_query_text
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.snapshot.format.checksums import verify
from mapshelf.snapshot.format.records import encode_record
from mapshelf.snapshot.read import Page, Record, Snapshot
from mapshelf.store.sqlite.sqlite_store import SQLiteStore
from mapshelf.text.language_detection import guess_language
from mapshelf.text.normalize import normalize
from tests.databases import copied_sqlite
from tests.examples import share
from tests.indexing import index_words

ALL = 10**9
NOW = 1_700_000_000_000
BASE = b"https://maps.example.org"


class World:
    """A catalogue in ``folder`` and the builder that follows it."""

    def __init__(self, folder: Path) -> None:
        copied_sqlite(folder / "catalogue.db", NOW)
        self.store = SQLiteStore(folder / "catalogue.db", clock=lambda: NOW)
        self.directory = SnapshotDirectory(folder / "snapshots")
        self.builder = Builder(self.store, self.directory)

    def put(self, *drafts: MapDraft) -> None:
        outcomes = self.store.put_maps(drafts)
        assert not [outcome.reason for outcome in outcomes if outcome.reason]

    def restart(self) -> None:
        """End the builder and start another, like a new process."""
        self.builder.close()
        self.builder = Builder(self.store, self.directory)

    @property
    def folder(self) -> Path:
        return self.directory.folder(self.directory.current())

    def snapshot(self) -> Snapshot:
        return Snapshot(self.folder)

    def published(self) -> Snapshot:
        """Bring the snapshot up to date, check every byte of it, and return it."""
        while self.builder.advance():
            pass
        verify(self.folder)
        assert self.builder.revision == self.store.revision() == self.snapshot().revision
        return self.snapshot()

    def maps(self) -> list[Map]:
        """Return the maps that a snapshot must contain, and no others."""
        return [one for one in self.store.maps(0, ALL) if one.visibility is Visibility.PUBLISHED]

    def listed(self) -> list[ListedMap]:
        """Return the same maps with the facts from their files."""
        return [self._listed(one) for one in self.maps()]

    def _listed(self, one: Map) -> ListedMap:
        outline = self.store.outline(one.file_id)
        read = decode_outline(outline) if outline else None
        topics = [topic for _, topic in read.topics()] if read else []
        source, modified = self.store.origin(one.file_id)
        dates = (read.modified if read else None, modified, one.date_added)
        return ListedMap(
            one,
            next(date for date in dates if date is not None),
            source,
            read.language if read else guess_language(f"{one.title}. {one.description}"),
            len(topics),
            any(topic.note for topic in topics),
            any(topic.task for topic in topics),
        )

    def titles_found(self, text: str) -> tuple[set[str], set[str]]:
        """Return the titles of the maps that a search finds, with the index and without one."""
        query = MapQuery(text=text, limit=ALL)
        hits = self.snapshot().search(query, BASE, correct=False)
        finder, maps = WordFinder(), self.maps()
        words = [
            finder.words_of(one, "", outline_passages(self.store.outline(one.file_id) or b""))
            for one in maps
        ]
        places = UnindexedMaps(words).matching(parse_query_text(text))
        indexed = {orjson.loads(one.body)["Title"] for one in hits.records}
        return indexed, {maps[place].title for place in places}

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


def in_order(maps: list[ListedMap], order: str) -> list[ListedMap]:
    if order == "alpha":
        return sorted(
            maps, key=lambda one: (normalize(one.map.title), one.map.title, one.map.file_id)
        )
    keys: dict[str, Callable[[ListedMap], float]] = {
        "downloads": lambda one: one.map.downloads,
        "views": lambda one: one.map.views,
        "date": lambda one: one.map.date_added,
        "rating": lambda one: rating(one.map.thumbs_up, one.map.thumbs_down),
        "edited": lambda one: one.edited,
    }
    return sorted(maps, key=lambda one: (keys[order](one), one.map.file_id), reverse=True)


def filtered(maps: list[ListedMap], filters: tuple[tuple[str, int], ...]) -> list[ListedMap]:
    keys = {row.name: row.keys for row in FILTERS}
    return [one for one in maps if all(key in keys[name](one) for name, key in filters)]


def holders(maps: list[ListedMap]) -> dict[tuple[str, int], set[int]]:
    """Return which maps have each value of each filter."""
    found = defaultdict[tuple[str, int], set[int]](set)
    for row, one in product(FILTERS, maps):
        for key in row.keys(one):
            found[row.name, key].add(one.map.file_id)
    return found


def record_of(one: ListedMap) -> bytes:
    return encode_record(one.map).replace(b"\x01", BASE)


def encoded(maps: list[ListedMap]) -> bytes:
    return in_brackets([record_of(one) for one in maps])


def in_brackets(records: list[bytes]) -> bytes:
    return b"[" + b",".join(records) + b"]"


def combinations(maps: list[ListedMap]) -> Iterator[tuple[tuple[str, int], ...]]:
    """Yield combinations of filter values, with and without matching maps.

    They are all combinations of filters on record fields, and each other filter with each of these.
    """
    values = {
        row.name: [None, *sorted({key for one in maps for key in row.keys(one)})[:3], 123_456_789]
        for row in FILTERS
    }
    values["only_templates"] = [None, 1]
    names = ("category", "software", "owner", "only_templates")
    for keys in product(*(values[name] for name in names)):
        pairs = zip(names, keys, strict=True)
        yield tuple((name, key) for name, key in pairs if key is not None)
    others = [(name, key) for name in values for key in values[name] if key is not None]
    for one, other in pairwise([*others, *others[::7]]):
        yield (one,)
        yield (one, other)


def prove_lists(snapshot: Snapshot, listed: list[ListedMap]) -> None:
    """Compare lists of a snapshot with the oracle: each combination of filters in some order."""
    maps = [one.map for one in listed]
    assert len(snapshot) == len(maps)
    records, held = {one.map.file_id: record_of(one) for one in listed}, holders(listed)
    combined = list(combinations(listed))
    for turn, order in enumerate(ORDERS):
        ordered = [one.map.file_id for one in in_order(listed, order)]
        for filters in share(combined, turn):
            kept = set(records).intersection(*(held.get(pair, set()) for pair in filters))
            want = [records[file_id] for file_id in ordered if file_id in kept]
            whole = page(snapshot, order=order, filters=filters)
            assert whole == Page(len(want), in_brackets(want))
            part = page(snapshot, order=order, filters=filters, offset=1, limit=2)
            assert part == Page(len(want), in_brackets(want[1:3]))
    for owner in {one.owner for one in maps} | {"nobody"}:
        assert snapshot.maps_of(owner.upper()) == sum(one.owner == owner for one in maps)
    prove_ids(snapshot, listed, ["", "nobody", "\xe9", "\udcff", "x" * 10_000])


def prove_ids(snapshot: Snapshot, listed: list[ListedMap], others: Iterable[str]) -> None:
    """Look up every map by its public id, and ids that no map has."""
    by_id = {one.map.id: one for one in listed}
    for public_id, one in by_id.items():
        found = snapshot.find(public_id, BASE)
        assert found == Record(one.map.file_id, encoded([one])[1:-1])
        assert found.title == one.map.title
        shown = found.details
        assert (shown.source, shown.edited) == (one.source, one.edited)
        assert (shown.language, shown.tags) == (one.language, one.map.tags)
    for public_id in {*others, *(one.swapcase() for one in by_id)} - set(by_id):
        assert snapshot.find(public_id, BASE) is None


def prove_searches(snapshot: Snapshot, world: World, words: list[str]) -> None:
    """Compare searches for single words and pairs with the oracle, in order and by relevance."""
    maps = world.listed()
    held = {one.map.file_id: _words(world, one.map) for one in maps}
    for text in [*words, *(f"{a} {b}" for a, b in pairwise(words))]:
        *whole, last = normalize(text).split()
        found = [
            one
            for one in maps
            if all(word in held[one.map.file_id] for word in whole)
            and any(word.startswith(last) for word in held[one.map.file_id])
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
