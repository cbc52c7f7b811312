"""List the folders of one level, and all tags, each with its number of maps.

Comparing all folders with their parent finds the folders of a level, and the posting lists give the
counts. With a hundred thousand folders this takes a few milliseconds. A worker caches one number
per folder.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

from mapshelf.query import folder_key
from mapshelf.snapshot.format.columns import Array
from mapshelf.snapshot.format.names import NO_NAME, Names
from mapshelf.snapshot.read.listing import Listing


@dataclass(slots=True)
class Folder:
    """A folder: its name, its path, and the number of maps in it and its subfolders.

    Not frozen, because one level may have ten thousand, and freezing each takes most of the time.
    """

    name: str
    count: int
    path: str


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag and the number of maps that have it."""

    name: str
    count: int


class Browsing:
    """The folders and tags of one snapshot."""

    def __init__(self, listing: Listing, folders: Names, tags: Names) -> None:
        self._listing = listing
        self._folders = folders
        self._tags = tags
        self._folder_counts: Array | None = None

    def folder_code(self, path: str) -> int:
        """Return the code of a folder, ``NO_NAME`` if the path is empty or unknown."""
        return self._folders.code(folder_key(path)) if path else NO_NAME

    def folders(self, below: str) -> list[Folder]:
        """Return the direct subfolders of ``below`` by name, top-level folders if it is empty."""
        code = self.folder_code(below)
        if below and code == NO_NAME:
            return []
        if self._folder_counts is None:  # cached, because users go from level to level
            self._folder_counts = self._listing.name_counts("folder", self._folders).astype("<u4")
        found = _counted(self._folders, self._folders.within(code), self._folder_counts)
        level = [Folder(path.rpartition("/")[2], count, path) for path, count in found]
        level.sort(key=attrgetter("name"))  # sorting twice is faster than by pairs
        return sorted(level, key=lambda one: one.name.casefold())

    def tags(self) -> list[Tag]:
        """Return all tags, most frequent first, then by name."""
        counts = self._listing.name_counts("tag", self._tags)
        found = _counted(self._tags, counts.nonzero()[0], counts)
        tags = [Tag(name, count) for name, count in found]
        return sorted(tags, key=lambda one: (-one.count, one.name.casefold()))


def _counted(names: Names, codes: Array, counts: Array) -> Iterable[tuple[str, int]]:
    """Return the name and count of each code that at least one map has."""
    codes = codes[counts[codes] > 0]
    return zip(names.names(codes), counts[codes].tolist(), strict=True)
