"""Decide which new files may be versions of unpublished ones, although their content is new.

A conflict copy has a content of its own, and so has a file that was changed and moved at once. Only
their names tell where they may be from. If a changed file could not be read, for instance because
the system had too little memory for a moment, only its size tells which files may be its copies.
"""

import os

from mapshelf.importer.conflict_copies import ConflictCopies
from mapshelf.importer.lost_files import LostFiles
from mapshelf.importer.same_names import FoundFile, SameNames
from mapshelf.store.contract import Sources


class Originals:
    """The originals that the new files of one import may have."""

    def __init__(self, store: Sources, lost: LostFiles) -> None:
        self._store = store
        self._present = lost.present
        self._conflict_copies = ConflictCopies(lost.present)
        self._same_names = SameNames(store, lost)
        self._copies: dict[str, list[str]] = {}
        self._unknown: dict[str, FoundFile] = {}
        self._unread: dict[int, list[str]] = {}

    def of_conflict_copy(self, path: str) -> list[str]:
        """See ``ConflictCopies.originals``."""
        return self._conflict_copies.originals(path)

    def moved_among(self, found: dict[str, FoundFile]) -> set[str]:
        """See ``SameNames.moved_among``."""
        return self._same_names.moved_among(found)

    def note_copy(self, path: str, originals: list[str]) -> None:
        """Note of which files a new one may be a conflict copy."""
        self._copies[path] = [*originals]

    def note_unread(self, path: str, size: int) -> None:
        """Note a file of a map that could not be read, and its size in bytes."""
        self._unread.setdefault(size, []).append(path)

    def note_unknown(self, path: str, found: FoundFile, size: int) -> None:
        """Note a new file with a content that no file had, and its size in bytes."""
        self._unknown[path] = found
        if size in self._unread:
            self._copies.setdefault(path, []).extend(self._unread[size])

    def take_unpublished(self) -> set[str]:
        """Return those of the noted files that may be versions of unpublished ones; forget all.

        Raises:
            StoreError: the store failed.
        """
        found = {path for path, some in self._copies.items() if self._is_unpublished(some)}
        found |= self.moved_among(self._unknown)
        self._copies.clear()
        self._unknown.clear()
        return found

    def _is_unpublished(self, originals: list[str]) -> bool:
        """Return whether the map of any of these is not published, or cannot be told."""
        paths = list(map(os.fsencode, originals))
        if self._store.unpublished_sources(paths, missing=True):
            return True
        known = self._store.sources(paths)
        left = [one for one in paths if one not in known or known[one].is_gone]
        if any(self._is_there(os.fsdecode(one)) for one in left):
            return True
        return bool(self._store.unpublished_places(left))

    def _is_there(self, path: str) -> bool:
        """Return whether there is a file, even one that a scan leaves out, such as an empty one."""
        return path in self._present or os.path.lexists(path)
