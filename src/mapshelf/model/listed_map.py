"""A map as lists know it: with what its file says, by which people browse, filter and sort."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mapshelf.model.catalogue import Map

DOCUMENT_FOLDERS: Final = (".mindnode",)
"""Ends of the names, in lower case, of folders that are one document: the map is a file in them."""


@dataclass(frozen=True, slots=True)
class ListedMap:
    """A map with what is derived from its file.

    Attributes:
        map: the map.
        edited: when it was edited last, in milliseconds since 1970-01-01 UTC: as its file says,
            else when the file was modified or uploaded, else when the map was added.
        source: name of the file it was read from (``Source.name``), empty if there is none.
        language: ISO 639-1 code of the language it is in, empty if unsure.
        topics: how many topics it has, 0 if they are not known.
        notes: whether a topic has a note.
        tasks: whether a topic is a task.
    """

    map: Map
    edited: int
    source: str = ""
    language: str = ""
    topics: int = 0
    notes: bool = False
    tasks: bool = False

    @property
    def folders(self) -> tuple[str, ...]:
        """The paths of the folders it is in, below the imported one, the outermost first."""
        return tuple(paths_to(folder_of(self.source)))


def folder_of(source: str) -> str:
    """Return the path of the folder a file is in, empty if it is in none.

    A document that is a folder does not count as one.
    """
    *folders, _ = source.split("/")
    if folders and folders[-1].lower().endswith(DOCUMENT_FOLDERS):
        folders.pop()
    return clean_path("/".join(folders))


def file_of(source: str) -> str:
    """Return the name of a file without its folders; a document that is a folder counts as one."""
    folder, _, name = source.rpartition("/")
    return folder.rpartition("/")[2] if folder.lower().endswith(DOCUMENT_FOLDERS) else name


def clean_path(path: str) -> str:
    """Return the path of a folder in the one way in which it is compared: without empty steps."""
    return "/".join(step for step in path.split("/") if step not in ("", ".", ".."))


def paths_to(folder: str) -> Iterator[str]:
    """Yield the paths of a folder and of those that it is in, the outermost first."""
    end = folder.find("/")
    while end >= 0:
        yield folder[:end]
        end = folder.find("/", end + 1)
    if folder:
        yield folder
