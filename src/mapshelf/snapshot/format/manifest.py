"""Read the manifest of a snapshot.

The manifest records the sizes and checksums of all files, and the store revision that the snapshot
shows. ``checksums.py`` writes it.

This module does not import NumPy, so that processes which only ask what the current snapshot shows
stay small.
"""

from pathlib import Path
from typing import Any, Final

import orjson
import xxhash

from mapshelf.errors import SnapshotDamaged
from mapshelf.snapshot.format.unavailable import snapshot_error
from mapshelf.store.contract import ChangeFeed

FORMAT: Final = 18
"""Version of the file formats of a snapshot. A snapshot with another version is rebuilt."""

MANIFEST: Final = "manifest.json"
RECORDS: Final = "records.bin"
TERMS: Final = "words.bin"
TEXT: Final = "text"
"""The folder of the search index."""


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a snapshot.

    Raises:
        SnapshotDamaged: the manifest is missing, altered, or of another ``FORMAT``.
        SnapshotUnavailable: the manifest cannot be read at the moment.
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


def was_built_from(manifest: dict[str, Any], store: ChangeFeed) -> bool:
    """Return whether a snapshot was built from this store, and not from another or another copy.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    return all(
        manifest[lineage] == store.lineage(manifest[revision])
        for lineage, revision in (("store", "revision"), ("store_of_highest", "highest"))
    )


def published_length(manifest: dict[str, Any], name: str) -> int:
    """Return the number of bytes of a file that belong to the snapshot."""
    size: int = manifest["files"][name][0]
    return size
