"""Find out which of the files with one content are gone or unchanged, at a bounded cost per file.

Anybody who may write to a folder can put many equal files into it. If each of them, when it is
read, made the importer look at all others, everybody else's files would wait for that. So files
with a content that many have are looked at once in an import, and what is taken is remembered.
"""

import os
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice
from typing import Final

from mapshelf.importer.lost_files import LostFiles
from mapshelf.importer.scan import is_gone, storable_time
from mapshelf.model import Source
from mapshelf.store.contract import Sources

UNREAD: Final = -1
"""Modification time of a source whose file must be read again: no file has it."""

UNREAD_SIZE: Final = -1
"""Size of a known source whose file took the place of another one: no file has it."""

FEW: Final = 10
"""Files with one content that are looked at again for each new file with this content."""

MOST_GONE: Final = 10_000
"""Files with one content of which an import finds out whether they are lost."""

MOST_ORIGINALS: Final = 1000
"""Files looked at for the one that a changed file was a copy of."""


class EqualFiles:
    """The files with the contents that one import meets.

    ``lost`` decides which of them are lost: of a content that many files have, only those that are
    not known to be present can be.
    """

    def __init__(self, store: Sources, lost: LostFiles) -> None:
        self._store = store
        self._lost = lost
        self._equal: dict[bytes, _Equal] = {}
        self._latest: tuple[bytes, _Equal] | None = None
        self._originals: dict[bytes, list[Source]] = {}
        self._unchanged: dict[bytes, frozenset[bytes]] = {}

    def move_renamed(self, source: Source, folder: str) -> bool:
        """If ``source`` is a known file under a new name, move its map; return whether it is.

        It counts as unread until it is written: if this process ends first, the file is read again.
        A file that had been missing before only comes back in the same ``folder``, so that a
        similar file elsewhere does not get its map.

        Raises:
            StoreError: the store failed.
        """
        equal = self._equal_to(source.digest)
        if source.path in equal.unread:
            return False
        moved, name = replace(source, modified=UNREAD), os.path.basename(source.path)
        for lost in equal.lost(folder):
            while known := lost.nearest(name):
                if self._lost.is_lost(known.path):
                    if self._store.move_source(known.path, moved):
                        lost.drop(known)
                        return True
                    if self._is_taken(source.path):
                        return False
                lost.drop(known)
        return False

    def missing(self, source: Source, folder: str) -> list[Source]:
        """Return up to ``FEW`` files with this content that had been missing from ``folder``.

        Those with the name of ``source`` come first.

        Raises:
            StoreError: the store failed.
        """
        lost = self._equal_to(source.digest).missing_in(folder)
        return lost.nearest_few(os.path.basename(source.path)) if lost else []

    def mount_points(self, digest: bytes) -> frozenset[bytes]:
        """Return up to ``FEW`` folders to which files with this content may come back with a disk.

        A new file may be a copy of one of these, although they are in no folder that is imported.

        Raises:
            StoreError: the store failed.
        """
        latest = self._latest
        known = latest[1] if latest and latest[0] == digest else self._equal_to(digest)
        return known.mount_points

    def unchanged(self, digest: bytes) -> frozenset[bytes]:
        """Return the files that have this content and have not changed since they were read.

        It may be what was true at the last ``forget_unchanged``. At most ``MOST_ORIGINALS`` files
        are looked at.

        Raises:
            StoreError: the store failed.
        """
        if digest not in self._unchanged:
            if digest not in self._originals:
                self._originals[digest] = self._store.sources_of(digest)[: MOST_ORIGINALS + 1]
            some = self._originals[digest]
            self._unchanged[digest] = frozenset(one.path for one in some if _is_unchanged(one))
        return self._unchanged[digest]

    def forget_unchanged(self) -> None:
        """Look again at files that were unchanged, because that may be some time ago."""
        self._unchanged.clear()

    def _equal_to(self, digest: bytes) -> "_Equal":
        known = self._equal.get(digest)
        if known is None:
            sources = self._store.sources_of(digest)
            absent = sources
            if len(sources) > FEW:
                absent = [one for one in sources if os.fsdecode(one.path) not in self._lost.present]
            known = _Equal(sources, absent, self._lost)
            if len(sources) > FEW:
                self._equal[digest] = known
        self._latest = (digest, known)
        return known

    def _is_taken(self, path: bytes) -> bool:
        source = self._store.sources([path]).get(path)
        return source is not None and not source.is_gone


