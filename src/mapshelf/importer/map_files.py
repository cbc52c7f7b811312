"""Import map files into the store, without opening known files that have not changed."""

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, NamedTuple, Protocol

from mapshelf.errors import ReadingEnded
from mapshelf.formats.ndjson_records import size_of
from mapshelf.importer.attribution import Attribution
from mapshelf.importer.dates_added import DatesAdded
from mapshelf.importer.documents import OTHER_FORM, Found, other_places, take_other_forms
from mapshelf.importer.equal_files import UNREAD, EqualFiles
from mapshelf.importer.lost_files import LostFiles
from mapshelf.importer.originals import Originals
from mapshelf.importer.reading_order import in_reading_order
from mapshelf.importer.report import ImportReport, printable
from mapshelf.importer.same_names import FoundFile
from mapshelf.importer.scan import Candidate, folder_of, is_archive, is_gone, storable_time
from mapshelf.model import UNCATEGORISED, MapDraft, Outcome, Source, Verdict, name_key
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
    unread: Iterable[Candidate] = (),
    lost: LostFiles,
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
    files without an owner inherit from them (``MapWriter.put_maps``). ``unread`` are changed files
    that could not be read lately. ``lost`` decides whether a new file is a known one with its
    content, renamed or moved, or a copy.

    Raises:
        StoreError: the store failed; files reported as added or changed so far are stored.
    """
    read_all = read_unchanged and attribution.changes_known_maps
    dates = dates_added or DatesAdded(store, store)
    helpers = _Helpers(dates, EqualFiles(store, lost), lost)
    new = _Import(store, attribution, report, helpers, read_all=read_all)
    new.note_unread(unread)
    new.run(candidates, reader, tuple(map(_prefix, folders)))
    if dates_added is None:
        dates.finish()


def attribute(store: ImportStore, folder: bytes, attribution: Attribution) -> None:
    """Set owner and category of a folder's known maps without reading files.

    Raises:
        StoreError: the store failed; earlier maps are changed.
    """
    if not attribution.changes_known_maps:
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
        helpers: "_Helpers",
        *,
        read_all: bool,
    ) -> None:
        self._store = store
        self._attribution = attribution
        self._report = report
        self._read_all = read_all
        self._dates_added = helpers.dates_added
        self._equal = helpers.equal_files
        self._lost = helpers.lost
        self._originals = Originals(store, helpers.lost)
        self._folders: tuple[bytes, ...] = ()
        self._moved: set[str] = set()
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
        some = list(self._changed(candidates))
        found = {one.path: self._found(one.name, one.folder) for one in some}
        self._moved = self._originals.moved_among(found)
        originals = self._originals.of_conflict_copy
        for group in in_reading_order(some, self._store, originals, self._moved):
            self._run(group, reader)

    def note_unread(self, candidates: Iterable[Candidate]) -> None:
        pending = iter(candidates)
        while page := list(islice(pending, LOOKUP_SIZE)):
            known = self._store.sources([os.fsencode(one.path) for one in page])
            for one in page:
                if os.fsencode(one.path) in known:
                    self._originals.note_unread(one.path, one.size)

    def _changed(self, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
        """Yield the files that are new or changed; report the others as unchanged."""
        pending = iter(candidates)
        while page := list(islice(pending, LOOKUP_SIZE)):
            sources = self._store.sources([os.fsencode(one.path) for one in page])
            for one in page:
                if self._read_all or not one.is_unchanged(sources.get(os.fsencode(one.path))):
                    yield one
                else:
                    self._report.note(Verdict.UNCHANGED, printable(one.path))

    def _run(self, candidates: list[Candidate], reader: SandboxedReader) -> None:
        # What has been read must not wait for a file that takes long.
        for result in reader.read(self._to_read(candidates), self._folder_of, self._write):
            reading = self._reading.pop(result.path)
            if isinstance(result, RefusedFile):
                self._note_unread(result, reading)
                continue
            self._drafts[result.path] = self._draft(result, reading)
            self._bytes += len(result.content) + sum(map(len, result.images.values()))
            late = time.monotonic() - self._written > BATCH_SECONDS
            if late or len(self._drafts) >= BATCH_SIZE or self._bytes >= BATCH_BYTES:
                self._write()
        self._write()

    def _note_unread(self, refused: RefusedFile, reading: "_Reading") -> None:
        """Report a file that was not read. One of a folder that is gone again was not refused."""
        of_folder = reading.folder and not is_archive(reading.folder)
        if of_folder and is_gone(os.fsencode(refused.path)):
            self._report.note_vanished(refused.path)
        else:
            self._report.note(Verdict.REFUSED, printable(refused.path), refused.reason)
            if issubclass(refused.kind, ReadingEnded):
                self._report.interrupted.append(refused.path)
                is_new = reading.gone or not reading.has_map
                if is_new and not _is_forbidden(refused.path):
                    self._report.may_be_moved.append(refused.path)
                if reading.has_map or refused.path in self._moved:
                    self._originals.note_unread(refused.path, reading.size)

    def _to_read(self, candidates: list[Candidate]) -> Iterator[str]:
        """Yield the paths of files to read; report those that another process has read by now."""
        pending = iter(candidates)
        while page := list(islice(pending, LOOKUP_SIZE)):
            sources = self._store.sources([os.fsencode(candidate.path) for candidate in page])
            found = (Found(candidate.path, candidate.name) for candidate in page)
            sources |= take_other_forms(self._store, found, sources, self._lost.present)
            for candidate in page:
                source = sources.get(os.fsencode(candidate.path))
                if self._read_all or not candidate.is_unchanged(source):
                    known = source is not None and source.modified != UNREAD
                    gone = source is not None and source.is_gone
                    former = source.digest if source and known else None
                    converted = source is not None and source.size == OTHER_FORM
                    reading = _Reading(
                        name=candidate.name,
                        size=candidate.size,
                        has_map=source is not None,
                        known=known,
                        gone=gone,
                        folder=candidate.folder,
                        former=former,
                        converted=converted,
                    )
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
        others = self._folders
        may_be_renamed = reading.gone or not reading.known
        former = None
        if may_be_renamed:
            former = self._equal.move_renamed(source, reading.folder, may_be_back=reading.gone)
        renamed = former is not None
        if not reading.known and not renamed:
            added = self._dates_added.date_of(found, reading.folder)
        if may_be_renamed and not renamed and reading.former != source.digest:
            self._note_originals(found.path, reading, source)
        self._note_completed(source, reading)
        if not reading.known or renamed:
            folder = name_key(folder_of(found.path))
            category = category or self._categories.get(folder, UNCATEGORISED)
        if not reading.known or renamed or reading.former != source.digest:
            place = _prefix(reading.folder or os.path.dirname(found.path))
        if former is None or former.is_gone:
            # It may be a file that was there, moved, and is not published either if that was not.
            points = self._equal.mount_points(source.digest) if place or reading.gone else ()
            others += tuple(_prefix(os.fsdecode(one)) for one in points)
            place = place or next((_prefix(os.fsdecode(one)) for one in points), None)
            if place and self._dates_added.is_first(reading.folder):
                others += tuple(_prefix(os.fsdecode(one)) for one in self._equal.roots(source))
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
            initial_visibility=self._attribution.visibility,
            source=source,
            is_known=reading.has_map or renamed,
            folder=place,
            other_folders=others,
            other_places=other_places(found.path),
            uncertain=may_be_renamed and self._equal.is_uncertain(source, former),
            outline=found.outline,
            content=found.content,
            images=found.images,
            links=found.links,
        )

    def _note_originals(self, path: str, reading: "_Reading", source: Source) -> None:
        """Note the files of which a new one may be a version that has changed."""
        originals = self._originals.of_conflict_copy(path)
        if not self._drafts.keys().isdisjoint(originals):
            self._write()  # what these inherit is not known before
        if originals:
            self._originals.note_copy(path, originals)
        if self._equal.is_unknown(source.digest):
            found = self._found(reading.name, reading.folder)
            self._originals.note_unknown(path, found, source.size)

    def _found(self, name: str, folder: str) -> FoundFile:
        """Return a file. Whether this is the first import is not known once maps have moved."""
        return FoundFile(name, self._dates_added.is_first(folder))

    def _note_completed(self, source: Source, reading: "_Reading") -> None:
        """Note the missing files that a changed file is equal to now.

        It was read half-written, and is what another file was moved to. If that is missing by now,
        it has not been found to be copied.
        """
        if not reading.known or reading.gone or reading.former == source.digest:
            return
        path = os.fsdecode(source.path)
        missing = self._equal.missing(source, reading.folder or os.path.dirname(path))
        if missing:
            self._completed[path] = missing

    def _write(self) -> None:
        if self._drafts:
            for path in self._originals.take_unpublished():
                self._drafts[path] = replace(self._drafts[path], uncertain=True)
            outcomes = self._store.put_maps(list(self._drafts.values()))
            self._note_outcomes(outcomes)
            self._adopt_completed()
            self._drafts.clear()
        self._bytes = 0
        self._written = time.monotonic()

    def _note_outcomes(self, outcomes: list[Outcome]) -> None:
        written = []
        for (path, draft), outcome in zip(self._drafts.items(), outcomes, strict=True):
            if draft.is_known and outcome.verdict is Verdict.REFUSED:
                self._report.note_vanished(path)  # another process has moved its map
            else:
                written.append((printable(path), outcome))
        self._report.note_all(written)

    def _adopt_completed(self) -> None:
        """Give the maps of missing files to the copies that were read half-written before.

        If this process ends in between, the copy is read again.
        """
        for path, gone in self._completed.items():
            draft = self._drafts[path]
            unread = [replace(draft.source, modified=UNREAD)] if draft.source else []
            still = (one for one in gone if self._is_gone_for_good(one))
            if any(self._store.adopt_copy(one, unread) for one in still):
                self._store.put_maps([draft])
        self._completed.clear()

    def _is_gone_for_good(self, source: Source) -> bool:
        """Return whether a missing file has not come back, nor is being read because it had."""
        path = os.fsdecode(source.path)
        is_read = path in self._reading or path in self._drafts
        return not is_read and self._lost.is_lost(source.path)


class _Helpers(NamedTuple):
    """What an import asks about its files."""

    dates_added: DatesAdded
    equal_files: EqualFiles
    lost: LostFiles


def _is_forbidden(path: str) -> bool:
    """Return whether permissions do not let this process read a file."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except PermissionError:
        return True
    except OSError:
        pass
    return False


def _prefix(folder: str) -> bytes:
    return os.path.join(os.fsencode(folder), b"")


@dataclass(frozen=True, slots=True)
class _Reading:
    """A file that is being read.

    Attributes:
        name: its name below the imported folder.
        size: its size in bytes when it was found.
        has_map: whether the store has a map of this path.
        known: whether that is the map of this file; false after a rename that an earlier import did
            not finish (``UNREAD``).
        gone: whether the file at this path had been missing: this may be another one, renamed.
        folder: see ``Candidate``.
        former: digest of the file at this path when it was last read, ``None`` if it is not known.
        converted: whether it is a document that was a folder then and is a file now, or back.
    """

    name: str
    size: int
    has_map: bool
    known: bool
    gone: bool
    folder: str
    former: bytes | None
    converted: bool
