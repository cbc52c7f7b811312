"""Decide which known files are lost: deleted or moved, rather than on a disk that will be back.

The maps of lost files are removed, and a new file with the content of a lost one is that file. A
file that is not there, but not lost either, keeps its map: its disk may be disconnected, or a link
leads to where it was moved. A new file with its content is a copy then. If a removed map and a
moved one were decided by different rules, the copy would get the map, and the file would be
published as a new one when it comes back, whatever its owner had set.

What is known of a file in a folder that this process follows is of no use for files elsewhere, such
as those that another process follows. For these, an empty folder may be a mount point.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from mapshelf.importer.documents import Documents
from mapshelf.importer.scan import is_gone, link_in


class LostFiles:
    """What one import, or one synchronization, knows of the places of files.

    Attributes:
        present: the paths of the files that are known to be there.
    """

    def __init__(
        self,
        present: Collection[str],
        folders: Mapping[Path, bool],
        devices: Mapping[str, int],
    ) -> None:
        """Begin to decide.

        Args:
            present: see the class.
            folders: the canonical paths of the folders that are synchronized or imported, and
                whether each can be read.
            devices: the numbers of the file systems on which the files were last seen that this
                process has seen, by their paths.
        """
        self.present = present
        self._documents = Documents(present)
        self._folders = folders
        self._devices = devices
        self._away: dict[Path, bool] = {}

    def is_lost(self, path: bytes) -> bool:
        """Return whether a known file was deleted or moved, as far as that can be told."""
        return (
            is_gone(path)
            and not self.has_other_form(path)
            and not self.link_away(path)
            and not self.may_be_unmounted(path)
        )

    def has_other_form(self, path: bytes) -> bool:
        """Return whether a file is a document that is ``present``, but in its other form.

        It has changed, even if that cannot be read yet.
        """
        return self._documents.has_other_form(path)

    def link_away(self, path: bytes) -> bytes | None:
        """Return the link through which the path of a file leads to one that is not ``present``.

        The file was moved out of the folders. If it is present, it is a file with another path.
        """
        link = link_in(path)
        if link is None or not os.path.isfile(path):
            return None
        return None if os.path.realpath(os.fsdecode(path)) in self.present else link

    def may_be_unmounted(self, path: bytes) -> bool:
        """Return whether a file that is not there may be on a disk that is disconnected."""
        folder = self._folder_of(path)
        if folder is None:
            return self.mount_point(path) is not None
        return self._is_away(folder) or self._was_on_another_disk(path)

    def mount_point(self, path: bytes) -> bytes | None:
        """Return the folder on which the disk of a file that is not there may have been mounted.

        That is an empty folder, outside of those that are synchronized or imported.
        """
        if self._folder_of(path) is not None:
            return None
        folder = _nearest_folder(path)
        return folder if _is_empty(folder) else None

    def _folder_of(self, path: bytes) -> Path | None:
        """Return the innermost folder that a path is in: they may be nested."""
        place = os.fsdecode(path)
        folders = (one for one in self._folders if place.startswith(_prefix(one)))
        return max(folders, key=lambda one: len(one.parts), default=None)

    def _is_away(self, folder: Path) -> bool:
        """Return whether a folder cannot be read, or may be the mount point of an unmounted disk.

        That is an empty folder in which this process has never seen a file. A folder that is not
        there is no more away than the folder around it, if that is one of these folders, too.
        """
        if folder not in self._away:
            self._away[folder] = self._may_be_away(folder)
        return self._away[folder]

    def _may_be_away(self, folder: Path) -> bool:
        if self._folders[folder]:
            seen = any(one.startswith(_prefix(folder)) for one in self._devices)
            return not seen and _is_empty(folder)
        outer = self._folder_of(os.fsencode(folder))
        return os.path.lexists(folder) or outer is None or self._is_away(outer)

    def _was_on_another_disk(self, path: bytes) -> bool:
        """Return whether a file was last seen on a different disk than the one mounted now."""
        device = self._devices.get(os.fsdecode(path))
        if device is None:
            return False
        return os.stat(_nearest_folder(path)).st_dev != device


def _nearest_folder(path: bytes) -> bytes:
    """Return the innermost folder in a path that is there."""
    folder = os.path.dirname(path)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder


def _prefix(folder: Path) -> str:
    return os.path.join(folder, "")


def _is_empty(folder: Path | bytes) -> bool:
    try:
        with os.scandir(folder) as entries:
            return not any(True for _ in entries)
    except OSError:  # it has just become unreachable
        return True
