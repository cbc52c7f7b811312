"""Reads the pictures that a map only points to: files beside it, in the folder that is imported.

A map may name any path, and whoever wrote it wants to know what is on this machine. So only files
that could as well have been imported are read: ordinary files below the imported folder, reached
through ordinary folders. Symbolic links are not followed in any part of the path, hidden files and
folders are not looked into, and nothing is fetched from anywhere. A map in a zip archive finds what
the same archive holds. A map that was named alone has nothing beside it, since the operator meant
that file and not its folder.

What is read is bounded like the pictures inside a map. Whether it is a picture, others decide
(``readers.parsing.images``): what is none goes no further.
"""

import os
import posixpath
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Final
from urllib.parse import unquote

from mapshelf.errors import UnreadableFile
from mapshelf.readers.parsing.images import ReadLinkedFile
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.regular_files import open_regular
from mapshelf.readers.zip_import import open_members, split_path

_LONGEST_PATH: Final = 4096

_TRIES: Final = 4
"""Different paths that are tried for each picture a map may have: many lead nowhere."""

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
"""The beginning of a URL, or of a path on a drive of Windows."""

_FILE: Final = re.compile(r"file:(?://(?:localhost)?(?=/))?", re.IGNORECASE)

_Read = Callable[[str, int], bytes]
"""Returns the file at a path below the imported folder, of at most so many bytes."""


@contextmanager
def linked_files(path: str, folder: str, limits: Limits) -> Iterator[ReadLinkedFile | None]:
    """Give the function that returns the files beside the map at ``path``; ``None`` if none may be.

    Args:
        path: the absolute path of the map; in an archive, below the path of the archive.
        folder: the imported folder or archive that ``path`` is in, empty if there is none.
        limits: how many bytes in how many files it returns, as for pictures.
    """
    below = os.path.relpath(path, folder) if folder else ".."
    if below == ".." or below.startswith("../"):
        yield None
        return
    with ExitStack() as opened:
        read: _Read = partial(_file, folder)
        if split_path(path):
            read = _Members(folder, opened, limits).read
        yield _Files(read, folder, posixpath.dirname(below), limits)


class _Files:
    """The files beside one map, each read once."""

    def __init__(self, read: _Read, folder: str, place: str, limits: Limits) -> None:
        """Read with ``read`` for a map in the folder ``place`` below the imported ``folder``."""
        self._read = read
        self._folder = folder
        self._place = place
        self._found: dict[str, bytes | None] = {}
        self._limits = limits
        self._room = limits.pictures

    def __call__(self, path: str) -> bytes | None:
        if path in self._found:
            return self._found[path]
        if len(path) > _LONGEST_PATH or len(self._found) >= _TRIES * self._limits.most_pictures:
            return None
        found = self._found[path] = self._first(path)
        return found

    def _first(self, path: str) -> bytes | None:
        for name in names_below(path, self._folder, self._place):
            try:
                data = self._read(name, min(self._room, self._limits.picture))
            except (UnreadableFile, OSError, ValueError):
                continue
            self._room -= len(data)
            return data
        return None


def names_below(path: str, folder: str, place: str) -> Iterator[str]:
    """Yield the paths below ``folder`` that ``path`` may mean in a map, the likeliest first.

    Args:
        path: as the map has it, perhaps percent-encoded, with slashes of either kind, a file URL.
        folder: the imported folder; an absolute path into it is one below it.
        place: path of the map's own folder below ``folder``, empty if that is the same.
    """
    prefix = _FILE.match(path)
    plain = path[prefix.end() :] if prefix else path
    if _SCHEME.match(plain):
        return
    for text in dict.fromkeys((unquote(plain, errors="surrogateescape"), plain)):
        whole = posixpath.normpath(posixpath.join(folder, place, text.replace("\\", "/")))
        name = whole.removeprefix(folder.rstrip("/") + "/")
        hidden = any(part.startswith(".") for part in name.split("/"))
        if name != whole and not hidden:
            yield name


def _file(folder: str, name: str, most: int) -> bytes:
    with open_regular(posixpath.join(folder, name), folder) as (file, status):
        if status.st_size > most:
            raise UnreadableFile("it is too large")
        data = file.read(most + 1)  # it may grow meanwhile; one byte more tells
    if len(data) > most:
        raise UnreadableFile("it is too large")
    return data


class _Members:
    """The members of an archive, which is opened with the first that is asked for."""

    def __init__(self, archive: str, opened: ExitStack, limits: Limits) -> None:
        self._archive = archive
        self._opened = opened
        self._limits = limits
        self._reading: Callable[[str, Limits], bytes] | None = None

    def read(self, name: str, most: int) -> bytes:
        if self._reading is None:
            self._reading = self._opened.enter_context(open_members(self._archive))
        return self._reading(name, replace(self._limits, file=most))
