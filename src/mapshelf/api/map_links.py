"""Resolves links between maps of the catalogue, in both directions.

The store finds links by the names of their target files (``store.contract.Links``), and
``formats.map_links`` decides which file each link means. Maps that are not in the snapshot are
ignored, so that no link points to a missing page. The location of a map, and whether another one
has the same name, only change with the catalogue, which makes a new snapshot; so results may be
cached with the snapshot.
"""

import os
from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from mapshelf.formats.map_links import (
    MOST_LINKS,
    FilesOfName,
    linked_name,
    linked_paths,
    name_of_file,
    spellings,
)
from mapshelf.model import MapFile, MapLink
from mapshelf.snapshot.read import Snapshot
from mapshelf.store.contract import Links

MOST_CHARACTERS: Final = 1 << 20
"""Maximum total length of the links to examine for one map, in characters."""

MOST_PLACES: Final = 10
"""Most files of one map from which its links are resolved. Nearly every map has one."""

MOST_ALIKE: Final = 50
"""Most files with one name to search for a different spelling of a link's path. If there are more,
the link must spell the path exactly."""


class LinkedMap(NamedTuple):
    """A map that is the target or the source of a link.

    Attributes:
        id: its public id.
        title: its title.
        topic: the topic that contains the link; empty for a target.
    """

    id: str
    title: str
    topic: str = ""


def linked_maps(store: Links, snapshot: Snapshot, file_id: int) -> dict[str, LinkedMap]:
    """Return the maps that the links of a map point to, by link.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    return _targets(store, snapshot, file_id, store.links_from(file_id))


def links_and_maps(
    store: Links, snapshot: Snapshot, file_id: int
) -> list[tuple[MapLink, LinkedMap | None]]:
    """Return the links of a map to files that may be maps, with the maps they point to.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    links = store.links_from(file_id)
    found = _targets(store, snapshot, file_id, links)
    return [(link, found.get(link.target)) for link in links]


def linking_maps(store: Links, snapshot: Snapshot, file_id: int, public_id: str) -> list[LinkedMap]:
    """Return the maps that link to a map, with the linking topics, in the order of the catalogue.

    At most ``MOST_LINKS`` links with the name of its file are examined, and ``MOST_CHARACTERS`` in
    them.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    own = store.paths_of([file_id]).get(file_id, [])
    names = {name_of_file(os.fsdecode(os.path.basename(path))) for path in own} - {""}
    links = store.links_to(names, MOST_LINKS, MOST_CHARACTERS) if names else []
    if not links:
        return []
    files = _NamedFiles(store, names)
    for path in own:
        files.add(MapFile(path, public_id))
    places = store.paths_of({link.file_id for link in links})
    titles = _Titles(snapshot)
    return [
        LinkedMap(link.map, title, link.topic)
        for link in links
        if files.meant(link.target, _texts(places.get(link.file_id, []))) == public_id
        and (title := titles.of(link.map)) is not None
    ]


def _targets(
    store: Links, snapshot: Snapshot, file_id: int, links: Iterable[MapLink]
) -> dict[str, LinkedMap]:
    names = {link.target: link.name for link in links}
    if not names:
        return {}
    own = _texts(store.paths_of([file_id]).get(file_id, []))
    files = _NamedFiles(store, set(names.values()))
    files.look_for(names, own)
    titles = _Titles(snapshot)
    found = ((target, files.meant(target, own)) for target in names)
    return {
        target: LinkedMap(public_id, title)
        for target, public_id in found
        if public_id and (title := titles.of(public_id)) is not None
    }


def _texts(paths: list[bytes]) -> list[str]:
    return [os.fsdecode(path) for path in paths[:MOST_PLACES]]


class _NamedFiles:
    """The files of the catalogue that have certain names."""

    def __init__(self, store: Links, names: Collection[str]) -> None:
        self._store = store
        self._files = {name: FilesOfName() for name in names}
        written = {spelling: name for name in names for spelling in spellings(name)}
        for spelling, some in store.files_named(list(written), MOST_ALIKE).items():
            named = self._files[written[spelling]]
            for file in some:
                named.add(os.fsdecode(file.path), file.map)
            named.complete &= len(some) < MOST_ALIKE

    def add(self, file: MapFile) -> None:
        """Add a file that may not be among them."""
        path = os.fsdecode(file.path)
        named = self._files.get(name_of_file(os.path.basename(path)))
        if named:
            named.add(path, file.map)

    def look_for(self, names: Mapping[str, str], places: list[str]) -> None:
        """Search the store by path for links whose names too many files share."""
        paths = {
            os.fsencode(path)
            for link, name in names.items()
            if not self._files[name].complete
            for path in linked_paths(link, places)
        }
        for file in self._store.files_at(paths) if paths else ():
            self.add(file)

    def meant(self, link: str, places: list[str]) -> str:
        """Return the map that a link means in a map with files at ``places``, empty if none."""
        named = self._files.get(linked_name(link))
        return named.meant(linked_paths(link, places)) if named else ""


class _Titles:
    """The titles of maps in the snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._known: dict[str, str | None] = {}

    def of(self, public_id: str) -> str | None:
        """Return the title of a map, ``None`` if it is not in the snapshot."""
        if public_id not in self._known:
            record = self._snapshot.find(public_id, b"")
            self._known[public_id] = record.title if record else None
        return self._known[public_id]
