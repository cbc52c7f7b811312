"""The one place where snapshots are made: it follows the store's change feed.

A builder takes up the current snapshot, applies the changes since, and publishes the next. Without
a snapshot it can use, it starts from nothing and applies every change there is: building anew and
keeping up are one mechanism. Records, columns and index grow in files, and orders stay as they were
written while few changes are noted beside them, so that publishing costs what has changed. When
most of it all is about maps that are gone or have changed since, a snapshot is made anew beside the
one that is being kept up to date, a little at a time.
"""

import logging
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np

from mapshelf.errors import (
    HistoryLost,
    SnapshotDamaged,
    SnapshotError,
    SnapshotMissing,
    SnapshotUnavailable,
    StoreDamaged,
)
from mapshelf.formats.outline_codec import Passages, outline_passages
from mapshelf.model import Change, Map
from mapshelf.snapshot.build.documents import Documents, Indexed
from mapshelf.snapshot.build.orders import Orders
from mapshelf.snapshot.build.text_index_writer import TextIndexWriter, link_index
from mapshelf.snapshot.format.append_file import GrowingFile
from mapshelf.snapshot.format.columns import COLUMNS, Columns, Entry, column_file
from mapshelf.snapshot.format.directory import (
    RECORDS,
    TEXT,
    WORDS,
    WORK,
    SnapshotDirectory,
    published_length,
    read_manifest,
    verify,
    write_manifest,
)
from mapshelf.snapshot.format.facet_codes import DICTIONARIES
from mapshelf.snapshot.format.records import encode_record, record_title
from mapshelf.snapshot.format.shortage import snapshot_error
from mapshelf.snapshot.format.term_dictionary import LexiconWriter
from mapshelf.snapshot.format.verification import SoundSnapshots
from mapshelf.snapshot.read.snapshot import Snapshot
from mapshelf.store.contract import ChangeFeed
from mapshelf.text.language_detection import guess_language

BATCH: Final = 1000
"""Changes read from the store at a time."""

CHANGES_PER_SNAPSHOT: Final = 20_000
"""Changes after which a snapshot is published even if there are more, so that a long import
shows as it goes."""

SLICE: Final = 200
"""Changes taken over at a time into a snapshot that is made anew: what came in meanwhile waits a
fraction of a second."""

LITTLE: Final = 1 << 24
"""Bytes of replaced records that are never worth a clean-up."""

log = logging.getLogger(__name__)

Progress = Callable[[int], None]
"""Told how many changes have been applied so far."""


