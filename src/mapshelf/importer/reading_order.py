"""The order in which files are read: first those that say whether others may be published.

A copy of a file whose map is not published is recognised by its content, which the store must know:
the file may have been changed just before it was copied. The same is true of a copy of a conflict
copy.
"""

import os
from collections.abc import Callable, Collection, Sequence
from typing import Final

from mapshelf.importer.scan import Candidate
from mapshelf.store.contract import Sources

LOOKUP_SIZE: Final = 500
"""Files looked up in the store at a time."""


def in_reading_order(
    candidates: Sequence[Candidate],
    store: Sources,
    originals: Callable[[str], list[str]],
    moved: Collection[str],
) -> list[list[Candidate]]:
    """Return the files in groups, none empty, to be read and stored one after the other.

    1. files whose maps are not published, and files that may be such ones: in their places, or with
       their names,
    2. conflict copies of such files,
    3. other files,
    4. other conflict copies.

    ``originals`` returns the paths of which a file may be a conflict copy, ``moved`` are the paths
    of files that may be unpublished ones because of their names. In each group, files
    keep their order, but copies come after their originals, which may be copies themselves.
    """
    copied = {one.path: found for one in candidates if (found := originals(one.path))}
    paths = {one.path for one in candidates}.union(*copied.values())
    hidden = _unpublished(paths, store).union(moved)
    groups: list[list[Candidate]] = [[], [], [], []]
    for one in candidates:
        found = copied.get(one.path, [])
        if one.path in hidden:
            groups[0].append(one)
        elif not found:
            groups[2].append(one)
        else:
            groups[3 if hidden.isdisjoint(found) else 1].append(one)
    for number in (1, 3):
        # The name of a copy is longer than that of its original.
        groups[number].sort(key=lambda one: len(one.path))
    return [group for group in groups if group]


def _unpublished(paths: Collection[str], store: Sources) -> set[str]:
    """Return those of ``paths`` whose maps are not published, or would not be if they were new.

    Their files may be missing, or at other places by now.
    """
    encoded, found = list(map(os.fsencode, paths)), set[str]()
    for start in range(0, len(encoded), LOOKUP_SIZE):
        some = encoded[start : start + LOOKUP_SIZE]
        found.update(map(os.fsdecode, store.unpublished_sources(some, missing=True)))
        found.update(map(os.fsdecode, store.unpublished_places(some)))
    return found
