"""Apply store changes to all parts of a snapshot under construction, and write the snapshot."""

import logging
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from mapshelf.model import Change, Origin
from mapshelf.snapshot.build.map_preparation import (
    Group,
    MapPreparation,
    MapToPrepare,
    PreparedMap,
)
from mapshelf.snapshot.build.orders_writer import OrdersWriter
from mapshelf.snapshot.build.records_file import RecordsFile
from mapshelf.snapshot.build.text_index_writer import Portions, TextIndexWriter, link_index
from mapshelf.snapshot.format.checksums import write_manifest
from mapshelf.snapshot.format.columns import COLUMNS, Columns, Entry, column_file
from mapshelf.snapshot.format.facet_codes import DICTIONARIES
from mapshelf.snapshot.format.manifest import RECORDS, TERMS, TEXT, published_length
from mapshelf.snapshot.format.term_dictionary import TermDictionaryWriter
from mapshelf.snapshot.format.unavailable import snapshot_error

MINIMUM_MAPS: Final = 1000
"""Number of maps assumed for a smaller catalogue, so that it is not compacted all the time."""

MINIMUM_WORDS: Final = 1 << 16
"""Number of words assumed for a smaller dictionary, so that it is not rebuilt all the time."""

AT_ONCE: Final = 100
"""Maximum number of maps prepared at a time."""

LARGE: Final = 1 << 18
"""Total size of outlines, compressed and in bytes, above which fewer maps are prepared at a
time."""

Closeable = TypeVar("Closeable", RecordsFile, Columns, TermDictionaryWriter)

log = logging.getLogger(__name__)


