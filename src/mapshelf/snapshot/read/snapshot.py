"""A snapshot as the workers read it: mapped into memory, shared between processes, never changed.

A worker opens the new one when it is published and drops the old one when the last request that
uses it is done; the files stay readable until then, even after their names are gone.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mapshelf.errors import SnapshotDamaged
from mapshelf.query import MapQuery, owner_key
from mapshelf.search.highlight import Highlighter
from mapshelf.snapshot.format.columns import load_codes, load_columns, map_file
from mapshelf.snapshot.format.directory import (
    RECORDS,
    TEXT,
    WORDS,
    check_sizes,
    published_length,
    read_manifest,
)
from mapshelf.snapshot.format.facet_codes import DICTIONARIES
from mapshelf.snapshot.format.records import record_ids, record_title, with_base_url
from mapshelf.snapshot.format.term_dictionary import Lexicon
from mapshelf.snapshot.read.facets import Facets, count_facets
from mapshelf.snapshot.read.id_index import Ids
from mapshelf.snapshot.read.listing import Listing
from mapshelf.snapshot.read.search_engine import Searching, Selected
from mapshelf.snapshot.read.text_index import TextIndex

FACETS_IN_MEMORY: Final = 64
"""Selections whose facets are kept at hand; when there are more, all are let go."""


@dataclass(frozen=True, slots=True)
class Page:
    """An answer to a ``MapQuery``.

    Attributes:
        total: how many maps match in all.
        body: the JSON array of the Map objects of the page, as UTF-8.
        corrected: what was searched for instead, because nothing matches as it was written.
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
    """

    file_id: int
    body: bytes

    @property
    def title(self) -> str:
        """The map's title."""
        return record_title(self.body)


@dataclass(frozen=True, slots=True)
class Hits:
    """An answer to a ``MapQuery``, map by map.

    Attributes:
        total: how many maps match in all.
        records: the maps of the page.
        highlighter: shows where the words searched for stand.
        corrected: what was searched for instead, because nothing matches as it was written.
    """

    total: int
    records: list[Record]
    highlighter: Highlighter
    corrected: str = ""


class Snapshot:
    """The snapshot in ``folder``.

    Raises:
        SnapshotDamaged: it is incomplete, altered, or of another version.
    """

    def __init__(self, folder: Path) -> None:
        manifest = read_manifest(folder)
        check_sizes(folder, manifest)
        self.name = folder.name
        self.revision: int = manifest["revision"]
        self._columns = load_columns(folder, manifest["slots"])
        self._listing = Listing(folder, self._columns)
        self._text = TextIndex(folder / TEXT)
        lexicon = Lexicon(folder / WORDS, published_length(manifest, WORDS))
        self._searching = Searching(self._listing, self._text, lexicon)
        lengths = {name: published_length(manifest, name) for name in DICTIONARIES}
        self._codes = load_codes(folder, self._columns, lengths)
        self._ids = Ids(folder, self._columns["id"])
        self._starts, self._lengths = (self._columns[name].data for name in ("start", "length"))
        self._records = memoryview(map_file(folder / RECORDS, published_length(manifest, RECORDS)))
        # Asked for with every page of a list, whichever order and page it is.
        self._facets: dict[tuple[object, ...], Facets] = {}
        sizes = {len(self._listing), len(self._text), len(self._ids)}
        if sizes != {manifest["maps"]}:
            raise SnapshotDamaged("the parts of the snapshot hold different numbers of maps")

    def __len__(self) -> int:
        return len(self._listing)

    def page(self, query: MapQuery, base_url: bytes) -> Page:
        """Return the page of maps that ``query`` asks for."""
        found = self._searching.select(query)
        body = with_base_url(b",".join(self._bodies(found.slots)), base_url)
        return Page(found.total, b"[%b]" % body, _correction(found))

    def is_light(self, query: MapQuery) -> bool:
        """Tell whether the page that ``query`` asks for is there at once."""
        return not query.text or self._searching.is_light(query)

    def search(self, query: MapQuery, base_url: bytes, *, correct: bool = True) -> Hits:
        """Return the page of maps that ``query`` asks for, and what shows why.

        Args:
            query: what is asked.
            base_url: the address of the service.
            correct: whether to try what may have been meant if nothing matches.
        """
        found = self._searching.select(query, correct=correct)
        records = []
        for slot in found.slots:
            body = self._record(slot)
            file_id, _ = record_ids(body)
            records.append(Record(file_id, with_base_url(body, base_url)))
        highlighter = Highlighter(found.terms, self._text.languages)
        return Hits(found.total, records, highlighter, _correction(found))

    def titled(self, query: MapQuery, limit: int) -> list[str]:
        """Return titles of maps that hold what has been typed so far, the best first."""
        return [record_title(self._record(slot)) for slot in self._searching.titled(query, limit)]

    def facets(self, query: MapQuery) -> Facets:
        """Return how the maps that ``query`` is about divide by category, software and so on."""
        key = (query.text, query.filters)
        facets = self._facets.get(key)
        if facets is None:
            slots = self._searching.all_matching(query)
            facets = count_facets(self._codes, slots, self._record)
            if len(self._facets) >= FACETS_IN_MEMORY:
                self._facets.clear()
            self._facets[key] = facets
        return facets

    def count(self, name: str, key: int) -> int:
        """Return how many maps have ``key`` in the filter ``name``."""
        return self._listing.count(name, key)

    def find(self, public_id: str, base_url: bytes) -> Record | None:
        """Return the map with this public id, ``None`` if there is none."""
        for slot in self._ids.candidates(public_id):
            record = self._record(slot)
            file_id, found = record_ids(record)
            if found == public_id:
                return Record(file_id, with_base_url(record, base_url))
        return None

    def maps_of(self, owner: str) -> int:
        """Return how many maps ``owner`` has published."""
        return self._listing.count("owner", owner_key(owner))

    def _record(self, slot: int) -> bytes:
        start = self._starts[slot]
        return bytes(self._records[start : start + self._lengths[slot]])

    def _bodies(self, slots: list[int]) -> list[memoryview]:
        """Return the records of a page where they are: not copied, and found all at once."""
        if not slots:
            return []
        starts, lengths = (self._columns[name].take(slots) for name in ("start", "length"))
        ends = starts + lengths
        return [
            self._records[start:end]
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]


def _correction(found: Selected) -> str:
    return " ".join(map(str, found.terms)) if found.corrected else ""
