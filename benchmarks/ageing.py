"""Whether a snapshot stays small and fast after many changes.

A snapshot that was updated with many changes is compared with one built from scratch from the same
store: the sizes of its files, the segments of its search index, and the times of a few searches.
"""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks import searching
from benchmarks.building import size_of
from benchmarks.catalogue import Catalogue
from benchmarks.changing import Edits
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.snapshot.format.manifest import RECORDS, TERMS, TEXT
from mapshelf.store import open_store

AT_A_TIME: Final = 500
"""Changes per snapshot, as if one were published every half minute."""

SLICES: Final = 20
"""Compaction steps between two snapshots: a service has time for at least as many."""

IN_A_ROW: Final = 5


def measured(catalogue: Catalogue, changes: int) -> Iterator[tuple[str, Any]]:
    """Yield the state of a snapshot before and after ``changes`` changes, and of a rebuilt one."""
    directory = SnapshotDirectory(catalogue.settings.snapshots)
    yield "before", _state(directory)
    began = time.perf_counter()
    edits, most = Edits(catalogue), 0
    store = open_store(catalogue.settings.database)
    builder = Builder(store, directory)
    while edits.made < changes:
        until = min(changes, edits.made + AT_A_TIME)
        while edits.made < until:
            edits.make(store, IN_A_ROW)
        builder.advance()
        for _ in range(SLICES):
            builder.compact()
        most = max(most, _segments(directory))
    builder.close()
    seconds = round(time.perf_counter() - began, 1)
    yield "changes", {"made": edits.made, "seconds": seconds, "most segments": most}
    yield "after", _state(directory)
    yield from _searches(catalogue, "after")
    shutil.rmtree(catalogue.settings.snapshots)
    catalogue.settings.snapshots.mkdir()
    builder = Builder(store, directory)
    builder.advance()
    builder.close()
    store.close()
    yield "built anew", _state(directory)
    yield from _searches(catalogue, "built anew")


def _state(directory: SnapshotDirectory) -> dict[str, Any]:
    folder = _current(directory)
    megabytes = {
        "index": size_of(folder / TEXT),
        "records": (folder / RECORDS).stat().st_size,
        "words": (folder / TERMS).stat().st_size,
    }
    sizes = {f"{name} MB": round(size / 1e6, 1) for name, size in megabytes.items()}
    return {**sizes, "segments": _segments(directory)}


def _segments(directory: SnapshotDirectory) -> int:
    meta = orjson.loads((_current(directory) / TEXT / "meta.json").read_bytes())
    return len(meta["segments"])


def _current(directory: SnapshotDirectory) -> Path:
    return directory.folder(directory.current())


def _searches(catalogue: Catalogue, when: str) -> Iterator[tuple[str, Any]]:
    for name, answer in searching.measured(catalogue):
        if name in ("rare word", "common word", "two words"):
            yield f"{name}, {when}", answer
