"""A snapshot as the workers read it: mapped into memory, shared between processes, never changed.

A worker opens the new one when it is published and drops the old one when the last request that
uses it is done; the files stay readable until then, even after their names are gone.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from mapshelf.errors import SnapshotDamaged
from mapshelf.parts import Part, parse_text
from mapshelf.query import MapQuery, owner_key
from mapshelf.snapshot.arrays import Array, load
from mapshelf.snapshot.directory import RECORDS, TEXT, WORDS, published_length, read_manifest
from mapshelf.snapshot.ids import Ids
from mapshelf.snapshot.lexicon import Lexicon
from mapshelf.snapshot.listing import Listing, map_file
from mapshelf.snapshot.records import record_ids, record_title, with_base_url
from mapshelf.snapshot.spelling import Spelling
from mapshelf.snapshot.text import TextIndex

ORDERED_SEARCHES: Final = 1 << 23
"""Maps, over all recent searches in an order of their own, whose slots are kept at hand."""

ORDERED_SEARCHES_COUNT: Final = 256
"""Most such searches to keep: those that find nothing have no slots to count."""


FIRST_PAGES: Final = 200
"""Maps up to which a search in an order of its own is cut short; further pages rank all matches."""

CORRECTIONS: Final = 1024
"""Misspelt searches whose correction is kept at hand."""


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
class _Selected:
    """A page before it is put together: the slots of its maps, with what ``Page`` tells."""

    total: int
    slots: list[int]
    corrected: str = ""


class Snapshot:
    """The snapshot in ``folder``.

    Raises:
        SnapshotDamaged: it is incomplete, altered, or of another version.
    """

    def __init__(self, folder: Path) -> None:
        manifest = read_manifest(folder)
        self.name = folder.name
        self.revision: int = manifest["revision"]
        self._listing = Listing(folder)
        self._text = TextIndex(folder / TEXT)
        self._lexicon = Lexicon(folder / WORDS, published_length(manifest, WORDS))
        self._ids = Ids(folder)
        self._starts = load(folder, "column-start").data
        self._lengths = load(folder, "column-length").data
        self._records = map_file(folder / RECORDS, published_length(manifest, RECORDS))
        self._ordered: OrderedDict[tuple[object, ...], Array] = OrderedDict()
        self._corrections: OrderedDict[tuple[Part, ...], list[Part] | None] = OrderedDict()
        # Searches run in threads, and share what they found.
        self._lock = threading.Lock()
        sizes = {len(self._listing), len(self._text), len(self._ids)}
        if sizes != {manifest["maps"]}:
            raise SnapshotDamaged("the parts of the snapshot hold different numbers of maps")

    def __len__(self) -> int:
        return len(self._listing)

    def page(self, query: MapQuery, base_url: bytes) -> Page:
        """Return the page of maps that ``query`` asks for."""
        found = self._selected(query)
        starts, lengths, records = self._starts, self._lengths, self._records
        bodies = [records[starts[slot] : starts[slot] + lengths[slot]] for slot in found.slots]
        body = with_base_url(b"[" + b",".join(bodies) + b"]", base_url)
        return Page(found.total, body, found.corrected)

    def search(self, query: MapQuery, base_url: bytes) -> "Hits":
        """Return the page of maps that ``query`` asks for, one by one, and what was looked for."""
        found = self._selected(query)
        parts = parse_text(found.corrected or query.text)
        records = [self._record(slot, base_url) for slot in found.slots]
        return Hits(found.total, records, found.corrected, Marker(parts, self._text.languages))

    def titles(self, text: str, limit: int) -> list[str]:
        """Return titles, all different, of maps whose titles hold what has been typed so far."""
        slots = self._text.titled(parse_text(text), 2 * limit)
        titles = (self._record(slot, b"").title for slot in slots)
        return list({fold(title): title for title in titles}.values())[:limit]

    def facets(self, query: MapQuery) -> Facets:
        """Return how many of the maps that ``query`` means have which value of what."""
        return count_facets(self._columns, self._matching(query), self._named)

    def count(self, name: str, key: int) -> int:
        """Return how many maps have ``key`` in the filter ``name``."""
        return self._listing.count(name, key)

    def find(self, public_id: str, base_url: bytes) -> Record | None:
        """Return the map with this public id, ``None`` if there is none."""
        for slot in self._ids.candidates(public_id):
            start = self._starts[slot]
            record = self._records[start : start + self._lengths[slot]]
            file_id, found = record_ids(record)
            if found == public_id:
                return Record(file_id, with_base_url(record, base_url))
        return None

    def maps_of(self, owner: str) -> int:
        """Return how many maps ``owner`` has published."""
        return self._listing.count("owner", owner_key(owner))

    def _selected(self, query: MapQuery) -> "_Selected":
        if not query.text:
            selection = self._listing.select(query)
            return _Selected(selection.total, selection.slots)
        parts = parse_text(query.text)
        found = self._searched(parts, query)
        if found.total:
            return found
        corrected = self._corrected(parts)
        if corrected is None:
            return found
        text = " ".join(map(str, corrected))
        return replace(self._searched(corrected, query), corrected=text)

    def _searched(self, parts: list[Part], query: MapQuery) -> "_Selected":
        if query.order is None:
            found = self._text.best(parts, query.filters, query.offset, query.limit)
            return _Selected(found.total, found.slots)
        end = query.offset + query.limit
        if end > FIRST_PAGES:
            slots = self._in_order(parts, query.filters, query.order)
            return _Selected(len(slots), slots[query.offset : end].tolist())
        first = self._text.first(parts, query.filters, query.order, max(1, end))
        ranked = [self._listing.rank(query.order, part) for part in (first.before, first.tied)]
        return _Selected(first.total, np.concatenate(ranked)[query.offset : end].tolist())

    def _corrected(self, parts: list[Part]) -> list[Part] | None:
        """Return what a search was meant to say, ``None`` if it matches something as it is."""
        key = tuple(parts)
        with self._lock:
            if key in self._corrections:
                return self._corrections[key]
        matches = self._text.count(parts, ())
        corrected = None if matches else Spelling(self._text, self._lexicon).corrected(parts)
        with self._lock:
            self._corrections[key] = corrected
            if len(self._corrections) > CORRECTIONS:
                self._corrections.popitem(last=False)
        return corrected

    def _in_order(
        self, parts: list[Part], filters: tuple[tuple[str, int], ...], order: str
    ) -> Array:
        """Return the slots of all maps that match, in order; recent ones are kept for paging."""
        key = (tuple(parts), filters, order)
        with self._lock:
            slots = self._ordered.pop(key, None)
            if slots is None:
                slots = self._listing.rank(order, self._text.matching(parts, filters))
            self._ordered[key] = slots
            while len(self._ordered) > 1 and self._keeps_too_much():
                self._ordered.popitem(last=False)
            return slots

    def _keeps_too_much(self) -> bool:
        if len(self._ordered) > ORDERED_SEARCHES_COUNT:
            return True
        return sum(map(len, self._ordered.values())) > ORDERED_SEARCHES
