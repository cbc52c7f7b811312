"""A snapshot as the workers read it: mapped into memory, shared between processes, never changed.

A worker opens the new one when it is published and drops the old one when the last request that
uses it is done; the files stay readable until then, even after their names are gone.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mapshelf.errors import SnapshotDamaged
from mapshelf.query import MapQuery, owner_key
from mapshelf.snapshot.arrays import Array, load
from mapshelf.snapshot.directory import RECORDS, TEXT, read_manifest
from mapshelf.snapshot.ids import Ids
from mapshelf.snapshot.listing import Listing, map_file
from mapshelf.snapshot.records import record_ids, record_title, with_base_url
from mapshelf.snapshot.text import TextIndex

ORDERED_SEARCHES: Final = 1 << 23
"""Maps, over all recent searches in an order of their own, whose slots are kept at hand."""

ORDERED_SEARCHES_COUNT: Final = 256
"""Most such searches to keep: those that find nothing have no slots to count."""


@dataclass(frozen=True, slots=True)
class Page:
    """An answer to a ``MapQuery``.

    Attributes:
        total: how many maps match in all.
        body: the JSON array of the Map objects of the page, as UTF-8.
    """

    total: int
    body: bytes


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
        self._ids = Ids(folder)
        self._starts = load(folder, "column-start").data
        self._lengths = load(folder, "column-length").data
        length = sum(chunk[0] for chunk in manifest["records"])
        self._records = map_file(folder / RECORDS, length)
        self._ordered: OrderedDict[tuple[object, ...], Array] = OrderedDict()
        # Searches run in threads, and the ordered ones share what they found.
        self._ordering = threading.Lock()
        sizes = {len(self._listing), len(self._text), len(self._ids)}
        if sizes != {manifest["maps"]}:
            raise SnapshotDamaged("the parts of the snapshot hold different numbers of maps")

    def __len__(self) -> int:
        return len(self._listing)

    def page(self, query: MapQuery, base_url: bytes) -> Page:
        """Return the page of maps that ``query`` asks for."""
        total, slots = self._selected(query)
        starts, lengths, records = self._starts, self._lengths, self._records
        bodies = [records[starts[slot] : starts[slot] + lengths[slot]] for slot in slots]
        return Page(total, with_base_url(b"[" + b",".join(bodies) + b"]", base_url))

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

    def _selected(self, query: MapQuery) -> tuple[int, list[int]]:
        if not query.text:
            selection = self._listing.select(query)
            return selection.total, selection.slots
        if query.order is None:
            found = self._text.best(query.text, query.filters, query.offset, query.limit)
            return found.total, found.slots
        slots = self._in_order(query.text, query.filters, query.order)
        return len(slots), slots[query.offset : query.offset + query.limit].tolist()

    def _in_order(self, text: str, filters: tuple[tuple[str, int], ...], order: str) -> Array:
        """Return the slots of all maps that match, in order; recent ones are kept for paging."""
        key = (text, filters, order)
        with self._ordering:
            slots = self._ordered.pop(key, None)
            if slots is None:
                slots = self._listing.rank(order, self._text.matching(text, filters))
            self._ordered[key] = slots
            while len(self._ordered) > 1 and self._keeps_too_much():
                self._ordered.popitem(last=False)
            return slots

    def _keeps_too_much(self) -> bool:
        if len(self._ordered) > ORDERED_SEARCHES_COUNT:
            return True
        return sum(map(len, self._ordered.values())) > ORDERED_SEARCHES