@dataclass(slots=True)
class WorkingSnapshot:
    """A snapshot that is being built in a folder of its own.

    Attributes:
        folder: the folder of its files.
        slots: the slot of each map, by file id.
        number: the number of the last published snapshot.
        revision: the store revision up to which all changes have been applied.
        ahead: the revisions of later changes that have been applied, too, by file id.
        highest: the highest revision of a change that has been applied.
        published_revision: the store revision of the last snapshot published from this one.
        published_lineage: the lineage of the store as of that revision.
        applied: the number of changes applied since that snapshot was published.
        is_behind: whether only withdrawn maps were removed for the last snapshot.
        removed: the slots whose maps were removed or changed since the orders were last updated.
        published_name: the name of that snapshot, empty if none was published.
        faults: why the topics of maps could not be read, by public id, as it was logged.
        words: how many words of the dictionary came with maps that are still there.
        earlier_words: for maps that are being changed, how many words came with them before.
    """

    folder: Path
    columns: Columns
    orders: OrdersWriter
    records: RecordsFile
    terms: TermDictionaryWriter
    text: TextIndexWriter
    preparation: MapPreparation
    number: int
    slots: dict[int, int] = field(default_factory=dict)
    revision: int = 0
    ahead: dict[int, int] = field(default_factory=dict)
    highest: int = 0
    published_revision: int = 0
    published_lineage: str = ""
    applied: int = 0
    is_behind: bool = False
    removed: list[int] = field(default_factory=list)
    published_name: str = ""
    faults: dict[str, str] = field(default_factory=dict)
    words: int = 0
    earlier_words: dict[int, int] = field(default_factory=dict)

    @classmethod
    def create(
        cls, folder: Path, number: int, expected: int, preparation: MapPreparation
    ) -> "WorkingSnapshot":
        """Start an empty snapshot in ``folder``, to which about ``expected`` maps will be added."""
        with ExitStack() as opened:
            records = _closed_with(opened, RecordsFile(folder / f"records-{number}.bin"))
            columns = _closed_with(opened, Columns(folder))
            terms = _closed_with(opened, TermDictionaryWriter(folder / f"words-{number}.bin"))
            created = cls(
                folder=folder,
                columns=columns,
                orders=OrdersWriter(folder, columns, records.titles_in(columns)),
                records=records,
                terms=terms,
                text=TextIndexWriter(folder / TEXT, Portions(expected)),
                preparation=preparation,
                number=number,
            )
            opened.pop_all()
        return created

    @classmethod
    def resume(
        cls, folder: Path, snapshot: Path, manifest: dict[str, Any], preparation: MapPreparation
    ) -> "WorkingSnapshot":
        """Continue in ``folder`` from a published snapshot.

        Raises:
            SnapshotDamaged: one of its files cannot be used.
            SnapshotUnavailable: one of its files cannot be used at the moment.
        """
        number = manifest["number"]
        records_path, terms_path = folder / f"records-{number}.bin", folder / f"words-{number}.bin"
        with ExitStack() as opened:
            try:
                records_path.hardlink_to(snapshot / RECORDS)
                terms_path.hardlink_to(snapshot / TERMS)
                for name in (*map(column_file, COLUMNS), *DICTIONARIES):
                    (folder / name).hardlink_to(snapshot / name)
                link_index(snapshot / TEXT, folder / TEXT)
                columns = _closed_with(opened, Columns(folder, manifest["slots"]))
                length = published_length(manifest, RECORDS)
                records = _closed_with(
                    opened, RecordsFile(records_path, length, manifest["garbage"])
                )
                orders = OrdersWriter(folder, columns, records.titles_in(columns))
                live = orders.resume(snapshot)
            except OSError as error:
                message = "the files of the snapshot cannot be linked"
                raise snapshot_error(message, error) from error
            columns.mark_live(live)
            text = TextIndexWriter(folder / TEXT)
            text.resume_merging()
            terms = TermDictionaryWriter(terms_path, published_length(manifest, TERMS))
            resumed = cls(
                folder=folder,
                columns=columns,
                orders=orders,
                records=records,
                terms=_closed_with(opened, terms),
                text=text,
                preparation=preparation,
                slots=dict(zip(columns["file_id"][live].tolist(), live.tolist(), strict=True)),
                number=number,
                revision=manifest["revision"],
                highest=manifest["highest"],
                published_revision=manifest["revision"],
                published_lineage=manifest["store"],
                published_name=snapshot.name,
                words=int(columns["words"][live].sum()),
            )
            opened.pop_all()
        return resumed

    @property
    def is_published(self) -> bool:
        """Whether a snapshot has been published from this one."""
        return bool(self.published_name)

    def apply(self, changes: Sequence[Change]) -> None:
        """Apply changes of the store, at most one per map; this leaves ``revision`` as it is."""
        for _ in self.apply_each([changes]):
            pass

    def apply_each(self, batches: Iterable[Sequence[Change]]) -> Iterator[Sequence[Change]]:
        """Apply batches of changes of the store; yield each one when it has been applied.

        There may be at most one change per map in all of them. Meanwhile, later ones are prepared.
        """
        begun: deque[tuple[Sequence[Change], int]] = deque()
        entries: list[Entry] = []
        for prepared in self.preparation.prepared(self._groups(batches, begun)):
            entries.append(self._entry(prepared))
            while begun and begun[0][1] <= len(entries):
                yield self._complete(*begun.popleft(), entries)
        while begun:  # those that end with removals
            yield self._complete(*begun.popleft(), entries)

    def _complete(
        self, changes: Sequence[Change], count: int, entries: list[Entry]
    ) -> Sequence[Change]:
        """Move the ``count`` maps of a batch from ``entries`` to the columns; return the batch."""
        if count:
            self.columns.append(entries[:count])
            del entries[:count]
        self.highest = max(self.highest, changes[-1].revision)
        return changes

    def has_applied(self, change: Change) -> bool:
        """Return whether a change after ``revision``, or a later one of its map, has been applied.

        A standby may show a map as it was before a change that was read from the primary.
        """
        return self.ahead.get(change.file_id, -1) >= change.revision

    def needs_compaction(self) -> bool:
        """Return whether much of the snapshot belongs to removed or changed maps.

        Unused slots cost a few bytes each. Deleted documents make every search slower. Unused words
        make corrections slower.
        """
        maps = max(MINIMUM_MAPS, len(self.slots))
        if len(self.columns) > 2 * maps or 2 * self.text.size > 3 * maps:
            return True
        return len(self.terms) > 2 * max(MINIMUM_WORDS, self.words)

    def update_orders(self) -> None:
        """Bring the orders up to date with the changes applied."""
        self.orders.update(self.removed)
        self.removed.clear()

    def write(self, folder: Path, lineages: tuple[str, str], previous: Path | None) -> None:
        """Write a complete snapshot.

        Args:
            folder: the new, empty folder for it.
            lineages: the lineage of the store as of ``revision``, and as of ``highest``.
            previous: the folder of the previous snapshot, if any. The checksums of shared files
                are copied from it, so they must be right.
        """
        if self.records.needs_rewrite():
            self._rewrite_records()
        append_files = self.columns.link_to(folder)
        append_files[RECORDS] = self.records.link_to(folder / RECORDS)
        append_files[TERMS] = self.terms.link_to(folder / TERMS)
        self.orders.write(folder)
        self.text.publish(folder / TEXT)
        facts = {
            "store": lineages[0],
            "number": self.number,
            "revision": self.revision,
            "highest": self.highest,
            "store_of_highest": lineages[1],
            "maps": len(self.slots),
            "slots": len(self.columns),
            "garbage": self.records.garbage,
        }
        write_manifest(folder, facts, append_files, previous)

    def close(self) -> None:
        """Close all files."""
        self.columns.close()
        self.records.close()
        self.terms.close()
        self.text.close()

    def _rewrite_records(self) -> None:
        # First remove dead slots from the orders: their titles cannot be read afterwards.
        self.orders.rewrite()
        self.records = self.records.rewrite(self.columns, self.number)
        self.orders.read_titles_from(self.records.titles_in(self.columns))

    def _remove(self, file_id: int) -> None:
        slot = self.slots.pop(file_id)
        size = int(self.columns["length"][slot]) + int(self.columns["details"][slot])
        self.records.discard(size)
        self.columns.remove(slot)
        self.words -= int(self.columns["words"][slot])
        self.text.remove(slot)
        self.removed.append(slot)

    def _groups(
        self,
        batches: Iterable[Sequence[Change]],
        begun: deque[tuple[Sequence[Change], int]],
    ) -> Iterator[Group]:
        """Yield the maps to add in groups; append each batch and its number of maps to ``begun``.

        What the maps replace and what was deleted is removed.
        """
        slot = len(self.columns)
        for changes in batches:
            count = sum(one.map is not None for one in changes)
            begun.append((changes, count))
            yield from self._groups_of(changes, slot)
            slot += count

    def _groups_of(self, changes: Sequence[Change], slot: int) -> Iterator[Group]:
        """Yield the maps of a batch, of which the first gets ``slot``."""
        group: list[MapToPrepare] = []
        size = 0
        for change in changes:
            known = change.file_id in self.slots
            if known:
                words = int(self.columns["words"][self.slots[change.file_id]])
                self._remove(change.file_id)
                if change.map is not None:
                    self.earlier_words[change.file_id] = words
            if change.map is not None:
                origin = Origin(change.source, change.modified)
                group.append(MapToPrepare(slot, change.map, change.outline, origin))
                self.slots[change.file_id] = slot
                slot += 1
                size += len(change.outline or b"")
                if len(group) == AT_ONCE or size > LARGE:
                    yield group
                    group, size = [], 0
            self.applied += known or change.map is not None
        if group:
            yield group

    def _entry(self, prepared: PreparedMap) -> Entry:
        """Add a map to the index and the records; return its column entry."""
        found, document = prepared.listed.map, prepared.document
        if prepared.fault != self.faults.get(found.id, ""):
            self._note_fault(found.id, prepared.fault)
        self.text.put(document.encoded)
        own = document.words.split(" ") if document.words else []
        words = self.terms.add(own) + self.earlier_words.pop(found.file_id, 0)
        words = min(words, len(own))
        self.words += words
        record, details = prepared.record, prepared.details
        start = self.records.append(record + details)
        lengths = start, len(record), len(details)
        return Entry(prepared.listed, prepared.keys, *lengths, document.fingerprint, words)

    def _note_fault(self, public_id: str, fault: str) -> None:
        """Log a new fault of a map, once: each vote for the map is a change of it."""
        if fault:
            self.faults[public_id] = fault
            log.error("the topics of map %s are left out of the search: %s", public_id, fault)
        else:
            del self.faults[public_id]


def _closed_with(opened: ExitStack, file: Closeable) -> Closeable:
    """Return ``file`` after registering it to be closed if a later step fails.

    The objects created so far refer to each other in cycles, so without this only the garbage
    collector would close the file.
    """
    opened.callback(file.close)
    return file
