"""Write the manifest of a snapshot, and verify the files of a snapshot with it.

Paths are strings here: making a hundred ``Path`` objects takes as long as reading the files of a
small snapshot.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson
import xxhash

from mapshelf.errors import SnapshotDamaged, SnapshotError
from mapshelf.plurals import noun
from mapshelf.snapshot.format.columns import COLUMNS, column_file
from mapshelf.snapshot.format.facet_codes import DICTIONARIES
from mapshelf.snapshot.format.manifest import FORMAT, MANIFEST, RECORDS, TERMS, read_manifest
from mapshelf.snapshot.format.unavailable import snapshot_error

APPEND_FILES: Final = (RECORDS, TERMS, *map(column_file, COLUMNS), *DICTIONARIES)
"""The append-only files (``append_file.py``). Bytes after the size in the manifest do not belong to
the snapshot."""

_CHUNK: Final = 1 << 20

Checksum = tuple[int, str]
"""The size of a file in bytes and its checksum."""

Checksums = dict[str, Checksum]
"""The checksums of a snapshot's files, by their paths in its folder."""


def write_manifest(
    folder: Path, facts: dict[str, Any], append_files: Checksums, previous: Path | None
) -> None:
    """Write the manifest of a snapshot whose other files are complete.

    Args:
        folder: the folder of the snapshot.
        facts: further values to record.
        append_files: the checksums of ``APPEND_FILES``.
        previous: the folder of the previous snapshot, if any. The checksums of other files that
            both snapshots share (which are most of the bytes) are copied from its manifest.
    """
    known = _checksums_by_inode(previous) if previous else {}
    checksums = {**dict(_checksums(folder, known)), **append_files}
    manifest = {**facts, "format": FORMAT, "files": checksums}
    body = orjson.dumps(manifest, option=orjson.OPT_SORT_KEYS)
    (folder / MANIFEST).write_bytes(xxhash.xxh3_128_hexdigest(body).encode() + b"\n" + body)


def verify(folder: Path) -> dict[str, Any]:
    """Compare the checksums of all files of a snapshot with its manifest; return the manifest.

    Raises:
        SnapshotDamaged: a file is missing or altered.
        SnapshotUnavailable: a file cannot be read at the moment.
    """
    manifest = read_manifest(folder)
    for name, (size, checksum) in manifest["files"].items():
        length = size if name in APPEND_FILES else None
        if (size, checksum) != _checksum(f"{folder}/{name}", length):
            raise SnapshotDamaged(f"{name} is missing or has been altered")
    return manifest


def check_sizes(folder: Path, manifest: dict[str, Any]) -> None:
    """Compare the sizes of a snapshot's files with its manifest, without reading the files.

    Raises:
        SnapshotDamaged: a file is missing or has another size.
    """
    for name, (size, _) in manifest["files"].items():
        try:
            found = os.stat(f"{folder}/{name}").st_size
        except OSError as error:
            raise snapshot_error(f"{name} is missing", error) from error
        if found < size or (found > size and name not in APPEND_FILES):
            raise SnapshotDamaged(f"{name} has {found} {noun(found, 'byte')} instead of {size}")


def _checksums_by_inode(snapshot: Path) -> dict[int, Checksum]:
    try:
        files = read_manifest(snapshot)["files"]
        return {os.stat(f"{snapshot}/{name}").st_ino: tuple(files[name]) for name in files}
    except (SnapshotError, OSError):
        return {}


def _checksums(folder: Path, known: dict[int, Checksum]) -> Iterator[tuple[str, Checksum]]:
    """Yield path and checksum of each file that is not append-only.

    Checksums of files whose inode is in ``known`` are not computed again.
    """
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            if name not in APPEND_FILES:
                checksum = known.get(os.stat(path).st_ino) or _checksum(path)
                yield path.removeprefix(f"{folder}{os.sep}"), checksum


def _checksum(path: str, length: int | None = None) -> Checksum:
    """Return size and checksum of a file, or of its first ``length`` bytes.

    Raises:
        SnapshotDamaged: the file cannot be read.
        SnapshotUnavailable: the file cannot be read at the moment.
    """
    digest, size = xxhash.xxh3_64(), 0
    try:
        with open(path, "rb") as file:
            while chunk := file.read(_CHUNK if length is None else min(_CHUNK, length - size)):
                digest.update(chunk)
                size += len(chunk)
    except OSError as error:
        raise snapshot_error(f"{os.path.basename(path)} cannot be read", error) from error
    return size, digest.hexdigest()
