"""Read a snapshot: an immutable set of files, memory-mapped and thus shared between workers.

A worker opens each new snapshot, and drops the old one when the last request that uses it is done.
The files stay readable until then, even if they have been deleted.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from mapshelf.errors import SnapshotDamaged
from mapshelf.lru_cache import LRUCache
from mapshelf.model import SYSTEM_USER
from mapshelf.query import MapQuery, owner_key
from mapshelf.search.highlight import Highlighter
from mapshelf.search.query_parser import parse_query_text
from mapshelf.snapshot.format.checksums import check_sizes
from mapshelf.snapshot.format.columns import load_codes, load_columns, map_file
from mapshelf.snapshot.format.facet_codes import DICTIONARIES
from mapshelf.snapshot.format.fingerprints import FINGERPRINT
from mapshelf.snapshot.format.manifest import RECORDS, TERMS, TEXT, published_length, read_manifest
from mapshelf.snapshot.format.names import NO_NAME
from mapshelf.snapshot.format.records import (
    BASE_URL,
    Details,
    decode_details,
    record_ids,
    record_owner,
    record_title,
    with_base_url,
)
from mapshelf.snapshot.format.term_dictionary import TermDictionary
from mapshelf.snapshot.read.browsing import Browsing, Folder, Tag
from mapshelf.snapshot.read.facets import (
    FACET_NAMES,
    AllMaps,
    Counted,
    Facets,
    SelectedMaps,
    count_facets,
)
from mapshelf.snapshot.read.id_index import IdIndex
from mapshelf.snapshot.read.letters import Letter
from mapshelf.snapshot.read.listing import Listing
from mapshelf.snapshot.read.search_engine import SearchEngine, SearchResult
from mapshelf.snapshot.read.similar import SimilarMaps
from mapshelf.snapshot.read.text_index import TextIndex

FACETS_IN_MEMORY: Final = 64
"""Number of selections whose facets, and whose letters, are cached: the most recently used ones."""


@dataclass(frozen=True, slots=True)
class Page:
    """The result of a ``MapQuery`` as JSON.

    Attributes:
        total: the number of all matches.
        body: the JSON array of the Map objects of the page, as UTF-8.
        corrected: the corrected search text, empty if it was not corrected.
    """

    total: int
    body: bytes
    corrected: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One map of the catalogue.

    Attributes:
        file_id: its key in the store.
        body: its Map object as JSON in UTF-8.
        details: additional data for lists.
    """

    file_id: int
    body: bytes
    details: Details = field(default_factory=Details, compare=False)

    @property
    def title(self) -> str:
        """The map's title."""
        return record_title(self.body)

    @property
    def owner(self) -> str:
        """The name of its owner, empty if nobody owns it."""
        owner = record_owner(self.body)
        return "" if owner == SYSTEM_USER else owner


@dataclass(frozen=True, slots=True)
class Hits:
    """The result of a ``MapQuery``, map by map.

    Attributes:
        total: the number of all matches.
        records: the maps of the page.
        slots: their slots.
        highlighter: highlights the words of the search.
        corrected: the corrected search text, empty if it was not corrected.
    """

    total: int
    records: list[Record]
    slots: list[int]
    highlighter: Highlighter
    corrected: str = ""


@dataclass(frozen=True, slots=True)
class Alike:
    """A twin of a map; see ``similar.Twin``."""

    record: Record
    same: bool
    share: float

    @property
    def id(self) -> str:
        """Its public ID."""
        return record_ids(self.record.body)[1]


