"""Synchronize the catalogue with folders: add, update and remove maps along with their files.

Each run compares the folders with the sources in the store, so one run catches up after a process
was stopped or killed. Nothing is ever written to the folders.
"""

import logging
import math
import os
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final, Protocol

from mapshelf.import_status import StatusFile
from mapshelf.importer.attribution import Attribution, notice_of_owner
from mapshelf.importer.conflict_copies import possible_originals
from mapshelf.importer.dates_added import DatesAdded
from mapshelf.importer.gone_files import GoneFiles, known_below
from mapshelf.importer.lost_files import LostFiles, SeenFolders
from mapshelf.importer.map_files import ImportStore, attribute, import_maps
from mapshelf.importer.moved_folders import follow
from mapshelf.importer.progress import ImportProgress
from mapshelf.importer.purging import Purging
from mapshelf.importer.refused_files import refusals_of, remember
from mapshelf.importer.report import ImportReport, printable
from mapshelf.importer.retries import Retries
from mapshelf.importer.scan import Candidate, resolve_path, scan
from mapshelf.model import Refusal, RefusalKind, Verdict
from mapshelf.plurals import noun
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.store.contract import ChangeFeed

MIN_AGE: Final = 1.0
"""Seconds without changes before a file is read: it may still be being copied."""

