"""The catalogues of the benchmarks have nested folders, tags and versions to measure."""

from pathlib import Path

import pytest
from benchmarks import building, catalogue
from benchmarks.filing import INBOX, folders_of, levels_of, tags_of

from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.read import Snapshot

SIZE = 300


@pytest.mark.slow
def test_there_are_folders_tags_and_versions(tmp_path: Path) -> None:
    list(catalogue.prepare(SIZE, tmp_path))
    made = catalogue.prepared(SIZE, tmp_path)
    building.build(made, lambda _: None)
    directory = SnapshotDirectory(made.settings.snapshots)
    snapshot = Snapshot(directory.folder(directory.current()))
    levels = levels_of(SIZE)
    found = {level: [one.path for one in snapshot.folders(level)] for level in levels}
    assert all(found.values())
    holding = {path for paths in found.values() for path in paths}
    assert holding >= set(levels) - {""}
    assert len(holding - set(levels)) == folders_of(SIZE)
    assert len(found[INBOX]) == folders_of(SIZE) // 10
    assert len(snapshot.tags()) == tags_of(SIZE)
    # Half of the versions are equal; in small maps, one topic is too much for the other half.
    assert SIZE // 20 < len(snapshot.duplicates) <= SIZE // 10
