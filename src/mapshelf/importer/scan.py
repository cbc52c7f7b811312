"""Finding the files of an import: those named, and those in the folders named.

In a folder the extension decides whether a file is looked at, since folders hold much that is no
map and nobody wants to be told so; what it is, its content decides. Some maps bear an extension
that stands for much else (Markdown, PlantUML): of these the beginning is looked at here, and the
others are passed over in silence. A file that is named is always looked at. Some documents are
folders that only look like files (on a Mac): of these the file with the map in it stands for the
whole, so that nothing behind this module needs to know of them. Symbolic links in folders are not
followed: they lead out of what the operator meant to publish.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from mapshelf.errors import UnreadableFile
from mapshelf.importer.report import Report, printable
from mapshelf.model import Source, Verdict
from mapshelf.readers import READERS, Limits
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.limits import KIB
from mapshelf.readers.zip_import import Member, split_path

SUFFIXES: Final = tuple(suffix for reader in READERS for suffix in reader.suffixes)
"""Extensions, in small letters, of the files that are looked at in folders."""

SHARED: Final = tuple(suffix for reader in READERS for suffix in reader.shared)
"""Extensions of which only files that begin like a map are looked at in folders."""

DOCUMENTS: Final = tuple(
    f"{suffix}/{reader.main}" for reader in READERS if reader.main for suffix in reader.suffixes
)
"""How paths end, in small letters, of files that hold the map of a document that is a folder."""

_HEAD: Final = 64 * KIB


BUNDLE: Final = ".zip"
"""Extension of the archives that are looked into when they are named."""


LAST_TIME: Final = 2**63 - 1
"""Nanoseconds since 1970-01-01 UTC of the last time that is kept, in the year 2262."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that may be a map.

    Attributes:
        path: absolute.
        name: path below the folder that was named, or the file's name if it was named itself.
        size: bytes.
        modified: modification time, see ``time_of``.
        device: number of the file system it lies on.
    """

    path: str
    name: str
    size: int
    modified: int
    device: int = 0

    def is_still(self, source: Source | None) -> bool:
        """Tell whether the file looks like it did when it was read as ``source``."""
        return source is not None and (source.size, source.modified) == (self.size, self.modified)


Lister = Callable[[str], list[Member]]
"""Tells what is in an archive; raises ``UnreadableFile``."""


def scan(
    paths: Iterable[Path], report: Report, members: Lister | None = None
) -> Iterator[Candidate]:
    """Yield the files under ``paths``, each once, in a stable order.

    A zip file that is named is looked into like a folder with ``members``, if that is given. What
    cannot be looked at is noted in ``report``.
    """
    seen: set[str] = set()
    for named in paths:
        top = top_of(named)
        if members and Path(top).suffix.lower() == BUNDLE:
            yield from _in_archive(top, members, report)
            continue
        for path in _files(Path(top), report):
            if path in seen:
                continue
            seen.add(path)
            try:
                status = os.stat(path)
            except OSError as error:
                report.note(Verdict.REFUSED, printable(path), _reason(error))
                continue
            whole = os.path.dirname(path) if _is_in_document(path) else path
            name = os.path.relpath(path, top if whole != top else os.path.dirname(top))
            modified = time_of(status.st_mtime_ns)
            yield Candidate(path, printable(name), status.st_size, modified, status.st_dev)


def _files(path: Path, report: Report) -> Iterator[str]:
    if not path.is_dir():
        yield str(path)
        return

    def refuse(error: OSError) -> None:
        report.note(Verdict.REFUSED, printable(error.filename), _reason(error))

    for folder, subfolders, names in os.walk(path, onerror=refuse):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        main = [name for name in names if _is_in_document(os.path.join(folder, name))]
        if main:  # what else is in a document is not for itself
            subfolders.clear()
        for name in main or sorted(names):
            found = Path(folder, name)
            if not main and not _looks_like_a_map(name, found):
                continue
            if found.is_symlink():
                report.note(Verdict.REFUSED, printable(str(found)), "it is a symbolic link")
            else:
                yield str(found)


def folder_of(path: str) -> str:
    """Return the name of the folder a map lies in; a document that is a folder is none."""
    place = Path(path).parent
    return place.parent.name if _is_in_document(path) else place.name


def top_of(named: Path) -> str:
    """Return the one spelling of a path that was named, whatever links lead to it."""
    return os.path.realpath(named)


def time_of(nanoseconds: int) -> int:
    """Return a modification time as it is kept: file systems can tell times no store can hold."""
    return max(-LAST_TIME, min(LAST_TIME, nanoseconds))


def _in_archive(archive: str, members: Lister, report: Report) -> Iterator[Candidate]:
    try:
        modified = time_of(os.stat(archive).st_mtime_ns)
        for member in _maps_among(members(archive)):
            path = os.path.join(archive, member.name)
            yield Candidate(path, printable(member.name), member.size, modified)
    except OSError as error:
        report.note(Verdict.REFUSED, printable(archive), _reason(error))
    except UnreadableFile as error:
        report.note(Verdict.REFUSED, printable(archive), str(error))


def _maps_among(members: list[Member]) -> Iterator[Member]:
    main = {member.name for member in members if _is_in_document(member.name)}
    documents = {PurePosixPath(name).parent for name in main}
    for member in members:
        path = PurePosixPath(member.name)
        if any(part.startswith(".") for part in path.parts):
            continue
        if member.name in main or (
            member.name.lower().endswith(SUFFIXES) and documents.isdisjoint(path.parents)
        ):
            yield member


def is_gone(path: bytes) -> bool:
    """Tell whether nothing is at ``path`` for sure; what cannot be looked at may be there.

    The files in an archive are there as long as the archive is.
    """
    try:
        os.lstat(path)
    except FileNotFoundError:
        return True
    except NotADirectoryError:
        return split_path(os.fsdecode(path)) is None
    except OSError:
        return False
    return False


def _is_in_document(path: str) -> bool:
    """Tell whether a file holds the map of a document that is a folder."""
    return path.replace(os.sep, "/").lower().endswith(DOCUMENTS)


def _looks_like_a_map(name: str, path: Path) -> bool:
    if name.startswith("."):
        return False
    lowered = name.lower()
    return lowered.endswith(SUFFIXES) or (
        lowered.endswith(SHARED) and _begins_like_a_map(path, lowered)
    )


def _begins_like_a_map(path: Path, name: str) -> bool:
    """Tell whether one of the readers that share an extension knows the beginning of a file."""
    try:
        # Neither links nor pipes are followed or waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            head = Content(file.read(_HEAD) if _is_ordinary(descriptor) else b"", Limits())
        return any(
            reader.sniff(head)
            for reader in READERS
            if reader.shared and name.endswith(reader.shared)
        )
    except (OSError, UnreadableFile):
        return False


def _is_ordinary(descriptor: int) -> bool:
    return stat.S_ISREG(os.fstat(descriptor).st_mode)


def _reason(error: OSError) -> str:
    return f"it cannot be opened: {error.strerror or 'input/output error'}"
