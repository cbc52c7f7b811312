"""Import the map files in a zip archive, which people send instead of a folder.

A member is addressed like a file in a folder (``maps.zip/plans/garden.mm``), so the importer need
not know the difference. Unlike a map file that is an archive itself, such an archive may be larger
than memory: it is read in place, one member at a time, and nothing is unpacked to disk.
"""

import os
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath, PurePosixPath
from typing import BinaryIO, Final

from mapshelf.errors import BrokenFile, TooLarge
from mapshelf.readers.parsing.limits import KIB, MIB, Limits
from mapshelf.readers.parsing.zip_files import DAMAGE, plain_name, refuse_locked
from mapshelf.readers.regular_files import open_regular

MAXIMUM_MEMBERS: Final = 100_000

_HEADER: Final = 30
"""Least bytes of the header before a member's content (APPNOTE 4.3.7)."""

_PIECE: Final = 64 * KIB


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive: its path there, and its unpacked size as the archive gives it."""

    name: str
    size: int


def split_path(path: str) -> tuple[str, str] | None:
    """Split a path into the archive and the member, ``None`` if it leads into no archive."""
    pure = PurePath(path)
    for parent in pure.parents:
        if os.path.isfile(parent):
            return str(parent), pure.relative_to(parent).as_posix()
        if os.path.isdir(parent):
            return None
    return None


def list_members(path: str) -> list[Member]:
    """Return the files in the archive at ``path``, in their order there.

    Raises:
        BrokenFile: it is no zip file, is damaged, or a member's name leads out of it.
        TooLarge: it has more than ``MAXIMUM_MEMBERS``.
        OSError: it cannot be opened.
    """
    with open_regular(path) as (file, _), _opened(file) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        if len(members) > MAXIMUM_MEMBERS:
            raise TooLarge(f"the archive has more than {MAXIMUM_MEMBERS:,} members")
        _refuse_overlaps(members)
        names = Counter(plain_name(member.filename) for member in members)
        if any(count > 1 for count in names.values()):
            raise BrokenFile("the archive holds a file more than once")
        if any(".." in PurePosixPath(name).parts for name in names):
            raise BrokenFile("a name in the archive leads out of it")
        return [Member(plain_name(member.filename), member.file_size) for member in members]


def read_member(path: str, name: str, limits: Limits) -> tuple[bytes, os.stat_result]:
    """Return the content of a member, and the state of the archive's file.

    Raises:
        BrokenFile: it is missing, damaged or encrypted.
        TooLarge: it unpacks to more than a file may hold.
        OSError: the archive cannot be opened.
    """
    with open_regular(path) as (file, status), _opened(file) as archive:
        for member in archive.infolist():
            if plain_name(member.filename) == name:
                refuse_locked(member, name)
                return _unpacked(archive, member, limits), status
    raise BrokenFile(f"the archive lacks {name}")


@contextmanager
def open_members(path: str) -> Iterator[Callable[[str, Limits], bytes]]:
    """Give the function that returns a member of the archive at ``path``, for reading several.

    It raises as ``read_member``.

    Raises:
        BrokenFile: it is no zip file, or is damaged.
        TooLarge: it has more than ``MAXIMUM_MEMBERS``.
        OSError: it cannot be opened.
    """
    with open_regular(path) as (file, _), _opened(file) as archive:
        members = archive.infolist()
        if len(members) > MAXIMUM_MEMBERS:
            raise TooLarge(f"the archive has more than {MAXIMUM_MEMBERS:,} members")
        named = {plain_name(member.filename): member for member in members}

        def read(name: str, limits: Limits) -> bytes:
            member = named.get(name)
            if member is None:
                raise BrokenFile(f"the archive lacks {name}")
            refuse_locked(member, name)
            try:
                return _unpacked(archive, member, limits)
            except DAMAGE as error:
                raise BrokenFile(f"{name} in the archive is damaged") from error

        yield read


@contextmanager
def _opened(file: BinaryIO) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except DAMAGE as error:
        raise BrokenFile("the archive is damaged or cut short") from error


def _refuse_overlaps(members: list[zipfile.ZipInfo]) -> None:
    """Refuse an archive whose members share their bytes, as bombs do to be small."""
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
