"""Find the files that are gone from the served folders, and remove their maps.

A file may be missing for a moment only, while a program saves it or while it is moved. So each is
missed for a while first, and files on disks that are disconnected are not missed at all.
"""

import logging
import os
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from mapshelf.importer.equal_files import UNREAD
from mapshelf.importer.likeness import LikelyFiles
from mapshelf.importer.lost_files import LostFiles
from mapshelf.importer.report import printable
from mapshelf.importer.scan import is_gone
from mapshelf.model import Source
from mapshelf.plurals import noun
from mapshelf.store.contract import Sources

PAGE_SIZE: Final = 1000
"""Sources requested from the store at a time."""

log = logging.getLogger(__name__)


class GoneFiles:
    """The files that a process misses in the folders that it follows."""

    def __init__(self, store: Sources) -> None:
        """Begin to miss nothing."""
        self._store = store
        self._missed: dict[bytes, float] = {}
        self._logged: set[Path] = set()
        self._linked: set[bytes] = set()

    def find(self, reachable: list[Path], lost: LostFiles) -> list[Source]:
        """Return the files that were missing from the scan and still are, except on disks away.

        Each is missed from the run in which that is first seen.
        """
        found: list[Source] = []
        linked: set[bytes] = set()
        for folder in reachable:
            known = (
                source
                for source in known_below(self._store, folder)
                if os.fsdecode(source.path) not in lost.present
            )
            away = (one for one in known if is_gone(one.path) and not lost.has_other_form(one.path))
            behind = {one: lost.link_away(one.path) for one in away}
            missing = [source for source, link in behind.items() if link is None]
            linked |= {link for link in behind.values() if link is not None}
            gone = [one for one in missing if not lost.may_be_unmounted(one.path)]
            self._log_unmounted(folder, len(missing) - len(gone))
            found += gone
        now = time.monotonic()
        self._missed = {one.path: self._missed.get(one.path, now) for one in found}
        self._log_linked(linked)
        return found

    def missed_before(self, gone: Iterable[Source], moment: float) -> list[Source]:
        """Return those of the files from ``find`` that were first missed before ``moment``."""
        return [one for one in gone if self._missed[one.path] < moment]

    def remove(self, gone: list[Source], lost: LostFiles) -> set[str]:
        """Remove the maps of lost files; return the files that these turned out to be now.

        The store keeps the maps for a while, because a file may be missing for a moment only.
        """
        unpublished = {one.path: one for one in self._unpublished(gone)}
        # These first, so that they do not count as copies of the others.
        count = self._remove_sources([one.path for one in gone if one.path not in unpublished])
        moved = self._adopt_copies(unpublished.values(), lost.present)
        count += self._remove_sources([path for path in unpublished if path not in moved])
        if len(gone) > len(moved):
            whose = noun(count, "map whose file is", "maps whose files are")
            log.info("removed %d %s gone", count, whose)
        return set(moved.values())

    def _remove_sources(self, paths: list[bytes]) -> int:
        pages = [paths[i : i + PAGE_SIZE] for i in range(0, len(paths), PAGE_SIZE)]
        return sum(map(self._store.remove_sources, pages))

    def _adopt_copies(self, gone: Iterable[Source], present: Collection[str]) -> dict[bytes, str]:
        """Give the maps of files that were copied, and then deleted, to the copies.

        Synchronizing programs, and moving files to another disk, do that. Returns the paths of the
        copies by those of the files.
        """
        copies: dict[bytes, LikelyFiles] = {}
        others: dict[bytes, bool] = {}
        moved: dict[bytes, str] = {}
        for missing in gone:
            if missing.digest not in copies:
                equal = self._store.sources_of(missing.digest)
                others[missing.digest] = len(equal) > 1  # perhaps in folders of other processes
                there = (one for one in equal if os.fsdecode(one.path) in present)
                copies[missing.digest] = LikelyFiles(sorted(there, key=lambda one: one.is_gone))
            left = copies[missing.digest]
            likely = {one.path: one for one in left.nearest_few(missing)}
            unread = [replace(one, modified=UNREAD) for one in likely.values()]
            found = self._store.adopt_copy(missing, unread) if others[missing.digest] else None
            if found:
                moved[missing.path] = os.fsdecode(found.path)
                left.drop(likely[found.path])
        return moved

    def _unpublished(self, gone: list[Source]) -> Iterator[Source]:
        """Yield those whose maps are not published, and note them: files may be theirs, moved."""
        for start in range(0, len(gone), PAGE_SIZE):
            page = gone[start : start + PAGE_SIZE]
            unpublished = self._store.unpublished_sources([one.path for one in page])
            noted = [one for one in page if one.path in unpublished]
            if noted:
                self._store.note_lost(noted)
            yield from noted

    def _log_unmounted(self, folder: Path, kept: int) -> None:
        """Log how many maps are kept although their files are missing: once until they are back."""
        if not kept:
            self._logged.discard(folder)
        elif folder not in self._logged:
            self._logged.add(folder)
            log.warning(
                "%d %s in %s %s missing; keeping %s, because a disk may be unmounted",
                kept,
                noun(kept, "file"),
                printable(str(folder)),
                noun(kept, "is", "are"),
                noun(kept, "its map", "their maps"),
            )

    def _log_linked(self, linked: set[bytes]) -> None:
        """Log the files and folders that are links now: once until they are not."""
        for link in sorted(linked - self._linked):
            log.warning(
                "%s is a symbolic link now, which is not followed; its maps stay as they are",
                printable(link),
            )
        self._linked = linked


def known_below(store: Sources, folder: Path) -> Iterator[Source]:
    """Yield all sources in the store that are in ``folder``."""
    prefix, after = os.fsencode(folder), b""
    while page := store.sources_below(prefix, after, PAGE_SIZE):
        yield from page
        after = page[-1].path
