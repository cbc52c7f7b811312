"""Import map files into the store, without opening known files that have not changed."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Protocol

from mapshelf.formats.ndjson_records import size_of
from mapshelf.importer.attribution import Attribution
from mapshelf.importer.dates_added import DatesAdded
from mapshelf.importer.report import ImportReport, printable
from mapshelf.importer.scan import Candidate, folder_of, is_gone, storable_time
from mapshelf.model import UNCATEGORISED, MapDraft, Source, Verdict, name_key
from mapshelf.readers.sandboxed_reader import ReadFile, RefusedFile, SandboxedReader
from mapshelf.store.contract import Imports, Maps, MapWriter, Sources

LOOKUP_SIZE: Final = 500
"""Files looked up in the store at a time."""

BATCH_SIZE: Final = 100
"""Maps written in one transaction at most."""

BATCH_BYTES: Final = 32 << 20
"""Bytes of files and pictures after which a batch is written, to limit memory use."""

BATCH_SECONDS: Final = 0.5
"""Seconds after which a batch is written, so that its maps appear while others are read."""

MOST_ORIGINALS: Final = 1000
"""Files looked at for the one that a changed file was a copy of."""

MOST_GONE: Final = 10
"""Missing files looked at for the one that was moved to where a changed file is."""

UNREAD: Final = -1
"""Modification time of a source whose file must be read again: no file has it."""


class ImportStore(Maps, MapWriter, Sources, Imports, Protocol):
    """The store protocols that importing files needs."""


def import_maps(  # noqa: PLR0913 - what is imported, how, and what is said of it
    store: ImportStore,
    candidates: Iterable[Candidate],
    reader: SandboxedReader,
    attribution: Attribution,
    report: ImportReport,
    *,
    read_unchanged: bool = True,
    dates_added: DatesAdded | None = None,
    folders: Iterable[str] = (),
) -> None:
    """Import ``candidates`` into ``store``, and record the result of each in ``report``.

    A new map without a category gets the category named like its folder, if there is one. A renamed
    or moved file remains the same map: its content identifies it.

    If an attribution is given, all files are read, because it also applies to maps whose files have
    not changed. Without ``read_unchanged``, such files are skipped, and the caller must apply the
    attribution to their maps (``attribute``).

    Without ``dates_added``, ``candidates`` must include all files of their folders; with it, the
    caller signals when all files have been imported.

    ``folders`` are those of all files that belong together, even if not all are ``candidates``: new
    files without an owner inherit from them (``MapWriter.put_maps``).

    Raises:
        StoreError: the store failed; files reported as added or changed so far are stored.
    """
    read_all = read_unchanged and attribution != Attribution()
    dates = dates_added or DatesAdded(store, store)
    new = _Import(store, attribution, report, dates, read_all=read_all)
    new.run(candidates, reader, tuple(map(_prefix, folders)))
    if dates_added is None:
        dates.finish()


def attribute(store: ImportStore, folder: bytes, attribution: Attribution) -> None:
    """Set owner and category of a folder's maps without reading files.

    Raises:
        StoreError: the store failed; earlier maps are changed.
    """
    if attribution == Attribution():
        return
    after = 0
    while page := store.maps_attributed_otherwise(
        folder, attribution.owner, attribution.category, after, LOOKUP_SIZE
    ):
        drafts = [
            MapDraft(id=found.id, owner=attribution.owner, category=attribution.category)
            for found in page
        ]
        store.put_maps(drafts)
        after = page[-1].file_id


class _Import:
    """One import: the files that are being read, and the maps that are not written yet."""

    def __init__(
        self,
        store: ImportStore,
        attribution: Attribution,
        report: ImportReport,
        dates_added: DatesAdded,
        *,
        read_all: bool,
    ) -> None:
        self._store = store
        self._attribution = attribution
        self._report = report
        self._read_all = read_all
        self._dates_added = dates_added
        self._folders: tuple[bytes, ...] = ()
        self._categories = {name_key(row.name): row.name for row in store.categories()}
        self._reading: dict[str, _Reading] = {}
        self._drafts: dict[str, MapDraft] = {}
        self._completed: dict[str, list[Source]] = {}
        self._bytes = 0
        self._written = time.monotonic()

    def run(
        self, candidates: Iterable[Candidate], reader: SandboxedReader, folders: tuple[bytes, ...]
    ) -> None:
        self._folders = folders
        # What has been read must not wait for a file that takes long.
        for result in reader.read(self._to_read(candidates), self._folder_of, self._write):
            reading = self._reading.pop(result.path)
            if isinstance(result, RefusedFile):
                self._report.note(Verdict.REFUSED, printable(result.path), result.reason)
                continue
            self._drafts[result.path] = self._draft(result, reading)
            self._bytes += len(result.content) + sum(map(len, result.images.values()))
            late = time.monotonic() - self._written > BATCH_SECONDS
            if late or len(self._drafts) >= BATCH_SIZE or self._bytes >= BATCH_BYTES:
                self._write()
        self._write()

    def _to_read(self, candidates: Iterable[Candidate]) -> Iterator[str]:
        """Yield the paths of files to read; report the others as unchanged."""
        pending = iter(candidates)
        while page := list(islice(pending, LOOKUP_SIZE)):
            sources = self._store.sources([os.fsencode(candidate.path) for candidate in page])
            for candidate in page:
                source = sources.get(os.fsencode(candidate.path))
                if self._read_all or not candidate.is_unchanged(source):
                    known = source is not None and source.modified != UNREAD
                    gone = source is not None and source.is_gone
                    former = source.digest if source and known else None
                    reading = _Reading(candidate.name, known, gone, candidate.folder, former)
                    self._reading[candidate.path] = reading
                    yield candidate.path
                else:
                    self._report.note(Verdict.UNCHANGED, printable(candidate.path))

    def _folder_of(self, path: str) -> str:
        return self._reading[path].folder

    def _draft(self, found: ReadFile, reading: "_Reading") -> MapDraft:
        source = Source(
            path=os.fsencode(found.path),
            name=reading.name,
            size=found.size,
            modified=storable_time(found.modified_ns),
            digest=found.digest,
        )
        category, added, place = self._attribution.category, None, None
        may_be_renamed = reading.gone or not reading.known
        renamed = may_be_renamed and self._detect_rename(source, reading.folder)
        if not reading.known and not renamed:
            added = self._dates_added.date_of(found, reading.folder)
        originals = self._originals(source, reading)
        self._note_completed(source, reading)
        if not reading.known or renamed:
            folder = name_key(folder_of(found.path))
            category = category or self._categories.get(folder, UNCATEGORISED)
        if not reading.known or renamed or reading.former != source.digest:
            place = _prefix(reading.folder or os.path.dirname(found.path))
        return MapDraft(
            title=found.title,
            description=found.description,
            category=category,
            date_added=added,
            owner=self._attribution.owner,
            size=size_of(found.size),
            software=found.software or None,
            template=found.template,
            tags=found.tags,
            source=source,
            folder=place,
            other_folders=self._folders,
            originals=originals,
            outline=found.outline,
            content=found.content,
            images=found.images,
            links=found.links,
        )

    def _originals(self, source: Source, reading: "_Reading") -> frozenset[bytes]:
        """Return the unchanged files that have the content that a changed file had."""
        if reading.gone or reading.former in (None, source.digest):
            return frozenset()
        equal = (one for one in self._store.sources_of(reading.former) if one.path != source.path)
        return frozenset(one.path for one in islice(equal, MOST_ORIGINALS) if _is_unchanged(one))

    def _detect_rename(self, source: Source, folder: str) -> bool:
        """If ``source`` is a known file under a new name, move its map; return whether it is.

        It counts as unread until the draft is written: if this process ends first, the file is read
        again. A file that had been missing before only comes back in the same ``folder``, so that
        a similar file elsewhere does not get its map.
        """
        moved = replace(source, modified=UNREAD)
        equal = self._store.sources_of(source.digest)
        if any(known.path == source.path for known in equal):
            return False
        for known in sorted(equal, key=distance_from(source)):
            if known.is_gone and not (folder and known.path.startswith(_prefix(folder))):
                continue
            if is_gone(known.path) and self._store.move_source(known.path, moved):
                return True
        return False

    def _note_completed(self, source: Source, reading: "_Reading") -> None:
        """Note the missing files that a changed file is equal to now.

        It was read half-written, and is what another file was moved to. If that is missing by now,
        it has not been found to be copied.
        """
        if not reading.known or reading.gone or reading.former == source.digest:
            return
        below = _prefix(reading.folder or os.path.dirname(os.fsdecode(source.path)))
        equal = self._store.sources_of(source.digest)
        gone = [one for one in equal if one.is_gone and one.path.startswith(below)]
        if gone:
            self._completed[os.fsdecode(source.path)] = sorted(gone, key=distance_from(source))

    def _write(self) -> None:
        if self._drafts:
            outcomes = self._store.put_maps(list(self._drafts.values()))
            self._report.note_all(map(printable, self._drafts), outcomes)
            self._adopt_completed()
            self._drafts.clear()
        self._bytes = 0
        self._written = time.monotonic()

    def _adopt_completed(self) -> None:
        """Give the maps of missing files to the copies that were read half-written before.

        If this process ends in between, the copy is read again.
        """
        for path, gone in self._completed.items():
            draft = self._drafts[path]
            unread = [replace(draft.source, modified=UNREAD)] if draft.source else []
            still = (one for one in gone[:MOST_GONE] if self._is_gone_for_good(one))
            if any(self._store.adopt_copy(one, unread) for one in still):
                self._store.put_maps([draft])
        self._completed.clear()

    def _is_gone_for_good(self, source: Source) -> bool:
        """Return whether a missing file has not come back, nor is being read because it had."""
        path = os.fsdecode(source.path)
        return path not in self._reading and path not in self._drafts and is_gone(source.path)


def distance_from(source: Source) -> Callable[[Source], tuple[bool, bool]]:
    """Return a sort key for equal files: not missing ones come first, then those with its name."""
    name = os.path.basename(source.path)
    return lambda known: (known.is_gone, os.path.basename(known.path) != name)


def _is_unchanged(source: Source) -> bool:
    """Return whether a file is certainly still there, with the content it had."""
    if source.is_gone or is_gone(source.path):
        return False
    try:
        status = os.lstat(source.path)
    except OSError:
        return False
    return (status.st_size, storable_time(status.st_mtime_ns)) == (source.size, source.modified)


def _prefix(folder: str) -> bytes:
    return os.path.join(os.fsencode(folder), b"")


@dataclass(frozen=True, slots=True)
class _Reading:
    """A file that is being read.

    Attributes:
        name: its name below the imported folder.
        known: whether the store has the map of the file at this path; false, too, after a rename
            that an earlier import did not finish (``UNREAD``).
        gone: whether the file at this path had been missing: this may be another one, renamed.
        folder: see ``Candidate``.
        former: digest of the file at this path when it was last read, ``None`` if it is not known.
    """

    name: str
    known: bool
    gone: bool
    folder: str
    former: bytes | None