class Builder:
    """Makes snapshots in ``directory`` from ``store``; there must be only one at a time."""

    def __init__(self, store: ChangeFeed, directory: SnapshotDirectory) -> None:
        self._store = store
        self._directory = directory
        self._work = directory.path / WORK
        self._folders = count()
        self._documents = Documents()
        self._sound = SoundSnapshots(directory)
        self._clear_work()
        self._state = self._resumed() or self._blank()
        self._renewed: _State | None = None

    @property
    def revision(self) -> int:
        """The revision of the store that the last snapshot shows."""
        return self._state.shown

    def advance(self, progress: Progress | None = None) -> bool:
        """Publish a snapshot of the store as it is now; tell whether there was anything new.

        Where the store fails in between, the next call goes on from there.

        Raises:
            SnapshotDamaged: the last snapshot is lost, or was refused by a worker: only another
                builder can go on.
        """
        self.check()
        revision = self._store.revision()
        if self._state.published and revision == self._state.shown:
            return False
        if revision < self._state.revision:
            self._start_anew("the store is older than it")
        try:
            self._apply_changes(progress)
        except HistoryLost as error:
            self._start_anew(str(error))
            self._apply_changes(progress)
        if not self._state.published:
            self._state.text.settle()
        self._publish()
        return True

    def renew(self) -> bool:
        """Go on making a wasteful snapshot anew; tell whether there is more of that to do.

        The one that is there is kept up to date until the new one takes its place. Each call takes
        over a few changes, so that what comes in is not held up; its index is merged as more come.
        """
        if self._renewed is None:
            if not self._state.is_wasteful():
                return False
            log.info("making the snapshot anew: much of it is about what is gone")
            self._renewed = self._blank()
        try:
            changes = self._store.changes(self._renewed.revision, SLICE)
        except HistoryLost:  # it is older than the store remembers: from the beginning, then
            self._replace(self._state)
            return True
        if changes:
            self._renewed.apply(changes)
            self._renewed.revision = changes[-1].revision
            if self._renewed.revision < self._state.revision:
                return True
        # What came last may have been removals, of which a snapshot made anew need not hear.
        self._renewed.revision = max(self._renewed.revision, self._state.revision)
        self._renewed.number = self._state.number
        self._replace(self._renewed)
        self._publish()
        return False

    def check(self) -> None:
        """Make sure that the last snapshot is there and of use.

        Raises:
            SnapshotDamaged: it is lost, or was refused by a worker.
        """
        if self._state.published:
            self._check_last()

    def close(self) -> None:
        """Let go of the files."""
        self._state.close()
        if self._renewed:
            self._renewed.close()
        self._sound.close()

    def _check_last(self) -> None:
        name = self._state.last
        try:
            lost = self._directory.current() != name
        except SnapshotMissing:
            lost = True
        if lost or self._directory.is_refused(name):
            raise SnapshotDamaged(f"the snapshot {name} is lost or damaged")

    def _start_anew(self, reason: str) -> None:
        log.info("building the snapshot anew: %s", reason)
        self._replace(self._blank())

    def _replace(self, state: "_State") -> None:
        """Go on with ``state``, and give up the others."""
        for other in (self._state, self._renewed):
            if other and other is not state:
                other.close()
                shutil.rmtree(other.folder)
        self._state, self._renewed = state, None

    def _apply_changes(self, progress: Progress | None) -> None:
        """Apply what the feed holds."""
        state = self._state
        building_anew = not state.published
        while building_anew or state.applied < CHANGES_PER_SNAPSHOT:
            changes = self._store.changes(state.revision, BATCH)
            if not changes:
                break
            state.apply(changes)
            state.revision = changes[-1].revision
            if progress:
                progress(state.applied)

    def _publish(self) -> None:
        state, store = self._state, self._store.identity()
        state.orders.update(state.gone)
        state.gone.clear()
        state.number += 1
        folder = self._directory.new_folder(state.number)
        before = self._directory.folder(state.last) if state.published else None
        state.write(folder, store, before)
        self._sound.add(folder.name)
        self._directory.publish(folder)
        state.shown, state.last = state.revision, folder.name
        state.applied = 0

    def _blank(self) -> "_State":
        expected = self._store.map_count()
        number, work = self._last_number(), self._new_folder()
        records = _Records(work / f"records-{number}.bin")
        columns = Columns(work)
        return _State(
            folder=work,
            columns=columns,
            orders=Orders(work, columns, records.titles_in(columns)),
            records=records,
            lexicon=LexiconWriter(work / f"words-{number}.bin"),
            text=TextIndexWriter(work / TEXT, expected),
            documents=self._documents,
            slots={},
            number=number,
        )

    def _resumed(self) -> "_State | None":
        """Take up the current snapshot, unless there is none or it is damaged."""
        try:
            folder = self._directory.folder(self._directory.current())
            verify(folder)
            Snapshot(folder)  # as a worker does: checksums do not tell that it was made wrongly
            state = self._taken_up(folder)
            self._sound.add(folder.name)
            self._directory.forgive()
            return state
        except SnapshotUnavailable:  # nothing is wrong with it: whoever builds tries again
            raise
        except SnapshotError as error:
            log.info("building a snapshot from nothing: %s", error)
            self._clear_work()
            return None

    def _taken_up(self, folder: Path) -> "_State":
        manifest = read_manifest(folder)
        if manifest["store"] != self._store.identity():
            raise SnapshotDamaged("the snapshot is that of another store")
        work = self._new_folder()
        records_path = work / f"records-{manifest['number']}.bin"
        words_path = work / f"words-{manifest['number']}.bin"
        try:
            records_path.hardlink_to(folder / RECORDS)
            words_path.hardlink_to(folder / WORDS)
            for name in (*map(column_file, COLUMNS), *DICTIONARIES):
                (work / name).hardlink_to(folder / name)
            link_index(folder / TEXT, work / TEXT)
            columns = Columns(work, manifest["slots"])
            records = _Records(
                records_path, published_length(manifest, RECORDS), manifest["garbage"]
            )
            orders = Orders(work, columns, records.titles_in(columns))
            alive = orders.take_up(folder)
        except OSError as error:
            raise snapshot_error("the files of the snapshot cannot be taken up", error) from error
        columns.revive(alive)
        return _State(
            folder=work,
            columns=columns,
            orders=orders,
            records=records,
            lexicon=LexiconWriter(words_path, published_length(manifest, WORDS)),
            text=TextIndexWriter(work / TEXT),
            documents=self._documents,
            slots=dict(zip(columns["file_id"][alive].tolist(), alive.tolist(), strict=True)),
            number=manifest["number"],
            revision=manifest["revision"],
            shown=manifest["revision"],
            last=folder.name,
        )

    def _last_number(self) -> int:
        names = (path.name for path in self._directory.path.iterdir())
        # Numbers rise even if all snapshots were deleted, for workers know them by their names.
        return max((int(name) for name in names if name.isdigit()), default=int(time.time()))

    def _new_folder(self) -> Path:
        """Return a folder for one state: there may be two of them at a time."""
        folder = self._work / str(next(self._folders))
        folder.mkdir()
        return folder

    def _clear_work(self) -> None:
        shutil.rmtree(self._work, ignore_errors=True)
        self._work.mkdir(parents=True)


