"""Follow a folder that is at another place than it was when it was last served.

Sources have canonical paths. An operator may move a folder to another disk and leave a symbolic
link in its place, or serve a link that leads to another folder with each deployment. Then the files
have other paths from then on, although the folder is given as before. Their maps would still be
recognised by their contents, but not if a file has changed since: it would be a new map, published,
whatever its owner had set.
"""

import os
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Final, Protocol

from mapshelf.importer.documents import in_present_form
from mapshelf.importer.equal_files import UNREAD, UNREAD_SIZE
from mapshelf.importer.scan import is_gone, resolve_path
from mapshelf.model import MapDraft, Source, Visibility
from mapshelf.store.contract import Imports, MapWriter, Sources

PAGE_SIZE: Final = 1000
"""Sources requested from the store at a time."""


class FollowingStore(Imports, MapWriter, Sources, Protocol):
    """The store protocols that following folders needs."""


def follow(store: FollowingStore, folder: Path, served: Collection[str]) -> int:
    """Move the sources of a given folder to where it is now; return how many there were.

    ``served`` are the canonical paths of all folders that are served now. Files that are still in
    one of them keep their maps.

    Raises:
        StoreError: the store failed; earlier sources are moved, and the next call moves the others.
    """
    given = os.fsencode(os.path.abspath(folder))
    now, noted = os.fsencode(resolve_path(folder)), store.place_of(given)
    moved = sum(_move_all(store, former, now) for former in former_paths(folder))
    if noted is not None and noted != now:
        store.follow_former_places(noted, now)
        prefixes = tuple(os.path.join(os.fsencode(one), b"") for one in {*served, os.fsdecode(now)})
        pages = _pages(store, noted)
        moved += sum(_Switch(store, noted, now, prefixes).move(page) for page in pages)
    if noted != now:
        store.note_place(given, now)
    return moved


def former_paths(folder: Path) -> list[bytes]:
    """Return the canonical paths that a given folder had if some links in its path are new."""
    parts = Path(os.path.abspath(folder)).parts
    ends = range(len(parts))
    paths = (os.path.join(resolve_path(Path(*parts[:end])), *parts[end:]) for end in ends if end)
    now = resolve_path(folder)
    return [os.fsencode(path) for path in dict.fromkeys(paths) if path != now]


class _Switch:
    """A given path that leads to another folder than before."""

    def __init__(
        self, store: FollowingStore, former: bytes, now: bytes, served: tuple[bytes, ...]
    ) -> None:
        self._store = store
        self._former = former
        self._now = now
        self._served = served

    def move(self, sources: list[Source]) -> int:
        """Move sources to the place that the path leads to now; return how many there were.

        A file that is not there counts as missing, and may come back with another switch. Those
        that are still served where they were keep their maps. The files in the other folder
        are new, but not published if these maps are not.
        """
        kept = [one for one in sources if self._is_served(one)]
        self._begin_private([one for one in kept if os.path.lexists(self._moved(one).path)])
        others = {one.path for one in sources} - {one.path for one in kept}
        return sum(self._move(one) for one in sources if one.path in others)

    def _is_served(self, source: Source) -> bool:
        """Return whether a file is, or may be, still in a folder that is served."""
        if not source.path.startswith(self._served):
            return False
        return not _is_missing(source) or not os.path.lexists(self._moved(source).path)

    def _move(self, source: Source) -> bool:
        # If the new path has a map already, the former one stays as it is.
        return self._store.move_source(source.path, self._moved(source))

    def _begin_private(self, sources: list[Source]) -> None:
        unpublished = self._store.unpublished_sources([one.path for one in sources])
        # As files that were not read yet, they are no copies that have changed.
        copies = [
            replace(self._moved(one), modified=UNREAD) for one in sources if one.path in unpublished
        ]
        known = self._store.sources([one.path for one in copies])
        drafts = [
            MapDraft(title=Path(one.name).name, source=one, visibility=Visibility.PRIVATE)
            for one in copies
            if one.path not in known
        ]
        if drafts:
            self._store.put_maps(drafts)

    def _moved(self, source: Source) -> Source:
        """Return what a source is in the new place, where its file may be another one."""
        path = self._now + source.path.removeprefix(self._former)
        return in_present_form(replace(source, path=path, size=UNREAD_SIZE))


def _is_missing(source: Source) -> bool:
    return source.is_gone or is_gone(source.path)


def _move_all(store: Sources, former: bytes, now: bytes) -> int:
    moved = 0
    store.follow_former_places(former, now)
    for source in chain.from_iterable(_pages(store, former)):
        path = now + source.path.removeprefix(former)
        # If the new path has a map already, the former one stays as it is.
        moved += store.move_source(source.path, replace(source, path=path))
    return moved


def _pages(store: Sources, folder: bytes) -> Iterator[list[Source]]:
    """Yield the sources below a folder, even missing ones, whose maps may come back."""
    after = b""
    while page := store.sources_below(folder, after, PAGE_SIZE, missing=True):
        after = page[-1].path
        yield page
