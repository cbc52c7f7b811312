"""Where snapshots lie, how one becomes current at one stroke, and how a damaged one is told.

    snapshots/
      current            the name of the snapshot to read, replaced by a rename
      lock               held by the one process that builds
      refused            the name of a snapshot that a worker could not use
      sound              the names of snapshots that running processes know to be sound, and a lock
                         that each of them holds (``verification.py``)
      verifying          held by the one process that reads a snapshot whole
      work/              what the builder writes: records and the search index
      000000000042/      a snapshot: links to files that others share, what has changed since these
                         were written, manifest.json

A snapshot's folder is complete before ``current`` names it, and is never written to afterwards.
Nothing is forced to disk: a snapshot that a power cut leaves half written fails its checksums,
which are compared before the first answer, and is built anew.
"""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import orjson
import xxhash

from mapshelf.errors import (
    SnapshotDamaged,
    SnapshotError,
    SnapshotMissing,
    SnapshotUnavailable,
)
from mapshelf.snapshot.format.columns import COLUMNS, column_file
from mapshelf.snapshot.format.facet_codes import DICTIONARIES
from mapshelf.snapshot.format.shortage import snapshot_error
from mapshelf.snapshot_pointer import POINTER

FORMAT: Final = 9
"""Version of everything a snapshot holds; one of another version is built anew."""

MANIFEST: Final = "manifest.json"
WORK: Final = "work"
RECORDS: Final = "records.bin"
WORDS: Final = "words.bin"
GROWING: Final = (RECORDS, WORDS, *map(column_file, COLUMNS), *DICTIONARIES)
"""Files that are appended to (``append_file.py``): what lies beyond the size in the manifest is not
part of the snapshot."""

TEXT: Final = "text"
_CHUNK: Final = 1 << 20

Checksums = dict[str, tuple[int, str]]
"""Size and checksum of each file of a snapshot, by its path in the folder."""


class SnapshotDirectory:
    """The folder of all snapshots of one catalogue."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._pointer = path / POINTER
        self._complaint = path / "refused"

    def current(self) -> str:
        """Return the name of the current snapshot.

        Raises:
            SnapshotMissing: none has been published.
            SnapshotUnavailable: the system is short of what looking takes.
        """
        try:
            name = self._pointer.read_bytes()
        except OSError as error:
            lack = snapshot_error("what names the current snapshot cannot be read", error)
            if isinstance(lack, SnapshotUnavailable):
                raise lack from error
            raise SnapshotMissing("no snapshot has been published yet") from error
        # A power cut may leave zeros here, which are no name to look for in a file system.
        if not name.isdigit():
            raise SnapshotMissing("what names the current snapshot is damaged")
        return name.decode("ascii")

    def refuse(self, name: str) -> None:
        """Tell whoever builds that the snapshot with this name cannot be used."""
        with contextlib.suppress(OSError):  # then it is lost altogether, which shows by itself
            self._complaint.write_text(name, "ascii")

    def is_refused(self, name: str) -> bool:
        """Tell whether somebody could not use the snapshot with this name."""
        try:
            return self._complaint.read_bytes() == name.encode()
        except OSError:
            return False

    def forgive(self) -> None:
        """Forget what was refused."""
        self._complaint.unlink(missing_ok=True)

    def folder(self, name: str) -> Path:
        """Return the folder of the snapshot with this name."""
        return self.path / name

    @contextmanager
    def building(self) -> Iterator[bool]:
        """Hold the right to build while in the context; tell whether it was to be had."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self.path / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True

    def new_folder(self, number: int) -> Path:
        """Make the folder for the snapshot numbered so, empty even if one was left behind."""
        folder = self.path / name_of(number)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def remove_unfinished(self) -> None:
        """Remove what whoever built has left without publishing it."""
        published = ""
        with contextlib.suppress(SnapshotMissing):
            published = self.current()
        shutil.rmtree(self.path / WORK, ignore_errors=True)
        for other in self.path.glob("[0-9]*"):
            if other.name > published:
                shutil.rmtree(other, ignore_errors=True)

    def publish(self, folder: Path) -> None:
        """Make ``folder`` the current snapshot, keeping the one before for those who read it."""
        try:
            before = self.current()
        except SnapshotMissing:
            before = folder.name
        fresh = self.path / "current.new"
        fresh.write_text(folder.name, "ascii")
        fresh.replace(self._pointer)
        for other in self.path.iterdir():
            if other.name.isdigit() and other.name not in (folder.name, before):
                shutil.rmtree(other, ignore_errors=True)


