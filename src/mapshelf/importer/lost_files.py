"""Decide which known files are lost: deleted or moved, rather than on a disk that will be back.

The maps of lost files are removed, and a new file with the content of a lost one is that file. A
file that is not there, but not lost either, keeps its map: its disk may be disconnected, or a link
leads to where it was moved. A new file with its content is a copy then. If a removed map and a
moved one were decided by different rules, the copy would get the map, and the file would be
published as a new one when it comes back, whatever its owner had set.

Where this process has seen files, their disk is disconnected if the folder is on another one now.
Elsewhere it may be disconnected if the folder is empty, as mount points are. So the maps of a
folder that was emptied while nothing followed it stay until it is deleted.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from mapshelf.importer.documents import Documents
from mapshelf.importer.scan import Candidate, is_gone, link_in


class SeenFolders:
    """The folders in which this process saw files: on which disk, and which files.

    A disk may have another number when it is connected again. Then a file is there that was seen
    before. A new file may have been written to the folder on which the disk will be mounted.
    """

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, set[str]]] = {}

    def see(self, files: Iterable[Candidate]) -> None:
        """Note the files that a scan has found, and forget folders that were deleted."""
        found: dict[tuple[str, int], set[str]] = defaultdict(set)
        for one in files:
            found[os.path.dirname(one.path), one.device].add(one.path)
        for (folder, device), paths in found.items():
            self._note(folder, device, paths)
        for folder in [one for one in self._seen if not os.path.isdir(one)]:
            if not self.may_come_back(os.path.join(folder, "")):
                del self._seen[folder]

    def look(self, path: str) -> bool:
        """Return whether a file is there; note it if it is."""
        folder = os.path.dirname(path)
        device = _device(folder)
        if device is None or not os.path.isfile(path):
            return False
        self._note(folder, device, {path})
        return True

    def is_away(self, path: str) -> bool:
        """Return whether the folder of a path, when files were seen in it, was on another disk."""
        folder, device = self.nearest(path)
        return device is not None and device != _device(folder)

    def may_come_back(self, path: str) -> bool:
        """Return whether that is so or the folder is empty, as an unmounted one may be."""
        return self.is_away(path) or _is_empty(self.nearest(path)[0])

    def nearest(self, path: str) -> tuple[str, int | None]:
        """Return the innermost folder in a path that is there, and the disk seen in the path."""
        folder, device = os.path.dirname(path), None
        while True:
            if device is None and folder in self._seen:
                device, _ = self._seen[folder]
            if os.path.isdir(folder):
                return folder, device
            folder = os.path.dirname(folder)

    def _note(self, folder: str, device: int, paths: set[str]) -> None:
        before, known = self._seen.get(folder, (device, paths))
        if device == before or not known.isdisjoint(paths):
            self._seen[folder] = device, paths


class LostFiles:
    """What one import, or one synchronization, knows of the places of files.

    Attributes:
        present: the paths of the files that are known to be there.
    """

    def __init__(
        self,
        present: Collection[str],
        folders: Mapping[Path, bool],
        seen: SeenFolders,
        unpublished: Callable[[list[bytes]], set[bytes]],
    ) -> None:
        """Begin to decide.

        Args:
            present: see the class.
            folders: the canonical paths of the folders that are synchronized or imported, and
                whether each can be read.
            seen: where this process has seen files.
            unpublished: see ``store.contract.Sources.unpublished_sources``.
        """
        self.present = present
        self._documents = Documents(present)
        self._folders = folders
        self._seen = seen
        self._unpublished = unpublished

    def is_lost(self, path: bytes) -> bool:
        """Return whether a known file was deleted or moved, as far as that can be told."""
        if not is_gone(path) or self.has_other_form(path) or self.link_away(path):
            return False
        return not self.may_be_unmounted(path) or self._may_have_moved(path)

    def has_other_form(self, path: bytes) -> bool:
        """Return whether a file is a document that is ``present``, but in its other form.

        It has changed, even if that cannot be read yet.
        """
        return self._documents.has_other_form(path)

    def link_away(self, path: bytes) -> bytes | None:
        """Return the link through which the path of a file leads to one that is not ``present``.

        The file was moved out of the folders, perhaps to a disk that is disconnected now. If it is
        present, it is a file with another path.
        """
        link = link_in(path)
        if link is None or (target := _target(path)) in self.present:
            return None
        return link if self._seen.look(target) or self.may_be_unmounted(path) else None

    def may_be_unmounted(self, path: bytes) -> bool:
        """Return whether a file that is not there may be on a disk that is disconnected."""
        target = _target(path)
        closed = any(map(self._is_closed, {os.fsdecode(path), target}))
        return closed or self._seen.is_away(target) or self._unseen_empty(target) is not None

    def may_come_back(self, path: bytes) -> bool:
        """Return whether a file that is not there may be on a disk, however unlikely that is.

        If a folder is empty in which files were seen on the same disk, they were probably deleted.
        But another folder of that disk may have been mounted there.
        """
        return self.may_be_unmounted(path) or self._seen.may_come_back(_target(path))

    def is_followed(self, path: bytes) -> bool:
        """Return whether a file is in one of the folders that are synchronized or imported."""
        return bool(self._around(os.fsdecode(path)))

    def mount_point(self, path: bytes) -> bytes | None:
        """Return the folder on which the disk of a file that is not there may have been mounted.

        That is an empty folder, outside of those that are synchronized or imported.
        """
        place = os.fsdecode(path)
        point = None if self._around(place) else self._unseen_empty(place)
        return None if point is None else os.fsencode(point)

    def _may_have_moved(self, path: bytes) -> bool:
        """Return whether a file counts as moved although its disk may be disconnected.

        If its map is published, or it was missing already, nothing becomes public by that. But if
        nothing at all is in one of the folders, that is away.
        """
        point = self._unseen_empty(_target(path))
        if point is None or Path(point) in self._folders or self._is_closed(os.fsdecode(path)):
            return False
        return path not in self._unpublished([path])

    def _is_closed(self, place: str) -> bool:
        """Return whether a path is in one of the folders, but in none that can be read."""
        around = self._around(place)
        return bool(around) and not any(self._folders[one] for one in around)

    def _around(self, place: str) -> list[Path]:
        return [one for one in self._folders if place.startswith(os.path.join(one, ""))]

    def _unseen_empty(self, place: str) -> str | None:
        """Return the nearest folder if it is empty, and no file was seen where ``place`` was."""
        folder, device = self._seen.nearest(place)
        return folder if device is None and _is_empty(folder) else None


def _target(path: bytes) -> str:
    """Return where a path leads to, which is there itself if no link is in it."""
    return os.path.realpath(os.fsdecode(path))


def _device(folder: str) -> int | None:
    """Return the number of the disk of a folder, ``None`` if that cannot be read."""
    try:
        return os.stat(folder).st_dev if os.access(folder, os.R_OK | os.X_OK) else None
    except OSError:
        return None


def _is_empty(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return not any(True for _ in entries)
    except OSError:  # it has just become unreachable
        return True
