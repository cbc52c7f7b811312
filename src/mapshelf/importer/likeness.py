"""Tell files with one content apart: by the time of the last change, and by the end of the path.

Files are renamed, moved and copied while nobody looks. Programs keep the time of the last change
when they rename a file, and folders that are renamed or moved keep the names in them.
"""

import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import islice, takewhile
from operator import eq
from typing import Final

from mapshelf.model import Source

NAMES: Final = 4
"""Names at the end of a path by which files are told apart: its own, and those of folders."""

FEW: Final = 10
"""Files with one content that are looked at again for each new file with this content."""

_SEPARATOR: Final = os.sep.encode()


def may_be_another(source: Source, known: Source | None, lost: Iterable[tuple[bytes, int]]) -> bool:
    """Return whether a file may be one of those that are ``lost``, rather than ``known``.

    ``lost`` are their paths and times. ``known`` is the lost file that it is taken for, if any.
    """
    own = {source.path, known.path if known else source.path}
    others = [(path, modified) for path, modified in lost if path not in own]
    if not others or known is None or known.modified != source.modified:
        return bool(others)
    equal = [path for path, modified in others if modified < 0 or modified == source.modified]
    shared = _shared_names(source.path, known.path)
    # Its name alone does not tell: another file may have that now.
    return bool(equal) and (
        shared < 2 or any(_shared_names(source.path, path) >= shared for path in equal)
    )


def _shared_names(one: bytes, other: bytes) -> int:
    """Return how many names at the end of two paths are the same."""
    names = (reversed(path.split(_SEPARATOR)) for path in (one, other))
    return sum(1 for _ in takewhile(bool, map(eq, *names)))


def _keys_of(source: Source) -> tuple[object, ...]:
    """Return what a file and its former self may have in common, the most telling first."""
    names = tuple(source.path.split(_SEPARATOR)[-NAMES:])
    ends = [names[start:] for start in range(len(names))]
    return *((source.modified, end) for end in ends), source.modified, *ends


class LikelyFiles:
    """Files with one content, in the order in which one is recognised as another."""

    def __init__(self, sources: Iterable[Source]) -> None:
        # The first entry of a plain dictionary takes long to find after many were deleted.
        self._left = OrderedDict((one.path, one) for one in sources)
        self._like: dict[object, OrderedDict[bytes, Source]] = {}
        for path, one in self._left.items():
            for key in _keys_of(one):
                self._like.setdefault(key, OrderedDict())[path] = one

    def __iter__(self) -> Iterator[Source]:
        """Iterate over the files that are left."""
        return iter(self._left.values())

    def nearest(self, source: Source) -> Source | None:
        """Return the likeliest file that ``source`` may be."""
        some = next(filter(None, map(self._like.get, _keys_of(source))), self._left)
        return next(iter(some.values()), None)

    def nearest_few(self, source: Source) -> list[Source]:
        """Return up to ``FEW`` files, the likeliest that ``source`` may be first."""
        found: dict[bytes, Source] = {}
        for some in (*map(self._like.get, _keys_of(source)), self._left):
            found |= islice((some or {}).items(), FEW)
        return list(found.values())[:FEW]

    def drop(self, source: Source) -> None:
        """Remove a file that was taken, or is there again."""
        del self._left[source.path]
        for key in _keys_of(source):
            del self._like[key][source.path]