def name_of(number: int) -> str:
    """Return the name of the snapshot with this number."""
    return f"{number:012d}"


def write_manifest(
    folder: Path, facts: dict[str, Any], growing: Checksums, before: Path | None
) -> None:
    """Complete a snapshot: write ``facts`` with the size and checksum of every file.

    Args:
        folder: the snapshot.
        facts: what else to note.
        growing: the checksums of ``GROWING``.
        before: the snapshot before, whose checksums are taken over for all other files that both
            share: most of the bytes.
    """
    known = _known(before) if before else {}
    checksums = {**dict(_checksums(folder, known)), **growing}
    manifest = {**facts, "format": FORMAT, "files": checksums}
    body = orjson.dumps(manifest, option=orjson.OPT_SORT_KEYS)
    (folder / MANIFEST).write_bytes(xxhash.xxh3_128_hexdigest(body).encode() + b"\n" + body)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the facts of a snapshot.

    Raises:
        SnapshotDamaged: they are missing, altered, or those of another version.
        SnapshotUnavailable: the system is short of what reading them takes.
    """
    try:
        checksum, _, body = (folder / MANIFEST).read_bytes().partition(b"\n")
    except OSError as error:
        raise snapshot_error(f"{MANIFEST} cannot be read", error) from error
    if xxhash.xxh3_128_hexdigest(body).encode() != checksum:
        raise SnapshotDamaged(f"{MANIFEST} has been altered")
    manifest: dict[str, Any] = orjson.loads(body)
    if manifest["format"] != FORMAT:
        raise SnapshotDamaged(f"the snapshot has format {manifest['format']}, not {FORMAT}")
    return manifest


def verify(folder: Path) -> dict[str, Any]:
    """Read a whole snapshot, compare it with its manifest, and return the manifest.

    Raises:
        SnapshotDamaged: a file is missing or altered.
        SnapshotUnavailable: the system is short of what reading it takes.
    """
    manifest = read_manifest(folder)
    for name, (size, checksum) in manifest["files"].items():
        length = size if name in GROWING else None
        if (size, checksum) != _checksum(folder / name, length):
            raise SnapshotDamaged(f"{name} is missing or has been altered")
    return manifest


def check_sizes(folder: Path, manifest: dict[str, Any]) -> None:
    """Compare the sizes of a snapshot's files with its manifest, which takes no time.

    Raises:
        SnapshotDamaged: a file is missing or cut short.
    """
    for name, (size, _) in manifest["files"].items():
        try:
            found = (folder / name).stat().st_size
        except OSError as error:
            raise snapshot_error(f"{name} is missing", error) from error
        if found < size or (found > size and name not in GROWING):
            raise SnapshotDamaged(f"{name} has {found} bytes instead of {size}")


def published_length(manifest: dict[str, Any], name: str) -> int:
    """Return how many bytes of a file are part of the snapshot."""
    size: int = manifest["files"][name][0]
    return size


def _known(before: Path) -> dict[int, tuple[int, str]]:
    """Return the checksums of another snapshot's files, by the numbers the file system gives."""
    try:
        files = read_manifest(before)["files"]
        return {(before / name).stat().st_ino: tuple(files[name]) for name in files}
    except (SnapshotError, OSError):
        return {}


def _checksums(
    folder: Path, known: dict[int, tuple[int, str]]
) -> Iterator[tuple[str, tuple[int, str]]]:
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent) / name
            if name not in GROWING:
                checksum = known.get(path.stat().st_ino) or _checksum(path)
                yield str(path.relative_to(folder)), checksum


def _checksum(path: Path, length: int | None = None) -> tuple[int, str]:
    """Return size and checksum of a file, or of its first ``length`` bytes.

    Raises:
        SnapshotDamaged: it cannot be read.
        SnapshotUnavailable: the system is short of what that takes.
    """
    digest, size = xxhash.xxh3_64(), 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK if length is None else min(_CHUNK, length - size)):
                digest.update(chunk)
                size += len(chunk)
    except OSError as error:
        raise snapshot_error(f"{path.name} cannot be read", error) from error
    return size, digest.hexdigest()
