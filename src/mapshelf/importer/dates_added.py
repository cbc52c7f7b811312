"""Determine when maps were added to the catalogue (``DateAdded``).

For files found by the first import of a folder, that is unknown: the date in the file is used, or
else its modification time. Files that arrive later are added now, however old they are, so that
they are listed among the newest. An interrupted first import continues as the first one.
"""

import os

from mapshelf.clock import milliseconds
from mapshelf.importer.scan import storable_time
from mapshelf.readers.sandboxed_reader import ReadFile
from mapshelf.store.contract import Imports, Sources


class DatesAdded:
    """The maps that one import adds."""

    def __init__(self, store: Imports, sources: Sources) -> None:
        self._store = store
        self._sources = sources
        self._first: dict[str, bool] = {}

    def date_of(self, found: ReadFile, folder: str) -> int | None:
        """Return the date of a new map in milliseconds since 1970-01-01 UTC, ``None`` for now.

        Args:
            found: its file.
            folder: the folder or archive given by the operator, empty if the file itself was given.
        """
        if not self.is_first(folder):
            return None
        dated = found.dated
        if dated is None:
            dated = storable_time(found.modified_ns) // 1_000_000
        return min(dated, milliseconds())

    def is_first(self, folder: str) -> bool:
        """Return whether this is the first import of a folder, or continues it.

        ``folder`` is that of ``date_of``.

        Raises:
            StoreError: the store failed.
        """
        if not folder:
            return False
        first = self._first.get(folder)
        if first is None:
            path = os.fsencode(folder)
            known = bool(self._sources.sources_below(path, b"", 1))
            first = self._first[folder] = self._store.begin_import(path, has_maps=known)
        return first

    def finish(self, *folders: str) -> None:
        """Record that the first import of these folders, and of all queried ones, is complete.

        Raises:
            StoreError: the store failed.
        """
        for folder in {*self._first, *folders}:
            self._store.finish_import(os.fsencode(folder))
        self._first.clear()