@dataclass(slots=True)
class _State:
    """A snapshot in the making.

    Attributes:
        folder: where its files are.
        slots: the slot of each map, by file id.
        number: the number of the last snapshot.
        revision: how far in the change feed it has come.
        shown: how far the last snapshot has.
        applied: how many changes were applied since the last snapshot.
        gone: the slots of maps that are gone or have changed since the last snapshot.
        last: the name of the last snapshot, empty if none was made of this state.
    """

    folder: Path
    columns: Columns
    orders: Orders
    records: "_Records"
    lexicon: LexiconWriter
    text: TextIndexWriter
    documents: Documents
    slots: dict[int, int]
    number: int
    revision: int = 0
    shown: int = 0
    applied: int = 0
    gone: list[int] = field(default_factory=list)
    last: str = ""

    @property
    def published(self) -> bool:
        """Whether a snapshot was made of this state before."""
        return bool(self.last)

    def apply(self, changes: Sequence[Change]) -> None:
        """Apply changes, each of another map."""
        fresh: list[Entry] = []
        for change in changes:
            known = change.file_id in self.slots
            if known:
                self._remove(change.file_id)
            if change.map is not None:
                slot = self.slots[change.file_id] = len(self.columns) + len(fresh)
                fresh.append(self._entry(change.map))
                self._index(slot, change, change.map)
            self.applied += known or change.map is not None
        if fresh:
            self.columns.append(fresh)

    def is_wasteful(self) -> bool:
        """Tell whether much of what is kept is about maps that are gone or have changed since.

        Empty slots cost a few bytes each; what is replaced in the index makes every search slower.
        """
        maps = max(BATCH, len(self.slots))
        return len(self.columns) > 2 * maps or 2 * self.text.size > 3 * maps

    def write(self, folder: Path, store: str, before: Path | None) -> None:
        """Put all of a snapshot of the store with this identity into ``folder``.

        What it shares with the one ``before`` is known to be sound.
        """
        if self.records.is_wasteful():
            self.orders.write_anew()  # for the titles of what is gone cannot be read afterwards
            self.records = self.records.rewritten(self.columns, self.number)
            self.orders.read_titles_from(self.records.titles_in(self.columns))
        growing = self.columns.link_to(folder)
        growing[RECORDS] = self.records.link_to(folder / RECORDS)
        growing[WORDS] = self.lexicon.link_to(folder / WORDS)
        self.orders.write(folder)
        self.text.publish(folder / TEXT)
        facts = {
            "store": store,
            "number": self.number,
            "revision": self.revision,
            "maps": len(self.slots),
            "slots": len(self.columns),
            "garbage": self.records.garbage,
        }
        write_manifest(folder, facts, growing, before)

    def close(self) -> None:
        self.columns.close()
        self.records.close()
        self.lexicon.close()
        self.text.close()

    def _remove(self, file_id: int) -> None:
        slot = self.slots.pop(file_id)
        self.records.forget(int(self.columns["length"][slot]))
        self.columns.remove(slot)
        self.text.remove(slot)
        self.gone.append(slot)

    def _entry(self, found: Map) -> Entry:
        record = encode_record(found)
        return Entry(found, self.records.append(record), len(record))

    def _index(self, slot: int, change: Change, found: Map) -> None:
        passages = Passages()
        try:
            passages = _passages(change)
        except StoreDamaged as error:
            # One damaged outline must not keep all other maps from being shown.
            log.error("the topics of map %s are left out of the search: %s", found.id, error)
        document = self.documents.of(Indexed(slot, found, change.source, passages))
        self.text.put(document.fields)
        self.lexicon.add(document.words)


def _passages(change: Change) -> Passages:
    if change.outline:
        return outline_passages(change.outline)
    assert change.map is not None
    return Passages(language=guess_language(f"{change.map.title}. {change.map.description}"))


class _Records:
    """The growing file of records."""

    def __init__(self, path: Path, length: int = 0, garbage: int = 0) -> None:
        self._file = GrowingFile(path, length)
        self.garbage = garbage

    def append(self, record: bytes) -> int:
        """Add a record; return where it begins."""
        return self._file.append(record)

    def forget(self, length: int) -> None:
        """Note that a record of this length has been replaced."""
        self.garbage += length

    def is_wasteful(self) -> bool:
        """Tell whether most of the file is replaced records."""
        return self.garbage > max(LITTLE, len(self._file) // 2)

    def rewritten(self, columns: Columns, number: int) -> "_Records":
        """Return a new file of the living records alone, and say in ``columns`` where they are."""
        self._file.flush()
        path = self._file.path
        fresh = _Records(path.with_name(f"records-{number}-rewritten.bin"))
        starts, lengths = columns["start"].copy(), columns["length"]
        for slot in np.flatnonzero(columns.alive).tolist():
            starts[slot] = fresh.append(self._file.read(int(starts[slot]), int(lengths[slot])))
        columns.rewrite("start", starts)
        self.close()
        path.unlink()
        return fresh

    def link_to(self, path: Path) -> tuple[int, str]:
        """Give the file its name in a snapshot; return its length there and its checksum."""
        return self._file.link_to(path)

    def titles_in(self, columns: Columns) -> Callable[[Sequence[int]], list[str]]:
        """Return a function that gives the titles of slots."""

        def titles(slots: Sequence[int]) -> list[str]:
            self._file.flush()
            read, starts, lengths = self._file.read, columns["start"], columns["length"]
            return [record_title(read(int(starts[s]), int(lengths[s]))) for s in slots]

        return titles

    def close(self) -> None:
        self._file.close()