class _Equal:
    """The files with one content that are not where the store knows them.

    Attributes:
        unread: the paths of those that were missing or not read yet.
    """

    def __init__(self, sources: list[Source], absent: list[Source], lost: LostFiles) -> None:
        self.unread = {one.path for one in sources if one.is_gone or one.modified == UNREAD}
        self._files = lost
        self._away = [one for one in absent if not one.is_gone]
        self._moved = self._lost_among(self._away)
        self._missing = [one for one in absent if one.is_gone]
        self._missing_in: dict[str, FilesByName] = {}

    def lost(self, folder: str) -> "Iterator[FilesByName]":
        """Yield the files that one in ``folder`` may be, the likeliest first."""
        yield self._moved
        if missing := self.missing_in(folder):
            yield missing

    @cached_property
    def mount_points(self) -> frozenset[bytes]:
        """See ``EqualFiles``."""
        # A file that is there is in a folder that is not empty.
        points = (self._files.mount_point(one.path) for one in self._away[:MOST_GONE])
        return frozenset(islice(dict.fromkeys(filter(None, points)), FEW))

    def missing_in(self, folder: str) -> "FilesByName | None":
        """Return the files that had been missing from ``folder``, ``None`` if there are none."""
        if not folder or not self._missing:
            return None
        if folder not in self._missing_in:
            prefix = os.path.join(os.fsencode(folder), b"")
            paths = [one.path for one in self._missing]
            # "0" is the character after the slash: all paths below the folder lie in between.
            first, end = (bisect_left(paths, key) for key in (prefix, prefix[:-1] + b"0"))
            self._missing_in[folder] = self._lost_among(self._missing[first:end])
        return self._missing_in[folder]

    def _lost_among(self, sources: Iterable[Source]) -> "FilesByName":
        some = islice(sources, MOST_GONE)
        return FilesByName(one for one in some if self._files.is_lost(one.path))


class FilesByName:
    """Files with one content, in the order in which one is recognised as another."""

    def __init__(self, sources: Iterable[Source]) -> None:
        # The first entry of a plain dictionary takes long to find after many were deleted.
        self._left = OrderedDict((one.path, one) for one in sources)
        self._named: dict[bytes, OrderedDict[bytes, Source]] = {}
        for path, one in self._left.items():
            self._named.setdefault(os.path.basename(path), OrderedDict())[path] = one

    def nearest(self, name: bytes) -> Source | None:
        """Return the first file with this name, or else the first of all."""
        some = self._named.get(name) or self._left
        return next(iter(some.values()), None)

    def nearest_few(self, name: bytes) -> list[Source]:
        """Return the first ``FEW`` files: those with this name before all others."""
        named = self._named.get(name, OrderedDict())
        others = (one for path, one in self._left.items() if path not in named)
        return list(islice(chain(named.values(), others), FEW))

    def drop(self, source: Source) -> None:
        """Remove a file that was taken, or is there again."""
        del self._left[source.path]
        del self._named[os.path.basename(source.path)][source.path]


def _is_unchanged(source: Source) -> bool:
    """Return whether a file is certainly still there, with the content it had."""
    if source.is_gone or is_gone(source.path):
        return False
    try:
        status = os.lstat(source.path)
    except OSError:
        return False
    return (status.st_size, storable_time(status.st_mtime_ns)) == (source.size, source.modified)
