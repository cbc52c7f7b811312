"""Find out which of the files with one content are gone, at a bounded cost per file.

Anybody who may write to a folder can put many equal files into it. If each of them, when it is
read, made the importer look at all others, everybody else's files would wait for that. So files
with a content that many have are looked at once in an import, and what is taken is remembered.

Which of several equal files a new one is, is a guess (``likeness``). A wrong guess must not show
anybody what will be written into a private file. So if a private one was lost within the last hour,
a file that is not certainly another one is not published. The store remembers lost files.
"""

import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Final

from mapshelf.importer.conflict_copies import is_conflict_copy
from mapshelf.importer.likeness import FEW, LikelyFiles, may_be_another
from mapshelf.importer.lost_files import LostFiles
from mapshelf.importer.scan import is_gone
from mapshelf.model import Source
from mapshelf.store.contract import Sources

UNREAD: Final = -1
"""Modification time of a source whose file must be read again: no file has it."""

UNREAD_SIZE: Final = -1
"""Size of a known source whose file took the place of another one: no file has it."""

MOST_LOST_FILES: Final = 100
"""Lost files with one content whose maps are not published, of which a new file is told apart."""

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
        self._noted: set[bytes] = set()
        self._latest: tuple[bytes, _Equal] | None = None

    def move_renamed(
        self, source: Source, folder: str, *, may_be_back: bool = False
    ) -> Source | None:
        """If ``source`` is a known file under a new name, move its map; return what it was.

        If it ``may_be_back``, a file at its path had been missing. A conflict copy of that does not
        bring its own map along: people resolve conflicts by deleting one version and renaming the
        other.

        It counts as unread until it is written: if this process ends first, the file is read again.
        A file that had been missing before only comes back in the same ``folder``, so that a
        similar file elsewhere does not get its map.

        Raises:
            StoreError: the store failed.
        """
        equal = self._equal_to(source.digest)
        self._note_lost(equal)
        there = equal.unread.get(source.path)
        if there is not None and not there.is_gone:
            return None
        moved = replace(source, modified=UNREAD)
        some = list(equal.lost(folder))
        # A file that was missing comes back, if no other has been moved to its place.
        for lost in some[:1] if there else some:
            while known := lost.nearest(source):
                if self._lost.is_lost(known.path):
                    if self._keeps_own_map(source, known, equal, may_be_back=may_be_back):
                        return None
                    uncertain = self.is_uncertain(source, known) or self._is_in_private_place(
                        source, known
                    )
                    if self._store.move_source(known.path, moved, uncertain=uncertain):
                        lost.drop(known)
                        return known
                    if self._is_taken(source.path):
                        return None
                lost.drop(known)
        return None

    def is_unknown(self, digest: bytes) -> bool:
        """Return whether no known file has this content."""
        return self._latest_equal(digest).is_empty

    def is_uncertain(self, source: Source, known: Source | None) -> bool:
        """Return whether a file may be a lost one that is not published, other than ``known``.

        ``known`` is what ``move_renamed`` returned. If the file was moved but not read yet, this
        was decided when its map was moved, and the file is remembered as a lost one itself.
        """
        equal = self._latest_equal(source.digest)
        there = equal.unread.get(source.path)
        if equal.is_empty or (there is not None and not there.is_gone):
            return False
        lost = self._store.lost_lately(source.digest, MOST_LOST_FILES)
        still = [one for one in lost if is_gone(one[0])]
        return len(lost) >= MOST_LOST_FILES or may_be_another(source, known, still)

    def _note_lost(self, equal: "_Equal") -> None:
        """Let the store remember those of the lost files whose maps are not published."""
        new = {one.path: one for one in equal.absent if one.path not in self._noted}
        if new:
            unpublished = self._store.unpublished_sources(list(new))
            if unpublished:
                self._store.note_lost([one for path, one in new.items() if path in unpublished])
            self._noted |= new.keys()

    def _keeps_own_map(
        self, source: Source, known: Source, equal: "_Equal", *, may_be_back: bool
    ) -> bool:
        """Return whether a file does not get the map of the lost file ``known``."""
        if may_be_back and is_conflict_copy(os.fsdecode(known.path), os.fsdecode(source.path)):
            return True
        if self._is_less_private(known, source):
            return True
        return known.is_gone and source.path not in equal.unread and self._may_be_copy(known, equal)

    def _is_less_private(self, known: Source, source: Source) -> bool:
        """Return whether ``known`` has a published map, and the former file of ``source`` has not.

        That is the file that was at the path of ``source`` and is missing.
        """
        paths = [known.path, source.path]
        return self._store.unpublished_sources(paths, missing=True) == {source.path}

    def _is_in_private_place(self, source: Source, known: Source) -> bool:
        """Return whether a file with a published map was moved to where new ones are private.

        One that had been missing comes back as it was.
        """
        if known.is_gone or self._store.unpublished_sources([known.path]):
            return False
        return bool(self._store.unpublished_places([source.path]))

    def _may_be_copy(self, known: Source, equal: "_Equal") -> bool:
        """Return whether a file may be a copy of one that is not published, as ``known`` is.

        If that is deleted then, it was moved: the file must be a new map to get that of the other.
        """
        if self._store.unpublished_sources([known.path], missing=True):
            return False
        if equal.has_unpublished is None:
            there = [one.path for one in equal.there]
            equal.has_unpublished = bool(self._store.unpublished_sources(there))
        return equal.has_unpublished

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
        return self._latest_equal(digest).mount_points

    def roots(self, source: Source) -> frozenset[bytes]:
        """Return up to ``FEW`` folders in which an equal file has the same path as this one in its.

        This one may be in a copy of one of these folders.

        Raises:
            StoreError: the store failed.
        """
        end = f"{os.sep}{source.name}"
        there = self._latest_equal(source.digest).there
        paths = (os.fsdecode(one.path) for one in there if one.name == source.name)
        roots = (one.removesuffix(end) for one in paths if one.endswith(end))
        return frozenset(map(os.fsencode, islice(dict.fromkeys(roots), FEW)))

    def _latest_equal(self, digest: bytes) -> "_Equal":
        latest = self._latest
        return latest[1] if latest and latest[0] == digest else self._equal_to(digest)

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
        there: those that were not missing.
        absent: those that were there until now, even if a disk may be disconnected.
        moved: those of them that are lost.
        has_unpublished: whether any that is there has a map that is not published, ``None`` before
            the store was asked.
        is_empty: whether no file is known with this content.
    """

    def __init__(self, sources: list[Source], absent: list[Source], lost: LostFiles) -> None:
        self.unread = {one.path: one for one in sources if one.is_gone or one.modified == UNREAD}
        self.there = [one for one in sources[:MOST_GONE] if not one.is_gone]
        self._files = lost
        self._away = [one for one in absent if not one.is_gone]
        self.has_unpublished: bool | None = None
        self.is_empty = not sources
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
