"""Maps as list entries: a map plus the file-derived values used to filter and sort."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mapshelf.model.catalogue import Map

DOCUMENT_FOLDERS: Final = (".mindnode",)
"""Suffixes, in lower case, of folders that are a single document with the map file inside."""


@dataclass(frozen=True, slots=True)
class ListedMap:
    """A map with values derived from its file.

    Attributes:
        map: the map.
        edited: last edit, in milliseconds since 1970-01-01 UTC: from the file's metadata, else the
            modification or upload time of the file, else the time the map was added.
        source: name of the file it was read from (``Source.name``), empty if there is none.
        language: ISO 639-1 code of its language, empty if unsure.
        topics: number of topics, 0 if unknown.
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
        """The paths of its ancestor folders below the imported one, outermost first."""
        return tuple(paths_to(folder_of(self.source)))


def folder_of(source: str) -> str:
    """Return the path of the folder that contains a file, empty if none does.

    A document that is a folder does not count as one.
    """
    *folders, _ = source.split("/")
    if folders and folders[-1].lower().endswith(DOCUMENT_FOLDERS):
        folders.pop()
    return clean_path("/".join(folders))


def file_of(source: str) -> str:
    """Return the base name of a file; a document folder counts as a file."""
    folder, _, name = source.rpartition("/")
    return folder.rpartition("/")[2] if folder.lower().endswith(DOCUMENT_FOLDERS) else name


def clean_path(path: str) -> str:
    """Normalise the path of a folder: remove empty segments."""
    return "/".join(step for step in path.split("/") if step not in ("", ".", ".."))


def paths_to(folder: str) -> Iterator[str]:
    """Yield the paths of a folder and its ancestors, outermost first."""
    end = folder.find("/")
    while end >= 0:
        yield folder[:end]
        end = folder.find("/", end + 1)
    if folder:
        yield folder
