"""Tell files with one content apart, and remember where that was not certain.

Files are renamed and copied while nobody looks, so it is a guess which of several lost files a new
one is. Programs keep the time of the last change when they rename a file, and folders that are
renamed or moved keep the names in them. What was lost is remembered for a while, because the files
of one move may be found one after the other: those that were just written are read later.
"""

import os
from collections import Counter
from collections.abc import Iterable
from time import monotonic
from typing import Final

from mapshelf.model import Source

NAMES: Final = 4
"""Names at the end of a path by which files are told apart: its own, and those of folders."""

REMEMBERED: Final = 10.0
"""Seconds for which lost files are remembered after the last one with this content."""


def keys_of(source: Source) -> tuple[object, ...]:
    """Return what a file and its former self may have in common, the most telling first."""
    names = tuple(source.path.split(os.sep.encode())[-NAMES:])
    ends = [names[start:] for start in range(len(names))]
    return *_telling_keys(source.modified, ends), *ends


def _telling_keys(modified: int, ends: Iterable[object]) -> tuple[object, ...]:
    return *((modified, end) for end in ends), modified


class Guesses:
    """The files that were lost lately, by content."""

    def __init__(self) -> None:
        self._lost: dict[bytes, _Lost] = {}

    def unknown(self, digest: bytes, sources: Iterable[Source]) -> list[Source]:
        """Return those of some lost files that are not remembered yet, each once."""
        known = self._lost.get(digest)
        paths = known.paths if known else set[bytes]()
        return list({one.path: one for one in sources if one.path not in paths}.values())

    def add(self, digest: bytes, sources: list[Source], unpublished: set[bytes]) -> None:
        """Remember lost files; ``unpublished`` are the paths of those that are not published."""
        self._lost.setdefault(digest, _Lost()).add(sources, unpublished)

    def may_be_private(self, source: Source, known: Source | None) -> bool:
        """Return whether a file may be a lost one that is not published, other than ``known``.

        ``known`` is the lost file that it is taken for, if any.
        """
        lost = self._lost.get(source.digest)
        if lost is None or lost.private <= {known.path if known else b""}:
            return False
        return known is None or not lost.is_certain(source, known)

    def is_rather_another(self, source: Source, known: Source) -> bool:
        """Return whether a file has the time of an unpublished one, but not that of ``known``.

        The unpublished file may be on a disk that is disconnected: then it does not count as lost.
        """
        lost = self._lost.get(source.digest)
        return (
            lost is not None
            and source.modified != known.modified
            and source.modified in lost.private_times
        )

    def forget_old(self) -> None:
        """Forget files that were lost some time ago."""
        recent = monotonic() - REMEMBERED
        self._lost = {digest: one for digest, one in self._lost.items() if one.since >= recent}


class _Lost:
    """The lost files with one content.

    Attributes:
        paths: their paths.
        private: the paths of those that are not published.
        private_times: the times of their last changes.
        since: when the last one was lost, a time of ``monotonic``.
    """

    def __init__(self) -> None:
        self.paths: set[bytes] = set()
        self.private: set[bytes] = set()
        self.private_times: set[int] = set()
        self.since = monotonic()
        self._counts: Counter[object] = Counter()

    def add(self, sources: list[Source], unpublished: set[bytes]) -> None:
        self.paths.update(one.path for one in sources)
        self.private |= unpublished
        self.private_times.update(one.modified for one in sources if one.path in unpublished)
        self.since = monotonic()
        for one in sources:
            self._counts.update(keys_of(one))

    def is_certain(self, source: Source, known: Source) -> bool:
        """Return whether the time and path of a file tell that it is ``known``, and no other.

        Its name alone does not: another file may have that now.
        """
        if source.modified != known.modified:
            return False
        shared = set(keys_of(known)).intersection(keys_of(source))
        key = next(key for key in keys_of(source) if key in shared)
        by_folder = key != (source.modified, (os.path.basename(source.path),))
        return self._counts[key if by_folder else source.modified] == 1