MOVED_WITHIN: Final = 60.0
"""Seconds between the moments in which a moved file is missed at its old place and read at the new
one, at most, unless there are very many files."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """Options for synchronizing folders.

    Attributes:
        attribution: owner and category of the maps.
        status: where to report progress.
        page: the URL of the page that lists refused files.
        briefly: whether to log only the number of refused files instead of each file.
    """

    attribution: Attribution = field(default_factory=Attribution)
    status: StatusFile | None = None
    page: str = ""
    briefly: bool = False


class FolderStore(ImportStore, ChangeFeed, Protocol):
    """The store protocols that following folders needs."""


class FolderSync:
    """Synchronizes ``store`` with ``folders``, in one direction."""

    def __init__(
        self,
        store: FolderStore,
        reader: SandboxedReader,
        folders: list[Path],
        options: SyncOptions | None = None,
    ) -> None:
        self._options = options or SyncOptions()
        self._store = store
        self._reader = reader
        self._given = {folder: Path(resolve_path(folder)) for folder in folders}
        self._folders = list(dict.fromkeys(self._given.values()))
        self._dates_added = DatesAdded(store, store)
        self._purging = Purging(store)
        self._unfinished = set(self._folders)
        self._last_scan: set[Candidate] = set()
        self._imported: set[Candidate] = set()
        self._imported_as_of = (0, "", 0)
        self._seen = SeenFolders()
        self._gone = GoneFiles(store)
        self._retries = Retries()
        self._moved: set[Path] = set()
        self._unfollowed = set(self._given)
        self._refused: dict[str, Refusal] = {}
        self._remembered: set[Refusal] | None = None

    def sync(self) -> bool:
        """Synchronize once; return whether to do so again soon: not all files have been read.

        Some may still be written, or were added or moved since the scan began. Any of them may be a
        missing one, moved. So meanwhile only the maps of files are removed that have been missing
        for longer: any that was complete by then has been read.

        Raises:
            StoreError: the store failed; the next run catches up.
        """
        began, (reachable, closed) = time.monotonic(), self._reachable()
        if self._are_changes_lost():
            self._imported = set()
        first, scanned = self._remembered is None, ImportReport()
        with ImportProgress(self._options.status) as progress:
            if first:
                progress.begin("Looking for maps")
            self._follow_links(reachable)
            present = set(scan(reachable, scanned))
            _refuse(closed, scanned)
            complete = self._complete(present)
            lost = self._lost_files(present, reachable)
            again = self._retries.due()
            known = {candidate for candidate in self._imported if candidate.path not in again}
            new_files = self._in_order(complete - known, reachable, lost.present)
            pending = [one for one in complete if one.path in self._retries.paths()]
            report = self._import(new_files, pending, lost, progress)
        self._attribute(reachable)
        self._imported = complete
        read = {one.path for one in new_files}
        self._retries.note(read, report.interrupted, report.may_be_moved)
        self._retries.forget_missing(lost.present)
        if len(complete) == len(present):
            self._finish_first_import(reachable)
        new = self._remember(reachable, scanned, {printable(one.path) for one in complete})
        self._tell(report, scanned, new, first=first)
        self._last_scan = present
        self._imported = set()  # if the store fails now, it is not known what is to be read again
        gone = self._gone.find(reachable, lost)
        all_read = len(complete) == len(present) and not (gone and _has_more(reachable, lost))
        missed_before = math.inf if all_read else began - MIN_AGE
        # What could not be read may be a missing file, moved.
        missed_before = min(missed_before, self._retries.waiting_since() - MOVED_WITHIN)
        copies = self._gone.remove(self._gone.missed_before(gone, missed_before), lost)
        unread = {*copies, *report.vanished}
        if not self._are_changes_lost():
            self._imported = {candidate for candidate in complete if candidate.path not in unread}
        self._purging.purge_due(reachable, lost)
        return bool(unread) or not all_read

    def _are_changes_lost(self) -> bool:
        """Return whether the store may lack imported files, so that all are compared again.

        Another server of PostgreSQL may have taken over, or an earlier state may be back.
        """
        revision, takeovers = self._store.revision(), self._store.takeovers()
        before, lineage, takeovers_before = self._imported_as_of
        lost = takeovers != takeovers_before or self._store.lineage(before) != lineage
        self._imported_as_of = (revision, self._store.lineage(revision), takeovers)
        return lost

    def _reachable(self) -> tuple[list[Path], list[Path]]:
        """Return the folders that can be read, and those whose permissions do not allow it.

        A folder that was replaced by a link since this process began, or given as a link that leads
        somewhere else now, cannot: its files would have other paths, and count as others.
        """
        moved = {one for one, place in self._given.items() if resolve_path(one) != str(place)}
        for given in sorted(moved - self._moved):
            self._log_moved(given)
        self._moved = moved
        staying = dict.fromkeys(place for one, place in self._given.items() if one not in moved)
        reachable = [folder for folder in staying if os.access(folder, os.R_OK | os.X_OK)]
        return reachable, [one for one in staying if one not in reachable and not _is_missing(one)]

    def _log_moved(self, given: Path) -> None:
        place = self._given[given]
        if not set(self._folders).isdisjoint(place.parents):
            return  # it is like any other folder in the outer one
        if resolve_path(place) != str(place):
            log.warning(
                "%s is behind a symbolic link now; its maps stay as they are until a restart",
                printable(str(place)),
            )
            return
        log.warning(
            "%s leads to %s now, not to %s; its maps stay as they are until a restart",
            printable(str(given)),
            printable(resolve_path(given)),
            printable(str(place)),
        )

    def _follow_links(self, reachable: list[Path]) -> None:
        """Find the maps of folders that were elsewhere when they were last served, once each."""
        served = [str(folder) for folder in self._folders]
        for given in sorted(self._unfollowed):
            folder = self._given[given]
            if folder not in reachable or given in self._moved:
                continue
            count = follow(self._store, given, served)
            self._unfollowed.discard(given)
            if count:
                what = noun(count, "map is", "maps are")
                log.info("%d %s in %s now", count, what, printable(str(folder)))

    def _complete(self, present: set[Candidate]) -> set[Candidate]:
        """Return the files that can be read now; a conflict copy waits for its original."""
        complete = {candidate for candidate in present if self._is_complete(candidate)}
        if len(complete) == len(present):
            return complete
        waiting = {candidate.path for candidate in present - complete}
        return {
            one
            for one in complete
            if one in self._imported or waiting.isdisjoint(possible_originals(one.path))
        }

    def _is_complete(self, candidate: Candidate) -> bool:
        """Return whether a file has not changed for a while."""
        # The clock of a file server may be ahead, so a file that is unchanged since the last scan
        # is complete, whatever its modification time.
        age = time.time() - candidate.modified / 1e9
        return candidate in self._last_scan or age > MIN_AGE

    def _lost_files(self, present: set[Candidate], reachable: list[Path]) -> LostFiles:
        self._seen.see(present)
        return LostFiles(
            {candidate.path for candidate in present},
            {folder: folder in reachable for folder in self._folders},
            self._seen,
            self._store.unpublished_sources,
        )

    def _in_order(
        self, candidates: set[Candidate], reachable: list[Path], present: Collection[str]
    ) -> list[Candidate]:
        """Return files by path, but first those that look like missing ones, moved.

        Otherwise, another file with the same content could get their maps.
        """
        lost: set[tuple[int, int]] = set()
        if len(candidates) > 1:
            known = chain.from_iterable(known_below(self._store, one) for one in reachable)
            away = (one for one in known if os.fsdecode(one.path) not in present)
            lost = {(one.size, one.modified) for one in away}
        return sorted(candidates, key=lambda one: ((one.size, one.modified) not in lost, one.path))

    def _import(
        self,
        ordered: list[Candidate],
        unread: list[Candidate],
        lost: LostFiles,
        progress: ImportProgress,
    ) -> ImportReport:
        """Import files that are new or changed since the last run; return the report."""
        report = ImportReport()
        if not ordered:
            return report
        if self._remembered is not None:
            progress.begin("Reading maps")
        progress.follow(report, "Reading maps", len(ordered))
        self._reader.expect(len(ordered))
        attribution = self._options.attribution
        import_maps(
            self._store,
            ordered,
            self._reader,
            attribution,
            report,
            read_unchanged=False,
            dates_added=self._dates_added,
            folders=map(str, self._folders),
            unread=unread,
            lost=lost,
        )
        for candidate in ordered:
            self._refused.pop(printable(candidate.path), None)
        self._refused |= {one.path: one for one in refusals_of(report)}
        return report

    def _finish_first_import(self, reachable: list[Path]) -> None:
        """Record, once per folder, that every file in it was seen."""
        if unfinished := self._unfinished.intersection(reachable):
            self._dates_added.finish(*map(str, unfinished))
            self._unfinished -= unfinished

    def _attribute(self, reachable: list[Path]) -> None:
        """Set owner and category, once, for maps that were imported without them."""
        if self._remembered is None:
            if notice := notice_of_owner(self._store, self._options.attribution):
                log.warning("%s", notice)
            for folder in reachable:
                attribute(self._store, os.fsencode(folder), self._options.attribution)

    def _remember(
        self, reachable: list[Path], scanned: ImportReport, complete: set[str]
    ) -> list[Refusal]:
        """Record the refused files in the store; return the new ones."""
        self._refused = {path: one for path, one in self._refused.items() if path in complete}
        now = {*self._refused.values(), *refusals_of(scanned)}
        if now == self._remembered:
            return []
        new = remember(self._store, reachable, now)
        self._remembered = now
        return new

    def _tell(
        self, report: ImportReport, scanned: ImportReport, new: list[Refusal], *, first: bool
    ) -> None:
        """Log the result of an import; the first import is always logged."""
        refused = [one for one in new if one.kind is RefusalKind.REFUSED]
        if not self._options.briefly:
            for one in refused:
                log.warning("refused %s: %s", one.path, one.reason)
        if report.unpublished:
            log.info(
                "files that are not published, like the maps with their content or place: %d",
                report.unpublished,
            )
        where = f"; see {self._options.page}" if refused and self._options.page else ""
        if first:
            log.info(
                "maps in the folders: %d; files refused: %d%s%s",
                report.maps,
                report.counts[Verdict.REFUSED] + scanned.counts[Verdict.REFUSED],
                "" if refused or report.complete else ", all known",
                where,
            )
        elif report.counts[Verdict.ADDED] or report.counts[Verdict.CHANGED] or refused:
            log.info("imported: %s%s", report.summary(), where)


def _is_missing(folder: Path) -> bool:
    try:
        os.stat(folder)
    except OSError as error:
        return not isinstance(error, PermissionError)
    return False


def _refuse(closed: list[Path], report: ImportReport) -> None:
    """Record that folders may not be read, so that somebody sees why their maps are missing."""
    for folder in closed:
        reason = "this folder cannot be read: its permissions do not allow it"
        report.note(Verdict.REFUSED, printable(str(folder)), reason)


def _has_more(folders: list[Path], lost: LostFiles) -> bool:
    """Return whether there are files now that the last scan did not find.

    Any may be a missing one: moved during the scan, from a place that the scan had not reached yet
    to one that it had left.
    """
    return any(one.path not in lost.present for one in scan(folders, ImportReport()))
