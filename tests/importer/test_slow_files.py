"""Maps that have been read appear before a slow file after them is finished."""

from dataclasses import replace
from pathlib import Path

import pytest

from mapshelf.importer.attribution import Attribution
from mapshelf.importer.lost_files import LostFiles, SeenFolders
from mapshelf.importer.map_files import import_maps
from mapshelf.importer.report import ImportReport
from mapshelf.importer.scan import scan
from mapshelf.model import Verdict
from mapshelf.readers.sandboxed_reader import SandboxedReader
from mapshelf.settings import sqlite_url
from mapshelf.store import open_store
from tests.readers.hostile import hostile_readers
from tests.readers.test_sandbox import HOSTILE_LIMITS, misbehaving, write_map

pytestmark = pytest.mark.process


def test_maps_that_were_read_do_not_wait_for_a_slow_file(tmp_path: Path) -> None:
    write_map(tmp_path, "a.mm", "first")
    write_map(tmp_path, "b.mm", "second")
    misbehaving(tmp_path, "sleep")
    limits = replace(HOSTILE_LIMITS, wall_seconds=15.0)
    store, report = open_store(sqlite_url(tmp_path / "data")), ImportReport()
    seen: list[tuple[int, int]] = []
    report.notify = lambda: seen.append(
        (report.counts[Verdict.ADDED], report.counts[Verdict.REFUSED])
    )
    try:
        with SandboxedReader(workers=1, limits=limits, readers=hostile_readers) as reader:
            found = list(scan([tmp_path], ImportReport()))
            lost = LostFiles(set(), {}, SeenFolders(), store.unpublished_sources)
            import_maps(store, sorted(found, key=str), reader, Attribution(), report, lost=lost)
    finally:
        store.close()
    assert seen == [(1, 0), (2, 0), (2, 1)]
