"""Find out which of the files with one content are gone, at a bounded cost per file.

Anybody who may write to a folder can put many equal files into it. If each of them, when it is
read, made the importer look at all others, everybody else's files would wait for that. So files
with a content that many have are looked at once in an import, and what is taken is remembered.

Which of several equal files a new one is, is a guess. The time of the last change tells most of
them apart. If it does not, a wrong guess must not show anybody what will be written into a private
file: of several files that may be meant, the one that is not published is taken first, and what is
not certainly another file is not published either.
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
        self._private: dict[bytes, _Private] = {}

    def move_renamed(self, source: Source, folder: str) -> Source | None:
        """If ``source`` is a known file under a new name, move its map; return what it was.

        It counts as unread until it is written: if this process ends first, the file is read again.
        A file that had been missing before only comes back in the same ``folder``, so that a
        similar file elsewhere does not get its map.

        Raises:
            StoreError: the store failed.
        """
        equal = self._equal_to(source.digest)
        there = equal.unread.get(source.path)
        if there is not None and not there.is_gone:
            return None
        moved = replace(source, modified=UNREAD)
        # A file that was missing comes back, if no other has been moved to its place.
        for lost in (equal.moved,) if there else equal.lost(folder):
            while known := lost.nearest(source):
                if self._lost.is_lost(known.path):
                    if not self._may_be(source, known, there):
                        break
                    if self._store.move_source(known.path, moved):
                        lost.drop(known)
                        return known
                    if self._is_taken(source.path):
                        return None
                lost.drop(known)
        return None

    def places(self, digest: bytes) -> tuple[bytes, ...]:
        """Return up to ``FEW`` places of unpublished files with this content that were lost.

        A new file may be one of these, even if another was taken for it.
        """
        private = self._private.get(digest)
        return tuple(islice(private.paths, FEW)) if private else ()

    def _may_be(self, source: Source, known: Source, there: Source | None) -> bool:
        """Return whether a new file may get the map of a lost one, the likeliest.

        If that is published, it must not be any other that is not.
        """
        private = self._private.get(source.digest)
        if private and known.path in private.paths:
            return True
        if there and self._store.unpublished_sources([there.path], missing=True):
            return False
        return private is None or private.is_another(source, known)

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

    def _equal_to(self, digest: bytes) -> "_Equal":
        known = self._equal.get(digest)
        if known is None:
            sources = self._store.sources_of(digest)
            absent = sources
            if len(sources) > FEW:
                absent = [one for one in sources if os.fsdecode(one.path) not in self._lost.present]
            known = _Equal(sources, absent, self._lost, self._store)
            if known.private:
                self._private.setdefault(digest, _Private()).add(known.private)
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
        unread: those that were missing or not read yet, by path.
        moved: those that were there until now.
        private: those of these whose maps are not published.
    """

    def __init__(
        self, sources: list[Source], absent: list[Source], lost: LostFiles, store: Sources
    ) -> None:
        self.unread = {one.path: one for one in sources if one.is_gone or one.modified == UNREAD}
        self._files = lost
        self._away = [one for one in absent if not one.is_gone]
        gone = self._lost_among(self._away)
        unpublished = store.unpublished_sources([one.path for one in gone]) if gone else set()
        self.private = [one for one in gone if one.path in unpublished]
        self.moved = LikelyFiles(sorted(gone, key=lambda one: one.path not in unpublished))
        self._missing = [one for one in absent if one.is_gone]
        self._missing_in: dict[str, LikelyFiles] = {}

    def lost(self, folder: str) -> "Iterator[LikelyFiles]":
        """Yield the files that one in ``folder`` may be, the likeliest first."""
        yield self.moved
        if missing := self.missing_in(folder):
            yield missing

    @cached_property
    def mount_points(self) -> frozenset[bytes]:
        """See ``EqualFiles``."""
        # A file that is there is in a folder that is not empty.
        points = (self._files.mount_point(one.path) for one in self._away[:MOST_GONE])
        return frozenset(islice(dict.fromkeys(filter(None, points)), FEW))

    def missing_in(self, folder: str) -> "LikelyFiles | None":
        """Return the files that had been missing from ``folder``, ``None`` if there are none."""
        if not folder or not self._missing:
            return None
        if folder not in self._missing_in:
            prefix = os.path.join(os.fsencode(folder), b"")
            paths = [one.path for one in self._missing]
            # "0" is the character after the slash: all paths below the folder lie in between.
            first, end = (bisect_left(paths, key) for key in (prefix, prefix[:-1] + b"0"))
            self._missing_in[folder] = LikelyFiles(self._lost_among(self._missing[first:end]))
        return self._missing_in[folder]

    def _lost_among(self, sources: Iterable[Source]) -> list[Source]:
        some = islice(sources, MOST_GONE)
        return [one for one in some if self._files.is_lost(one.path)]


class _Private:
    """The unpublished files with one content that were lost in this import.

    Attributes:
        paths: their paths, as keys.
    """

    def __init__(self) -> None:
        self.paths: dict[bytes, None] = {}
        self._keys: set[object] = set()

    def add(self, sources: list[Source]) -> None:
        """Add some files."""
        self.paths.update((one.path, None) for one in sources)
        self._keys.update(key for one in sources for key in _telling_keys(one))

    def is_another(self, source: Source, known: Source) -> bool:
        """Return whether ``source`` certainly is ``known``, and none of these files."""
        shared = set(_telling_keys(source)).intersection(_telling_keys(known))
        return not shared <= self._keys


class LikelyFiles:
    """Files with one content, in the order in which one is recognised as another."""

    def __init__(self, sources: Iterable[Source]) -> None:
        # The first entry of a plain dictionary takes long to find after many were deleted.
        self._left = OrderedDict((one.path, one) for one in sources)
        self._like: dict[object, OrderedDict[bytes, Source]] = {}
        for path, one in self._left.items():
            for key in _keys(one):
                self._like.setdefault(key, OrderedDict())[path] = one

    def nearest(self, source: Source) -> Source | None:
        """Return the likeliest file that ``source`` may be.

        That is the first with its time and its name, with its time, with its name, or of all.
        """
        some = next(filter(None, map(self._like.get, _keys(source))), self._left)
        return next(iter(some.values()), None)

    def nearest_few(self, name: bytes) -> list[Source]:
        """Return the first ``FEW`` files: those with this name before all others."""
        named = self._like.get(name, OrderedDict())
        others = (one for path, one in self._left.items() if path not in named)
        return list(islice(chain(named.values(), others), FEW))

    def drop(self, source: Source) -> None:
        """Remove a file that was taken, or is there again."""
        del self._left[source.path]
        for key in _keys(source):
            del self._like[key][source.path]


def _keys(source: Source) -> tuple[object, ...]:
    """Return what a file and its former self have in common, the most telling first."""
    return *_telling_keys(source), os.path.basename(source.path)


def _telling_keys(source: Source) -> tuple[object, object]:
    return (source.modified, os.path.basename(source.path)), source.modified
