"""Find out which of the files with one content are gone, at a bounded cost per file.

Anybody who may write to a folder can put many equal files into it. If each of them, when it is
read, made the importer look at all others, everybody else's files would wait for that. So files
with a content that many have are looked at once in an import, and what is taken is remembered.

Which of several equal files a new one is, is a guess: by the time of the last change, and by the
end of the path. A wrong guess must not show anybody what will be written into a private file. So if
a private one was lost, a file that is not certainly another one is not published (``guesses``).
"""

import os
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice
from typing import Final

from mapshelf.importer.guesses import keys_of
from mapshelf.importer.lost_files import LostFiles
from mapshelf.importer.scan import is_gone
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
        some = list(equal.lost(folder))
        if folder not in equal.noted:
            self._note_lost(source.digest, chain(equal.absent, *some))
            equal.noted.add(folder)
        # A file that was missing comes back, if no other has been moved to its place.
        for lost in some[:1] if there else some:
            while known := lost.nearest(source):
                if self._lost.is_lost(known.path):
                    if there and self._is_less_private(known, there):
                        return None
                    if self._lost.guesses.is_rather_another(source, known):
                        return None
                    if self._store.move_source(known.path, moved):
                        lost.drop(known)
                        return known
                    if self._is_taken(source.path):
                        return None
                lost.drop(known)
        return None

    def is_uncertain(self, source: Source, known: Source | None) -> bool:
        """Return whether a file may be a lost one that is not published, other than ``known``.

        ``known`` is what ``move_renamed`` returned.
        """
        return self._lost.guesses.may_be_private(source, known)

    def _note_lost(self, digest: bytes, lost: Iterable[Source]) -> None:
        new = self._lost.guesses.unknown(digest, lost)
        if new:
            paths = [one.path for one in new]
            unpublished = self._store.unpublished_sources(paths, missing=True)
            self._lost.guesses.add(digest, new, unpublished)

    def _is_less_private(self, known: Source, there: Source) -> bool:
        """Return whether one file has a published map, and another has not."""
        paths = [known.path, there.path]
        return self._store.unpublished_sources(paths, missing=True) == {there.path}

    def missing(self, source: Source, folder: str) -> list[Source]:
        """Return up to ``FEW`` files with this content that had been missing from ``folder``.

        Those that are most like ``source`` come first.

        Raises:
            StoreError: the store failed.
        """
        lost = self._equal_to(source.digest).missing_in(folder)
        return lost.nearest_few(source) if lost else []

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
        unread: those that were missing or not read yet, by path.
        absent: those that were there until now, even if a disk may be disconnected.
        moved: those of them that are lost.
        noted: the folders in which those that are lost have been noted (``guesses``).
    """

    def __init__(self, sources: list[Source], absent: list[Source], lost: LostFiles) -> None:
        self.unread = {one.path: one for one in sources if one.is_gone or one.modified == UNREAD}
        self._files = lost
        self._away = [one for one in absent if not one.is_gone]
        self.noted: set[str] = set()
        self.absent = [one for one in self._away[:MOST_GONE] if is_gone(one.path)]
        self.moved = LikelyFiles(self._lost_among(self.absent))
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


class LikelyFiles:
    """Files with one content, in the order in which one is recognised as another."""

    def __init__(self, sources: Iterable[Source]) -> None:
        # The first entry of a plain dictionary takes long to find after many were deleted.
        self._left = OrderedDict((one.path, one) for one in sources)
        self._like: dict[object, OrderedDict[bytes, Source]] = {}
        for path, one in self._left.items():
            for key in keys_of(one):
                self._like.setdefault(key, OrderedDict())[path] = one

    def __iter__(self) -> Iterator[Source]:
        """Iterate over the files that are left."""
        return iter(self._left.values())

    def nearest(self, source: Source) -> Source | None:
        """Return the likeliest file that ``source`` may be; see ``guesses``."""
        some = next(filter(None, map(self._like.get, keys_of(source))), self._left)
        return next(iter(some.values()), None)

    def nearest_few(self, source: Source) -> list[Source]:
        """Return up to ``FEW`` files, the likeliest that ``source`` may be first."""
        found: dict[bytes, Source] = {}
        for some in (*map(self._like.get, keys_of(source)), self._left):
            found |= islice((some or {}).items(), FEW)
        return list(found.values())[:FEW]

    def drop(self, source: Source) -> None:
        """Remove a file that was taken, or is there again."""
        del self._left[source.path]
        for key in keys_of(source):
            del self._like[key][source.path]