class Snapshot:
    """The snapshot in ``folder``.

    Raises:
        SnapshotDamaged: the snapshot is incomplete, altered, or of another version.
        SnapshotUnavailable: the snapshot cannot be opened at the moment.
    """

    def __init__(self, folder: Path) -> None:
        manifest = read_manifest(folder)
        check_sizes(folder, manifest)
        self.name = folder.name
        self.revision: int = manifest["revision"]
        self._columns = load_columns(folder, manifest["slots"])
        self._listing = Listing(folder, self._columns)
        self._text = TextIndex(folder / TEXT)
        dictionary = TermDictionary(folder / TERMS, published_length(manifest, TERMS))
        self._search_engine = SearchEngine(self._listing, self._text, dictionary)
        lengths = {name: published_length(manifest, name) for name in DICTIONARIES}
        self._codes = load_codes(folder, self._columns, lengths)
        self._similar = SimilarMaps(self._columns[FINGERPRINT], self._text)
        self._id_index = IdIndex(folder, self._columns["id"])
        self._browsing = Browsing(
            self._listing, self._codes.names["folder"], self._codes.names["tag"]
        )
        self._starts, self._lengths, self._detail_lengths = (
            self._columns[name].data for name in ("start", "length", "details")
        )
        self._records = memoryview(map_file(folder / RECORDS, published_length(manifest, RECORDS)))
        # Every page of a list needs these, and they are the same for all pages and orders.
        self._facets: LRUCache[Hashable, Facets] = LRUCache(FACETS_IN_MEMORY)
        self._letters: LRUCache[Hashable, list[Letter]] = LRUCache(FACETS_IN_MEMORY)
        sizes = {len(self._listing), len(self._text), len(self._id_index)}
        if sizes != {manifest["maps"]}:
            raise SnapshotDamaged("the parts of the snapshot have different numbers of maps")

    def __len__(self) -> int:
        return len(self._listing)

    def page(self, query: MapQuery, base_url: bytes) -> Page:
        """Return the page of maps for ``query``, with ``base_url`` in their URLs."""
        if query.text:
            return self._found_page(self._search_engine.select(query), query, base_url)
        selection = self._listing.select(query)
        return Page(selection.total, self._array(selection.slots, base_url))

    def page_quickly(self, query: MapQuery, base_url: bytes) -> Page | None:
        """Return the page for ``query`` if that takes about a millisecond, otherwise None."""
        if not query.text:
            return self.page(query, base_url)
        found = self._search_engine.select_quickly(query)
        return self._found_page(found, query, base_url) if found else None

    def _found_page(self, found: SearchResult, query: MapQuery, base_url: bytes) -> Page:
        return Page(found.total, self._array(found.slots, base_url), _correction(found, query))

    def search(self, query: MapQuery, base_url: bytes, *, correct: bool = True) -> Hits:
        """Return the page of maps for ``query``, with a highlighter for the matches.

        Args:
            query: the query.
            base_url: the base URL for the URLs of the maps.
            correct: whether to correct the spelling if nothing matches.
        """
        found = self._search_engine.select(query, correct=correct)
        records = self.at(found.slots, base_url)
        highlighter = Highlighter(found.terms, self._text.languages)
        return Hits(found.total, records, found.slots, highlighter, _correction(found, query))

    def highlighter(self, text: str) -> Highlighter:
        """Return a highlighter for the words of a search text."""
        return Highlighter(parse_query_text(text), self._text.languages)

    def titled(self, query: MapQuery, limit: int) -> list[str]:
        """Return titles that match the words typed so far, best first."""
        return [
            record_title(self._record(slot)) for slot in self._search_engine.titled(query, limit)
        ]

    def facets(self, query: MapQuery, names: tuple[str, ...] = FACET_NAMES) -> Facets:
        """Return the facets of the maps that match ``query``; only those in ``names`` are counted.

        All other facets are empty.
        """
        key = (query.text, query.title_only, query.filters, names)
        facets = self._facets.get(key)
        if facets is None:
            within = self._folder_of(query)
            facets = count_facets(self._counted(query), self._codes, self._record, within, names)
            self._facets.put(key, facets)
        return facets

    def folders(self, below: str) -> list[Folder]:
        """Return the direct subfolders of ``below`` by name, top-level folders if it is empty."""
        return self._browsing.folders(below)

    def tags(self) -> list[Tag]:
        """Return all tags, the most frequent first."""
        return self._browsing.tags()

    def letters(self, query: MapQuery) -> list[Letter]:
        """Return the first letters in the alphabetical list with the filters of ``query``."""
        found = self._letters.get(query.filters)
        if found is None:
            found = self._listing.letters(query)
            self._letters.put(query.filters, found)
        return found

    def count(self, name: str, key: int) -> int:
        """Return how many maps have ``key`` in the filter ``name``."""
        return self._listing.count(name, key)

    def find(self, public_id: str, base_url: bytes) -> Record | None:
        """Return the map with this public id, ``None`` if there is none."""
        for slot in self._id_index.candidates(public_id):
            record = self._record(slot)
            file_id, found = record_ids(record)
            if found == public_id:  # _slot and _full would read the record twice
                return Record(file_id, with_base_url(record, base_url), self._details(slot))
        return None

    def twins(self, public_id: str, base_url: bytes) -> list[Alike]:
        """Return the maps with the same or nearly the same topics, most similar first."""
        slot = self._slot(public_id)
        found = self._similar.twins(slot) if slot is not None else []
        return [Alike(self._full(twin.slot, base_url), twin.same, twin.share) for twin in found]

    def about_the_same(self, public_id: str, limit: int, base_url: bytes) -> list[Record]:
        """Return maps on the same subject as a map, leaving out its twins."""
        slot = self._slot(public_id)
        found = self._similar.about_the_same(slot, limit) if slot is not None else []
        return [self._full(other, base_url) for other in found]

    @cached_property
    def duplicates(self) -> list[list[int]]:
        """Groups of slots of twins, largest first. Finding them takes up to a second."""
        return self._similar.groups(np.sort(self._listing.all_matching(MapQuery())))

    def twins_among(self, slots: Sequence[int]) -> list[list[int]]:
        """Return groups of twins among the maps in these slots, as indexes in ``slots``."""
        chosen = np.array(slots, "<u4")
        if not self._similar.may_be_twins(chosen):
            return []
        places = {slot: place for place, slot in enumerate(slots)}
        return [sorted(places[slot] for slot in group) for group in self._similar.groups(chosen)]

    def outline_key(self, slot: int) -> int:
        """Return a number that is equal for maps with the same outline."""
        return int(self._columns[FINGERPRINT][slot]["outline"])

    def at(self, slots: list[int], base_url: bytes) -> list[Record]:
        """Return the maps in these slots."""
        return [self._full(slot, base_url) for slot in slots]

    def maps_of(self, owner: str) -> int:
        """Return the number of maps of ``owner`` in the snapshot."""
        return self._listing.count("owner", owner_key(owner))

    def _counted(self, query: MapQuery) -> Counted:
        if not query.text and not query.filters:
            return AllMaps(self._codes, self._listing)
        return SelectedMaps(self._codes, self._search_engine.all_matching(query))

    def _folder_of(self, query: MapQuery) -> int:
        """Return the code of the folder that a query is limited to, ``NO_NAME`` if none."""
        keys = [key for name, key in query.filters if name == "folder"]
        return self._codes.names["folder"].code(keys[0]) if keys else NO_NAME

    def _details(self, slot: int) -> Details:
        start = self._starts[slot] + self._lengths[slot]
        return decode_details(bytes(self._records[start : start + self._detail_lengths[slot]]))

    def _slot(self, public_id: str) -> int | None:
        for slot in self._id_index.candidates(public_id):
            if record_ids(self._record(slot))[1] == public_id:
                return slot
        return None

    def _full(self, slot: int, base_url: bytes) -> Record:
        body = self._record(slot)
        return Record(record_ids(body)[0], with_base_url(body, base_url), self._details(slot))

    def _record(self, slot: int) -> bytes:
        start = self._starts[slot]
        return bytes(self._records[start : start + self._lengths[slot]])

    def _array(self, slots: list[int], base_url: bytes) -> bytes:
        """Return records as a JSON array."""
        return b"[%b]" % b",".join(self._bodies(slots)).replace(BASE_URL, base_url)

    def _bodies(self, slots: list[int]) -> list[memoryview]:
        """Return the records of a page, without copying them."""
        starts, lengths, records = self._starts, self._lengths, self._records
        return [records[starts[slot] : starts[slot] + lengths[slot]] for slot in slots]


def _correction(found: SearchResult, query: MapQuery) -> str:
    if not found.corrected:
        return ""
    terms = found.terms
    if query.title_only:  # the query parameter limits all terms, so they need no prefix
        terms = tuple(replace(term, in_title=False) for term in terms)
    return " ".join((*filter(None, [query.words]), *map(str, terms)))
