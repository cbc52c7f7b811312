"""How long it takes to build a snapshot of the store, and to publish changes of it."""

import gc
import os
import resource
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.catalogue import Catalogue
from benchmarks.measure import times_of
from mapshelf.model import MapDraft
from mapshelf.service.worker_count import default_helpers
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import GC_THRESHOLDS, Builder
from mapshelf.store import Store, open_store

CHANGES: Final = 7

POLL: Final = 0.2
"""Seconds between looks whether the merges in the background have ended."""


def build(catalogue: Catalogue, progress: Callable[[int], None]) -> dict[str, Any]:
    """Build the catalogue's snapshot from scratch, as the service does; return times and size.

    Processor time includes that of merges in the background, after all maps have been published.
    """
    shutil.rmtree(catalogue.settings.snapshots, ignore_errors=True)
    catalogue.settings.snapshots.mkdir()
    store = open_store(catalogue.settings.database)
    gc.set_threshold(*GC_THRESHOLDS)
    began, used = time.perf_counter(), _processor_seconds()
    directory = SnapshotDirectory(catalogue.settings.snapshots)
    builder = Builder(store, directory, default_helpers())
    builder.advance(progress)
    seconds = time.perf_counter() - began
    while builder.is_merging:
        time.sleep(POLL)
        builder.compact()
    merged = time.perf_counter() - began
    builder.close()
    cpu = _processor_seconds() - used
    store.close()
    return {
        "seconds": round(seconds, 2),
        "merged_seconds": round(merged, 2),
        "cpu_seconds": round(cpu, 2),
        "snapshot_bytes": size_of(catalogue.settings.snapshots),
        "load": os.getloadavg()[0],
    }


def measured(catalogue: Catalogue) -> Iterator[tuple[str, Any]]:
    """Yield the times to load a snapshot and to publish changes; changes ``catalogue``."""
    store = open_store(catalogue.settings.database)
    began = time.perf_counter()
    builder = Builder(store, SnapshotDirectory(catalogue.settings.snapshots))
    yield "taking up a snapshot", times_of([time.perf_counter() - began]).as_json()
    for name, count in (("one change", 1), ("a thousand changes", 1000)):
        taken = [_advance(store, builder, f"{name} {i}", count) for i in range(CHANGES)]
        yield f"publishing {name}", times_of(taken).as_json()
    builder.close()
    store.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield "peak memory of this process", {"megabytes": round(peak * 1024 / 1e6, 1)}


def _advance(store: Store, builder: Builder, title: str, count: int) -> float:
    store.put_maps([MapDraft(title=f"{title} {number}") for number in range(count)])
    began = time.perf_counter()
    builder.advance()
    return time.perf_counter() - began


def _processor_seconds() -> float:
    """Return the processor seconds of this process and its finished children."""
    each = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in each)


def size_of(folder: Path) -> int:
    """Return the bytes of a folder; files with several names count once."""
    files = {path.stat().st_ino: path.stat().st_size for path in folder.rglob("*")}
    return sum(files.values())
