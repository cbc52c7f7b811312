"""Read linked images: image files next to a map, in the imported folder or archive.

A map may name any path, and its author may be probing this machine. So only files that could have
been imported themselves are read: regular files below the imported folder. Symbolic links are not
followed in any part of the path, hidden files and folders are skipped, and nothing is fetched from
the network. A map in a zip archive can use the members of the same archive. A map that was imported
as a single file has no linked images, since the operator selected that file and not its folder.

The same limits apply as for embedded images. ``readers.parsing.images`` checks whether a file is an
image, and discards it otherwise.
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
"""Number of paths to try for each allowed image: many do not exist."""

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
"""The scheme of a URL, or a Windows drive letter."""

_FILE: Final = re.compile(r"file:(?://(?:localhost)?(?=/))?", re.IGNORECASE)

_Read = Callable[[str, int], bytes]
"""Reads the file at a path below the imported folder, up to a number of bytes."""


@contextmanager
def linked_files(path: str, folder: str, limits: Limits) -> Iterator[ReadLinkedFile | None]:
    """Return a function that reads the files next to the map at ``path``, ``None`` if not allowed.

    Args:
        path: the absolute path of the map; in an archive, below the path of the archive.
        folder: the imported folder or archive that ``path`` is in, empty if there is none.
        limits: limits for the number and total size of the files, as for images.
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
    """The linked files of one map, each read once."""

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
    """Yield the possible meanings of ``path`` below ``folder``, the likeliest first.

    Args:
        path: path from the map, possibly percent-encoded, with backslashes, or a file URL.
        folder: the imported folder; an absolute path into it is one below it.
        place: path of the map's folder below ``folder``, empty if they are the same.
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
        data = file.read(most + 1)  # one extra byte detects a file that has grown
    if len(data) > most:
        raise UnreadableFile("it is too large")
    return data


class _Members:
    """The members of an archive, which is opened on first access."""

    def __init__(self, archive: str, opened: ExitStack, limits: Limits) -> None:
        self._archive = archive
        self._opened = opened
        self._limits = limits
        self._reading: Callable[[str, Limits], bytes] | None = None

    def read(self, name: str, most: int) -> bytes:
        if self._reading is None:
            self._reading = self._opened.enter_context(open_members(self._archive))
        return self._reading(name, replace(self._limits, file=most))
