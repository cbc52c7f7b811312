"""Follow a folder that was moved while a symbolic link was left in its place.

Sources have canonical paths. If an operator moves a folder to another disk and puts a link in its
place, its files have other paths from then on, although the folder is given as before. Their maps
would still be recognised by their contents, but not if a file has changed since: it would be a new
map, published, whatever its owner had set.
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import Final

from mapshelf.importer.scan import resolve_path
from mapshelf.store.contract import Sources

PAGE_SIZE: Final = 1000
"""Sources requested from the store at a time."""


def follow_link(store: Sources, folder: Path) -> int:
    """Move the sources of a given folder to where it is now; return how many there were.

    Raises:
        StoreError: the store failed; earlier sources are moved.
    """
    now = resolve_path(folder)
    return sum(_move(store, former, os.fsencode(now)) for former in former_paths(folder))


def former_paths(folder: Path) -> list[bytes]:
    """Return the canonical paths that a given folder had if some links in its path are new."""
    parts = Path(os.path.abspath(folder)).parts
    ends = range(len(parts))
    paths = (os.path.join(resolve_path(Path(*parts[:end])), *parts[end:]) for end in ends if end)
    now = resolve_path(folder)
    return [os.fsencode(path) for path in dict.fromkeys(paths) if path != now]


def _move(store: Sources, former: bytes, now: bytes) -> int:
    moved, after = 0, b""
    while page := store.sources_below(former, after, PAGE_SIZE):
        after = page[-1].path
        for source in page:
            path = now + source.path.removeprefix(former)
            # If the new path has a map already, the former one stays as it is.
            moved += store.move_source(source.path, replace(source, path=path))
    return moved
