"""Merges of the search index that fill the disk."""

import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mapshelf.model import MapDraft
from mapshelf.snapshot import SnapshotDirectory
from tests.disks import mounted, small_disk
from tests.snapshot.test_segments import segments, wait_for_merges, write_segments_of
from tests.snapshot.world import World, page

pytestmark = pytest.mark.slow

MAPS = 512

PATIENCE = 60.0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with room for a snapshot of the maps, but not for merging its index."""
    with small_disk(tmp_path / "disk", 5) as folder:
        yield folder


def put_maps(world: World) -> None:
    """Store maps with many different words, which are indexed in eight segments."""
    choice = random.Random(1)
    world.put(
        *(
            MapDraft(
                id=f"m{number}",
                title=f"map {number}",
                description=" ".join(f"w{choice.randrange(10**6):x}" for _ in range(100)),
            )
            for number in range(MAPS)
        )
    )


def test_a_merge_without_room_leaves_nothing_behind(
    world: World, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_segments_of(monkeypatch, MAPS // 8)
    put_maps(world)
    world.directory = SnapshotDirectory(disk / "snapshots")
    world.directory.path.mkdir()
    world.restart()
    world.published()
    deadline = time.monotonic() + PATIENCE
    while world.builder.is_merging:
        assert time.monotonic() < deadline
        time.sleep(0.05)
        assert not world.builder.compact()
    assert segments(world) == [MAPS // 8] * 8
    assert shutil.disk_usage(disk).free > 1 << 17
    world.restart()
    assert not world.builder.is_merging

    assert mounted("mount", "-o", "remount,size=100m", disk)
    world.restart()
    wait_for_merges(world)
    assert max(segments(world)) >= MAPS
    assert page(world.published(), text="map").total == MAPS
