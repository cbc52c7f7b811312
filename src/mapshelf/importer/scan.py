"""Find the files to import: files given by the operator, and map files in given folders.

In folders, only files with the extension of a map format are candidates, because folders contain
many other files. Some extensions are shared with other formats (Markdown, PlantUML): such a file is
skipped unless it begins like a map. A file given explicitly is always a candidate. A reader then
determines the actual format from the content.

Some documents are folders that look like files (macOS bundles). Such a document is represented by
the file in it that holds the map (see ``documents``). Symbolic links in folders are not followed,
because they may point to files that the operator did not intend to publish.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from mapshelf.errors import UnreadableFile
from mapshelf.importer.documents import is_in_document
from mapshelf.importer.report import ImportReport, printable
from mapshelf.importer.walk import walk
from mapshelf.model import Source, Verdict
from mapshelf.readers import READERS, Limits
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.limits import KIB
from mapshelf.readers.zip_import import Member, split_path

SUFFIXES: Final = tuple(suffix for reader in READERS for suffix in reader.suffixes)
"""Extensions of map files, in lower case."""

SHARED_SUFFIXES: Final = tuple(suffix for reader in READERS for suffix in reader.shared)
"""Extensions shared with other formats: such a file must begin like a map."""

_HEAD: Final = 64 * KIB
"""Bytes that decide whether a file with a shared extension begins like a map."""

ARCHIVE_SUFFIX: Final = ".zip"
"""Extension of archives whose members are imported if the archive was named."""

LAST_TIME: Final = 2**63 - 1
"""Nanoseconds since 1970-01-01 UTC of the last time that is stored, in the year 2262."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that may be a map.

    Attributes:
        path: absolute path.
        name: path relative to the given folder, or the name of a file that was given itself.
        size: bytes.
        modified: modification time, see ``storable_time``.
        device: number of the file system of its folder; on overlayfs, its own may be another one.
        folder: the given folder or archive, empty if the file itself was given. Pictures next to a
            map are only read from there (``readers.linked_images``).
    """

    path: str
    name: str
    size: int
    modified: int
    device: int = 0
    folder: str = ""

    def is_unchanged(self, source: Source | None) -> bool:
        """Return whether size and time match ``source``, the file when it was last read."""
        if source is None or source.is_gone:
            return False
        return (source.size, source.modified) == (self.size, self.modified)


ListMembers = Callable[[str], list[Member]]
"""Lists the members of an archive; raises ``UnreadableFile``."""


def scan(
    paths: Iterable[Path], report: ImportReport, members: ListMembers | None = None
) -> Iterator[Candidate]:
    """Yield the files under ``paths``, each once, in a stable order.

    A given zip file is scanned like a folder if ``members`` is given. Paths that cannot be scanned
    are recorded in ``report``.
    """
    seen: set[str] = set()
    for named in paths:
        top = resolve_path(named)
        if members and is_archive(top):
            yield from _scan_archive(top, members, report)
            continue
        for path in _files(top, report):
            if path in seen:
                continue
            seen.add(path)
            try:
                device = os.stat(os.path.dirname(path)).st_dev
                status = os.stat(path)
            except OSError as error:
                if path == top or not _vanished(error):
                    report.note(Verdict.REFUSED, printable(path), _reason(error))
                continue
            whole = os.path.dirname(path) if is_in_document(path) else path
            name = os.path.relpath(path, top if whole != top else os.path.dirname(top))
            modified = storable_time(status.st_mtime_ns)
            folder = top if path != top else ""
            yield Candidate(path, printable(name), status.st_size, modified, device, folder)


def _files(path: str, report: ImportReport) -> Iterator[str]:
    if not os.path.isdir(path):
        yield path
        return

    def refuse(folder: str, error: OSError | UnreadableFile) -> None:
        if folder == path or not _vanished(error):
            report.note(Verdict.REFUSED, printable(folder), _reason(error))

    for found in walk(path, refuse):
        found.folders[:] = sorted(name for name in found.folders if not name.startswith("."))
        main = [name for name in found.names if is_in_document(os.path.join(found.path, name))]
        if main:  # other files of a document are not maps of their own
            found.folders.clear()
        for name in main or sorted(found.names):
            file = os.path.join(found.path, name)
            if not main and not _looks_like_a_map(name, file):
                if _is_shared(name):
                    report.skip(printable(file), "it does not begin like a map")
            elif name in found.links:
                report.note(Verdict.REFUSED, printable(file), "it is a symbolic link")
            else:
                yield file


def folder_of(path: str) -> str:
    """Return the name of the folder that contains a map, ignoring bundles."""
    place = Path(path).parent
    return place.parent.name if is_in_document(path) else place.name


def resolve_path(named: Path) -> str:
    """Return the canonical form of a given path, with all links resolved."""
    return os.path.realpath(named)


def storable_time(nanoseconds: int) -> int:
    """Return a modification time within the range of the store, which file systems can exceed."""
    return max(-LAST_TIME, min(LAST_TIME, nanoseconds))


def _scan_archive(archive: str, members: ListMembers, report: ImportReport) -> Iterator[Candidate]:
    try:
        modified = storable_time(os.stat(archive).st_mtime_ns)
        for member in _maps_among(members(archive)):
            path = os.path.join(archive, member.name)
            name = printable(member.name)
            yield Candidate(path, name, member.size, modified, folder=archive)
    except (OSError, UnreadableFile) as error:
        report.note(Verdict.REFUSED, printable(archive), _reason(error))


def _maps_among(members: list[Member]) -> Iterator[Member]:
    main = {member.name for member in members if is_in_document(member.name)}
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
    """Return whether the file with this canonical ``path`` certainly is not there any more.

    On errors it may be there. A member of an archive is there as long as the archive is. A folder
    that took the place of the file, or a file that took the place of its folder, is something else.
    What is found through a symbolic link is another file: since the path became canonical, its file
    or folder was moved, and a link was left in its place. On a disk that ignores case, the name of
    the file may have other letters now.
    """
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return True
    except NotADirectoryError:
        return not _is_in_archive(os.fsdecode(path)) or _leads_through_link(path)
    except OSError:
        return _leads_through_link(path)
    if stat.S_ISDIR(status.st_mode) or _leads_through_link(path):
        return True
    return _has_other_letters(path, status)


def is_archive(path: str) -> bool:
    """Return whether a given file is scanned like a folder."""
    return Path(path).suffix.lower() == ARCHIVE_SUFFIX and not os.path.isdir(path)


def link_in(path: bytes) -> bytes | None:
    """Return the first part of a ``path`` that is a symbolic link, ``None`` if there is none."""
    parts = path.split(b"/")
    parents = (b"/".join(parts[:end]) for end in range(2, len(parts) + 1))
    return next(filter(os.path.islink, parents), None)


def _has_other_letters(path: bytes, status: os.stat_result) -> bool:
    """Return whether a path leads to a file only because its disk ignores case."""
    folder, name = os.path.split(path)
    try:
        other = os.lstat(os.path.join(folder, name.swapcase()))
        return os.path.samestat(status, other) and name not in os.listdir(folder)
    except OSError:
        return False


def _leads_through_link(path: bytes) -> bool:
    return link_in(path) is not None


def _is_in_archive(path: str) -> bool:
    parts = split_path(path)
    return parts is not None and is_archive(parts[0])


def _vanished(error: OSError | UnreadableFile) -> bool:
    """Return whether a file or folder was deleted or renamed since it was found."""
    return isinstance(error, FileNotFoundError | NotADirectoryError)


def _looks_like_a_map(name: str, path: str) -> bool:
    if name.startswith("."):
        return False
    lowered = name.lower()
    return lowered.endswith(SUFFIXES) or (
        lowered.endswith(SHARED_SUFFIXES) and _begins_like_a_map(path, lowered)
    )


def _is_shared(name: str) -> bool:
    """Return whether a name has an extension shared by maps and other files."""
    return not name.startswith(".") and name.lower().endswith(SHARED_SUFFIXES)


def _begins_like_a_map(path: str, name: str) -> bool:
    """Return whether a reader for the file's extension recognizes its beginning."""
    try:
        # Do not follow a link that replaced the file, and do not block on a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            head = Content(file.read(_HEAD) if _is_regular(descriptor) else b"", Limits())
        return any(
            reader.sniff(head)
            for reader in READERS
            if reader.shared and name.endswith(reader.shared)
        )
    except (OSError, UnreadableFile):
        return False


def _is_regular(descriptor: int) -> bool:
    return stat.S_ISREG(os.fstat(descriptor).st_mode)


def _reason(error: OSError | UnreadableFile) -> str:
    if isinstance(error, UnreadableFile):
        return str(error)
    return f"it cannot be opened: {error.strerror or 'input/output error'}"
