"""Import the map files in a zip archive as if it were a folder.

A member has a path like a file in a folder (``maps.zip/plans/garden.mm``), so the importer treats
both alike. Unlike a map file that is an archive itself, such an archive may be larger than memory:
it is read in place, one member at a time, and nothing is unpacked to disk. It stays open, with its
directory, until another file is read.
"""

import os
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath, PurePosixPath
from typing import BinaryIO, Final

from mapshelf.errors import BrokenFile, TooLarge
from mapshelf.readers.parsing.limits import KIB, MIB, Limits
from mapshelf.readers.parsing.zip_files import DAMAGE, plain_name, refuse_locked
from mapshelf.readers.regular_files import open_regular

MAXIMUM_MEMBERS: Final = 100_000

LONGEST_NAME: Final = 4096
"""Bytes in the name of a member, as in a path on Linux."""

DEEPEST: Final = 200
"""Folders that a member may be in, one in the other. Each of them is looked at."""

_HEADER: Final = 30
"""Minimum size of the header before a member's content, in bytes (APPNOTE 4.3.7)."""

_PIECE: Final = 64 * KIB


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive: its path and its declared uncompressed size."""

    name: str
    size: int


def split_path(path: str) -> tuple[str, str] | None:
    """Split a path into archive and member, ``None`` if it is not inside an archive."""
    pure = PurePath(path)
    for parent in pure.parents:
        if os.path.isfile(parent):
            return str(parent), pure.relative_to(parent).as_posix()
        if os.path.isdir(parent):
            return None
    return None


def list_members(path: str) -> list[Member]:
    """Return the files in the archive at ``path``, in archive order.

    Raises:
        BrokenFile: it is not a zip file, is damaged, or a member's path escapes the archive.
        TooLarge: it has more than ``MAXIMUM_MEMBERS``, or a name is too long or has too many parts.
        OSError: it cannot be opened.
    """
    with _opened(path) as (directory, _):
        members = [member for member in directory.archive.infolist() if not member.is_dir()]
        _refuse_overlaps(members)
        names = Counter(plain_name(member.filename) for member in members)
        if any(len(name.encode("utf-8", "surrogatepass")) > LONGEST_NAME for name in names):
            raise TooLarge(f"a name in the archive is longer than {LONGEST_NAME:,} bytes")
        if any(name.count("/") > DEEPEST for name in names):
            raise TooLarge(f"a file in the archive is below more than {DEEPEST} folders")
        if any(count > 1 for count in names.values()):
            raise BrokenFile("the archive holds a file more than once")
        if any(".." in PurePosixPath(name).parts for name in names):
            raise BrokenFile("a name in the archive leads out of it")
        return [Member(plain_name(member.filename), member.file_size) for member in members]


def read_member(path: str, name: str, limits: Limits) -> tuple[bytes, os.stat_result]:
    """Return the content of a member, and the stat result of the archive file.

    Raises:
        BrokenFile: it is missing, damaged or encrypted.
        TooLarge: it unpacks to more than a file may hold, or the archive has too many members.
        OSError: the archive cannot be opened.
    """
    with _opened(path) as (directory, status):
        return directory.content(name, limits), status


@contextmanager
def open_members(path: str) -> Iterator[Callable[[str, Limits], bytes]]:
    """Return a function that reads members of the archive at ``path``, for reading several.

    It raises the same errors as ``read_member``.

    Raises:
        BrokenFile: it is no zip file, or is damaged.
        TooLarge: it has more than ``MAXIMUM_MEMBERS``.
        OSError: it cannot be opened.
    """
    with _opened(path) as (directory, _):

        def read(name: str, limits: Limits) -> bytes:
            try:
                return directory.content(name, limits)
            except DAMAGE as error:
                raise BrokenFile(f"{name} in the archive is damaged") from error

        yield read


class _Directory:
    """The directory of an open archive.

    Attributes:
        archive: the archive.
    """

    def __init__(self, file: BinaryIO, state: tuple[int, ...]) -> None:
        """Read it from ``file``, which the archive keeps open under another descriptor.

        Raises:
            TooLarge: it has more than ``MAXIMUM_MEMBERS``.
        """
        self.state = state
        with ExitStack() as opened:
            own = opened.enter_context(open(os.dup(file.fileno()), "rb"))
            self.archive = opened.enter_context(zipfile.ZipFile(own))
            members = self.archive.infolist()
            if sum(not member.is_dir() for member in members) > MAXIMUM_MEMBERS:
                raise TooLarge(f"the archive has more than {MAXIMUM_MEMBERS:,} members")
            self._opened = opened.pop_all()
        self._members = {plain_name(member.filename): member for member in reversed(members)}

    def content(self, name: str, limits: Limits) -> bytes:
        """Return the content of a member; see ``read_member``."""
        member = self._members.get(name)
        if member is None:
            raise BrokenFile(f"the archive lacks {name}")
        refuse_locked(member, name)
        return _unpacked(self.archive, member, limits)

    def close(self) -> None:
        """Close the archive."""
        self._opened.close()


class _LastDirectory:
    """Keeps the directory of the archive that was read last.

    Members are read one by one, and reading the directory takes as long as it has members. Reading
    it for each of them would be quadratic: days for an archive of 100,000 small files.
    """

    def __init__(self) -> None:
        self._kept: _Directory | None = None

    def of(self, file: BinaryIO, status: os.stat_result) -> _Directory:
        """Return the directory of an archive; read it unless it is the kept one, unchanged."""
        state = (
            *(status.st_dev, status.st_ino, status.st_size),
            *(status.st_mtime_ns, status.st_ctime_ns),
        )
        if self._kept is None or self._kept.state != state:
            self.forget()
            self._kept = _Directory(file, state)
        return self._kept

    def forget(self) -> None:
        """Close the kept archive: its directory takes memory that other files may need."""
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.close()


_last: Final = _LastDirectory()
"""In the child processes that read files, which have one thread."""


def close_archive() -> None:
    """Close the archive that was read last."""
    _last.forget()


@contextmanager
def _opened(path: str) -> Iterator[tuple[_Directory, os.stat_result]]:
    with open_regular(path) as (file, status):
        try:
            yield _last.of(file, status), status
        except DAMAGE as error:
            raise BrokenFile("the archive is damaged or cut short") from error


def _refuse_overlaps(members: list[zipfile.ZipInfo]) -> None:
    """Refuse an archive with overlapping members, a technique of zip bombs."""
    spans = sorted(
        (member.header_offset, member.header_offset + _HEADER + member.compress_size)
        for member in members
    )
    if any(end > start for (_, end), (start, _) in pairwise(spans)):
        raise BrokenFile("the archive is damaged: its members overlap")


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limits: Limits) -> bytes:
    pieces: list[bytes] = []
    size = 0
    with archive.open(member) as stream:
        while piece := stream.read(_PIECE):
            size += len(piece)
            if size > limits.file:
                raise TooLarge(f"it unpacks to more than {limits.file / MIB:g} MiB")
            if size > MIB and size > limits.ratio * member.compress_size:
                raise TooLarge(f"it unpacks to more than {limits.ratio} times its size")
            pieces.append(piece)
    return b"".join(pieces)
